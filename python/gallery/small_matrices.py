"""
A file of many small matrices
=============================

Minima, maxima, sums and means over a file of small matrices, element by element. Here there are 20,000;
``VOUCHNUM_MATRICES=50000000`` makes the file of 1.3 GB that the library's benchmarks are about.
"""
import os
import tempfile
import time

import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn

# %%
# The file: how many there are, then each behind a line of stars.
count = int(os.environ.get("VOUCHNUM_MATRICES", 20_000))
rng = np.random.default_rng(3)
weights = np.array([[1, 2, 3], [2, 4, 6], [3, 6, 9]])
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "set.txt")
total, least, most = np.zeros((3, 3), dtype=np.int64), np.full((3, 3), 99), np.full((3, 3), -99)
with open(path, "w") as stream:
    stream.write(f"{count}\n")
    for first in range(0, count, 10_000):
        block = rng.binomial(9, weights / 10, (min(10_000, count - first), 3, 3))
        total += block.sum(axis=0)
        least, most = np.minimum(least, block.min(axis=0)), np.maximum(most, block.max(axis=0))
        stream.write("".join("***\n" + "".join(f"{a} {b} {c}\n" for a, b, c in matrix) for matrix in block.tolist()))
print(f"{os.path.getsize(path) / 1e6:.1f} MB")

# %%
# All reductions in one pass. Integers stay integers; with ``rigorous`` a mean is enclosed.
begin = time.perf_counter()
found = vn.reduce(path, ["min", "max", "sum", "mean"], rigorous=True)
seconds = time.perf_counter() - begin
print(f"{found['matrices']:,} matrices at {found['matrices'] / seconds / 1e6:.1f} million a second")
assert found["matrices"] == count and (found["min"] == least).all() and (found["max"] == most).all()
mean = found["mean"]
assert (mean["lower"] <= total / count).all() and (total / count <= mean["upper"]).all()
print(mean["value"])

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 3))
for ax, name, values in zip(axes, ("min", "mean", "max"), (found["min"], mean["value"], found["max"])):
    ax.imshow(values.astype(float), vmin=0, vmax=9)
    for (i, j), value in np.ndenumerate(values):
        ax.text(j, i, f"{float(value):.3g}", ha="center", va="center", color="w" if value < 6 else "k")
    ax.set_title(name)
    ax.axis("off")
folder.cleanup()
plt.show()
