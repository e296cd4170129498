"""
Waves: a complex Helmholtz problem
==================================

A source in a square whose boundary absorbs what arrives, with a lens of slower material in it. The matrix is complex
and symmetric, but not Hermitian; the answer is enclosed in discs.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn
from scipy import sparse

# %%
# -u'' - k^2 u on n by n points, with -iku for the derivative at the boundary.
n = 72
h = 1 / (n - 1)
x, y = np.meshgrid(*2 * [np.linspace(0, 1, n)])
lens = np.hypot(x - 0.6, y - 0.5) < 0.18
k = 36 * np.where(lens, 1.6, 1.0)


def line():
    T = sparse.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    T[0, 0] = T[-1, -1] = 1.0
    return T.tocsr()


edge = np.zeros((n, n))
edge[0] += 1
edge[-1] += 1
edge[:, 0] += 1
edge[:, -1] += 1
cells = np.where((edge > 0), np.where(edge > 1, 0.25, 0.5), 1.0)
# Each boundary line of the five-point star has half a cell beside it.
half = sparse.diags_array(np.r_[0.5, np.ones(n - 2), 0.5])
A = (sparse.kron(half, line()) + sparse.kron(line(), half)
     - sparse.diags_array((k**2 * h**2 * cells).ravel())
     - 1j * sparse.diags_array((k * h * (edge - np.where(edge > 1, 1, 0))).ravel())).tocsr()
b = np.zeros(n * n, dtype=complex)
b[np.argmin(np.hypot(x - 0.15, y - 0.5).ravel())] = 1

# %%
# Elimination, and a proof: each component of the exact solution lies in a disc around the computed one.
result = vn.solve(A, b, method="sparse-lu")
print(result.method, result.status, f"residual {result.relative_residual:.1e}")
assert result.converged
e = vn.verify(A, b, result.x)
print(e)
assert e.verified and e.max_absolute < 1e-10

# %%
# Reciprocity: what the source sends to a point it would receive from there.
other = int(np.argmin(np.hypot(x - 0.85, y - 0.3).ravel()))
back = vn.solve(A, np.eye(1, n * n, other, dtype=complex)[0], method="sparse-lu").x
assert abs(back[np.argmax(abs(b))] - result.x[other]) < 1e-9

# %%
u = result.x.reshape(n, n)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
most = abs(u).max() / 3
left.imshow(u.real, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu", vmin=-most, vmax=most)
left.set_title("real part")
right.imshow(abs(u), origin="lower", extent=(0, 1, 0, 1), vmax=most)
right.set_title("amplitude")
for ax in (left, right):
    ax.contour(x, y, lens, levels=[0.5], colors="k", linewidths=0.8)
plt.show()
