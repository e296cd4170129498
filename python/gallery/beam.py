"""
A beam
======

A cantilever of plane-strain elasticity: held at its left end, pulled down at its right one. Conjugate gradients with
multigrid solve it, the displacement is proved, and the theory of slender beams says what to expect.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn

# %%
# 160 by 20 square cells; the nodes at x = 0 are held and left out of the system, two unknowns stand side by side.
nx, ny, poisson_ratio = 160, 20, 0.3
A = vn.gallery.elasticity_2d(nx, ny, poisson_ratio=poisson_ratio)
x, y = np.meshgrid(np.arange(1, nx + 1), np.arange(ny + 1))
load = np.zeros((ny + 1, nx, 2))
load[:, -1, 1] = -1e-5 / (ny + 1)
print(A.shape, A.nnz)

# %%
# A body can move and turn without being strained. ``coordinates`` tells multigrid of these motions.
result = vn.cg(A, load.ravel(), coordinates=np.column_stack([x.ravel(), y.ravel()]))
print(result.status, "after", result.iterations, "iterations: residual", f"{result.relative_residual:.1e}")
assert result.converged

# %%
# A proof of every component. No component of the exact solution is farther away than this from one that was computed:
e = vn.verify(A, load.ravel(), result.x)
print(e)
assert e.verified

# %%
# The tip against P L^3 / (3 E I) + shear, in plane strain:
u = result.x.reshape(ny + 1, nx, 2)
stiffness = 1 / (1 - poisson_ratio**2) * ny**3 / 12
shear = 1.2 * 1e-5 * nx / (ny / (2 * (1 + poisson_ratio)))
theory = 1e-5 * nx**3 / (3 * stiffness) + shear
tip = -u[ny // 2, -1, 1]
print(f"tip: {tip:.5f}, slender beams: {theory:.5f}")
assert abs(tip / theory - 1) < 0.01

# %%
# The displacement, enlarged, with its size as colour.
scale = 0.25 * nx / tip
fig, ax = plt.subplots(figsize=(8, 4))
mesh = ax.pcolormesh(x + scale * u[..., 0], y + scale * u[..., 1], np.hypot(u[..., 0], u[..., 1]), shading="gouraud")
ax.plot([0, nx, nx, 0, 0], [0, 0, ny, ny, 0], "k--", linewidth=0.8)
ax.set_aspect("equal")
ax.set_title(f"displacement, {scale:.0f} times")
fig.colorbar(mesh, ax=ax, orientation="horizontal", shrink=0.6, ticks=[0, tip / 2, tip])
plt.show()
