"""
Intervals
=========

Sets of numbers in place of numbers: what comes out holds every result, rounding included.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn
from matplotlib.patches import Rectangle

# %%
# The decimal 0.1 is no double. A text is enclosed, a number is itself.
print(vn.interval("0.1"), vn.interval(0.1))

# %%
# Rump's expression, at a = 77617 and b = 33096. Doubles give a number that is off by 21 orders of magnitude; an
# interval does not know better, and says so.


def rump(a, b):
    return 333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)


exact = -54767 / 66192
print("doubles:", rump(77617.0, 33096.0), " exact:", exact)
enclosed = rump(vn.interval(77617), vn.interval(33096))
print("interval:", enclosed)
assert exact in enclosed and exact not in vn.interval(rump(77617.0, 33096.0))

# %%
# Determinant and inverse of Hilbert's matrix, whose entries are enclosed as fractions.
n = 6
H = vn.interval(np.array([[f"1/{i + j + 1}" for j in range(n)] for i in range(n)]))
X = vn.inv(H)
print("corner of the inverse:", X[0, 0], " determinant:", vn.det(H))
assert 36.0 in X[0, 0] and 5.3672998868168e-18 < vn.det(H).hi

# %%
# The range of a function over pieces of its domain: the finer they are, the tighter the boxes, and none misses the curve.


def f(x):
    return np.sin(3 * x) * x + np.exp(-x) * np.cos(8 * x)


t = np.linspace(0, 3, 1000)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, pieces in zip(axes, (12, 60)):
    ends = np.linspace(0, 3, pieces + 1)
    boxes = f(vn.interval(ends[:-1], ends[1:]))
    for left, right, low, high in zip(ends, ends[1:], boxes.lo, boxes.hi):
        ax.add_patch(Rectangle((left, low), right - left, high - low, alpha=0.3))
        inside = (left <= t) & (t <= right)
        assert (low <= f(t[inside])).all() and (f(t[inside]) <= high).all()
    ax.plot(t, f(t), "k", linewidth=0.8)
    ax.set_title(f"{pieces} pieces")
plt.show()
