"""
Least squares: a picture from its shadows
=========================================

More equations than unknowns: rays through a picture of 40 by 40 cells, each measuring what it passed, with noise.
LSQR comes near the picture first and fits the noise later.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn
from scipy import sparse

# %%
# Each of 64 angles has 56 parallel rays; an entry is how long a ray stays in a cell, sampled.
n, angles, rays, samples = 40, 64, 56, 400
rng = np.random.default_rng(5)
rows, cols = [], []
along = np.linspace(-0.75, 0.75, samples)
for k, angle in enumerate(np.arange(angles) * np.pi / angles):
    for r, offset in enumerate(np.linspace(-0.68, 0.68, rays)):
        at_x = 0.5 + offset * np.cos(angle) - along * np.sin(angle)
        at_y = 0.5 + offset * np.sin(angle) + along * np.cos(angle)
        i, j = (at_y * n).astype(int), (at_x * n).astype(int)
        inside = (at_x >= 0) & (at_y >= 0) & (i < n) & (j < n)
        cols.append((i * n + j)[inside])
        rows.append(np.full(inside.sum(), k * rays + r))
rows, cols = np.concatenate(rows), np.concatenate(cols)
A = sparse.csr_array((np.full(len(rows), 1.5 / samples), (rows, cols)), shape=(angles * rays, n * n))
print(A.shape)

x, y = np.meshgrid(*2 * [(np.arange(n) + 0.5) / n])
picture = 1.0 * (np.hypot((x - 0.5) / 0.42, (y - 0.5) / 0.36) < 1)
picture[np.hypot(x - 0.4, y - 0.55) < 0.1] = 0.2
picture[np.hypot(x - 0.65, y - 0.45) < 0.07] = 2.0
clean = A @ picture.ravel()
b = clean + 0.01 * clean.max() * rng.normal(size=len(clean))

# %%
# Stopped after more and more iterations: the error falls, turns, and rises as the noise is fitted.
counts = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135]
results = [vn.lsqr(A, b, max_iterations=count, rtol=1e-14) for count in counts]
errors = [np.linalg.norm(result.x - picture.ravel()) / np.linalg.norm(picture) for result in results]
best = int(np.argmin(errors))
print(results[-1].status, "; best after", counts[best], "iterations, with an error of", round(errors[best], 3))
assert errors[best] < 0.3 and errors[-1] > 1.2 * errors[best]

# %%
# Without noise the picture comes back. ``solve`` sees that the matrix is not square and asks for the least residual.
again = vn.solve(A, clean, rtol=1e-10)
print(again.method, again.status, "by", again.report["problem"])
assert np.linalg.norm(A @ again.x - clean) < 1e-6 * np.linalg.norm(clean)

# %%
fig, axes = plt.subplots(1, 4, figsize=(13, 3.2))
for ax, (title, values) in zip(axes, {"picture": picture, f"iteration {counts[best]}": results[best].x.reshape(n, n),
                                      f"iteration {counts[-1]}": results[-1].x.reshape(n, n)}.items()):
    ax.imshow(values, vmin=0, vmax=2, cmap="gray")
    ax.set_title(title)
    ax.axis("off")
axes[3].semilogx(counts, errors, "o-")
axes[3].set_xlabel("iteration")
axes[3].set_title("relative error")
plt.show()
