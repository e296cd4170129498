"""Matrices of CuPy and PyTorch on a GPU: solved where they lie, and time an iteration against cupyx's cg. gpu_check.sh runs it."""
import inspect
import sys
import time

import cupy
import cupyx.scipy.sparse
import cupyx.scipy.sparse.linalg as csla
import numpy as np
import vouchnum as vn

failed = []


def check(what, holds):
    print(f"  {'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        failed.append(what)


def refused(what, call):
    try:
        call()
        check(what, False)
    except ValueError as e:
        check(f"{what}: {e}", True)


def seconds(call):
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - begin


def an_iteration(solve, few, many):
    """Seconds of one, without what is done once."""
    solve(few)
    return (min(seconds(lambda: solve(many)) for _ in range(3)) - min(seconds(lambda: solve(few)) for _ in range(3))) / (many - few)


def on_cupy(A):
    return cupyx.scipy.sparse.csr_matrix(tuple(cupy.asarray(part) for part in (A.data, A.indices, A.indptr)), shape=A.shape)


def right(n):
    A, (b, exact) = vn.gallery.poisson_3d(n, solution="smooth")
    there, rhs = on_cupy(A), cupy.asarray(b)
    kept = there.data.copy(), there.indices.copy(), there.indptr.copy()
    result = vn.cg(there, rhs, rtol=1e-10)
    check(f"{n}^3: converged after {result.iterations}, on {result.report['device']}", result.converged)
    check("the solution is CuPy's and right", isinstance(result.x, cupy.ndarray)
          and float(abs(result.x - cupy.asarray(exact)).max()) < 1e-6)
    check("nothing of the matrix was written", all(bool((a == b).all()) for a, b in zip(kept, (there.data, there.indices, there.indptr))))
    again = vn.cg(there, rhs, rtol=1e-10)
    check("the same bits again", bool((again.x == result.x).all()))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.empty_like(rhs)
        streamed = vn.cg(there, 2 * rhs, rtol=1e-10, out=x)
        half = x / 2
        stream.synchronize()
    check("on a stream of its own, into out", streamed.x is x and float(abs(half - cupy.asarray(exact)).max()) < 1e-6)
    start = vn.cg(there, rhs, x0=result.x, rtol=1e-8)
    check(f"from a start that is right: {start.iterations} iterations", start.converged and start.iterations <= 1)
    wide = cupyx.scipy.sparse.csr_matrix(there)
    wide.indptr = there.indptr.astype(cupy.int64)
    check("row offsets of 64 bits", bool((vn.cg(wide, rhs, rtol=1e-10).x == result.x).all()))
    seen = []
    vn.cg(there, rhs, callback=lambda iteration, residual, column: seen.append(residual))
    check(f"a callback hears of {len(seen)} iterations", len(seen) > 0)
    refused("b that is not there", lambda: vn.cg(there, b))
    refused("b too short", lambda: vn.cg(there, rhs[:-1].copy()))
    refused("b of single precision", lambda: vn.cg(there, rhs.astype(cupy.float32)))
    refused("a proof", lambda: vn.cg(there, rhs, verify=True))
    torch_too(A, b, exact)


def torch_too(A, b, exact):
    try:
        import torch
    except ImportError:
        print("  PyTorch is not installed")
        return
    if not torch.cuda.is_available():
        print("  PyTorch finds no GPU")
        return
    for index in (torch.int32, torch.int64):
        T = torch.sparse_csr_tensor(torch.tensor(A.indptr).to(index), torch.tensor(A.indices).to(index), torch.tensor(A.data),
                                    size=A.shape).cuda()
        result = vn.cg(T, torch.tensor(b).cuda(), rtol=1e-10)
        check(f"PyTorch, {index}", result.converged and result.x.is_cuda
              and float(abs(result.x - torch.tensor(exact).cuda()).max()) < 1e-6)


def fast(n, few, many):
    A = vn.gallery.poisson_3d(n)
    there, b = on_cupy(A), cupy.ones(A.shape[0])
    name = "rtol" if "rtol" in inspect.signature(csla.cg).parameters else "tol"
    rows, bytes_of_matrix = A.shape[0], there.data.nbytes + there.indices.nbytes + there.indptr.nbytes
    del A
    peer = an_iteration(lambda k: csla.cg(there, b, maxiter=k, **{name: 1e-300}), few, many)
    least = [2**62]

    def look(*_):
        least[0] = min(least[0], cupy.cuda.runtime.memGetInfo()[0])

    x = cupy.empty_like(b)

    def solve(k, **more):
        result = vn.cg(there, b, precond="none", max_iterations=k, rtol=1e-300, out=x, **more)
        assert result.iterations == k, result.reason
        return result

    solve(few)
    cupy.get_default_memory_pool().free_all_blocks()
    free = cupy.cuda.runtime.memGetInfo()[0]
    solve(few, callback=look)
    taken = free - least[0]
    ours = an_iteration(solve, few, many)
    print(f"{n}^3: vouchnum {ours * 1e6:9.1f} us an iteration, cupyx {peer * 1e6:9.1f}: {peer / ours:.2f} (bar 3); "
          f"matrix {bytes_of_matrix / 1e6:.0f} MB, a vector {8 * rows / 1e6:.0f} MB, taken meanwhile {taken / 1e6:.0f} MB "
          f"= {taken / bytes_of_matrix:.2f} matrices", flush=True)
    result = vn.cg(there, b, out=x)
    true = float(cupy.linalg.norm(b - there @ x) / cupy.linalg.norm(b))
    check(f"to 1e-8: {result.status} after {result.iterations}, {result.timings}, true residual {true:.2e}", result.converged and true < 1e-8)


print("GPU:", cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), "; CuPy", cupy.__version__, "; vouchnum", vn.__version__,
      "; NumPy", np.__version__)
right(40)
fast(64, 20, 150)
fast(256, 20, 120)
print("FAILED: " + "; ".join(failed) if failed else "all checks passed")
sys.exit(bool(failed))
