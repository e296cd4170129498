"""
Convection and diffusion
========================

Heat that a whirling flow carries along: a matrix that is not symmetric. Four Krylov methods on the same system, with
the same incomplete factors in front.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn
from scipy import sparse

# %%
# Upwind differences on a square of n by n points, hot at its left side, cold at the others.
n, diffusion = 64, 5e-3
h = 1 / (n + 1)
x, y = np.meshgrid(*2 * [np.linspace(h, 1 - h, n)])
u, v = (2 * np.pi * (y - 0.5)).ravel(), (2 * np.pi * (0.5 - x)).ravel()


def line(k):
    return sparse.eye_array(n, k=k)


identity = sparse.eye_array(n)
right, left = sparse.kron(identity, line(1)), sparse.kron(identity, line(-1))
up, down = sparse.kron(line(1), identity), sparse.kron(line(-1), identity)
one = sparse.eye_array(n * n)


def times(weights, matrix):
    return sparse.diags_array(weights) @ matrix


A = (diffusion / h**2 * (4 * one - right - left - up - down)
     + (times(np.maximum(u, 0), one - left) + times(np.minimum(u, 0), right - one)
        + times(np.maximum(v, 0), one - down) + times(np.minimum(v, 0), up - one)) / h).tocsr()
at_left = (x == x.min()).ravel()
b = at_left * (diffusion / h**2 + np.maximum(u, 0) / h)

# %%
# Each method with ILU(0). A history has the residual of every iteration.
results = {name: vn.solve(A, b, method=name, precond="ilu0") for name in ("gmres", "bicgstab", "idr", "fgmres")}
for name, result in results.items():
    print(f"{name:9} {result.status:10} {result.iterations:4} iterations, residual {result.relative_residual:.1e}")
    assert result.converged

# %%
# They agree with elimination, and no temperature leaves the range of those at the boundary.
exact = vn.solve(A, b, method="sparse-lu").x
for result in results.values():
    assert abs(result.x - exact).max() < 1e-5
assert exact.min() > 0 and exact.max() < 1

fig, (image, curves) = plt.subplots(1, 2, figsize=(10, 4))
image.imshow(exact.reshape(n, n), origin="lower", extent=(0, 1, 0, 1), cmap="inferno")
image.streamplot(x[0], y[:, 0], u.reshape(n, n), v.reshape(n, n), density=0.6, color="w", linewidth=0.5)
image.set_title("temperature and flow")
for name, result in results.items():
    history = result.history
    curves.semilogy(history["iteration"], history["residual"], label=name)
curves.set_xlabel("iteration")
curves.set_ylabel("residual")
curves.legend()
plt.show()
