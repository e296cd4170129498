"""
An array on a GPU
=================

A matrix of CuPy is solved where it lies, on the stream of CuPy, without a copy. Without CuPy, a GPU and a build with
CUDA this page says so and ends.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn


def gpu():
    """CuPy, or why there is none to work with."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        vn.solve(np.eye(2), [1.0, 1.0], device="cuda")
    except ImportError:
        return None, "CuPy is not installed"
    except vn.NoCudaError:
        return None, "this build has no CUDA"
    except Exception as e:
        return None, f"there is no GPU: {e}"
    return cupy, ""


cupy, why = gpu()
print(f"skipped: {why}" if cupy is None else cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())

# %%
# The matrix is made on this machine and copied once, by CuPy. ``b`` and ``x`` are arrays of CuPy.
A, (b, exact) = vn.gallery.poisson_3d(64 if cupy else 24, solution="smooth")
if cupy:
    from cupyx.scipy import sparse

    there = sparse.csr_matrix(tuple(cupy.asarray(part) for part in (A.data, A.indices, A.indptr)), shape=A.shape)
    pool = cupy.get_default_memory_pool()
    held = pool.used_bytes()
    result = vn.cg(there, cupy.asarray(b))
    print(type(result.x), result.status, result.iterations, "iterations;", pool.used_bytes() - held, "bytes more of CuPy's")
    assert result.converged and float(abs(result.x - cupy.asarray(exact)).max()) < 1e-5
else:
    result = vn.cg(A, b)
    print("on the CPU instead:", result.status, "after", result.iterations, "iterations")
    assert result.converged

# %%
history = result.history
fig, ax = plt.subplots(figsize=(6, 4))
ax.semilogy(history["iteration"], history["residual"])
ax.set_xlabel("iteration")
ax.set_ylabel("residual")
ax.set_title("conjugate gradients on the GPU" if cupy else "conjugate gradients on the CPU")
plt.show()
