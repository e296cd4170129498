"""
Multigrid and what it must know
===============================

Multigrid by smoothed aggregation takes as many iterations for a large system as for a small one, if its coarse levels
hold what the smoother cannot see: constants for diffusion, the motions of a rigid body for elasticity.
"""
import matplotlib.pyplot as plt
import numpy as np
import vouchnum as vn

# %%
# Diffusion: the iterations of plain conjugate gradients double with the points in a direction, those with multigrid stay.
sizes = [24, 48, 96, 192]
plain, multigrid = [], []
for n in sizes:
    A, (b, exact) = vn.gallery.poisson_2d(n, solution="random")
    plain.append(vn.cg(A, b, precond="none").iterations)
    multigrid.append(vn.cg(A, b, precond="amg").iterations)
print(dict(zip(sizes, zip(plain, multigrid))))
assert max(multigrid) <= 12 and plain[-1] > 4 * plain[0]

# %%
# Elasticity in space: three translations, and with ``coordinates`` three rotations more. ``near_nullspace`` takes any
# vectors, here the same six by hand.
cells = [4, 6, 8, 10]
iterations = {"translations": [], "rigid-body motions": []}
for n in cells:
    A, (b, exact) = vn.gallery.elasticity_3d(n, solution="random")
    z, y, x = np.meshgrid(np.arange(n + 1), np.arange(n + 1), np.arange(1, n + 1), indexing="ij")
    places = np.column_stack([x.ravel(), y.ravel(), z.ravel()]).astype(float)
    iterations["translations"].append(vn.cg(A, b, precond="amg").iterations)
    result = vn.cg(A, b, coordinates=places)
    iterations["rigid-body motions"].append(result.iterations)
    assert result.converged
print(iterations)

middle = places - places.mean(axis=0)
motions = np.zeros((len(places), 3, 6))
for d in range(3):
    motions[:, d, d] = 1
    motions[:, :, 3 + d] = np.cross(np.eye(3)[d], middle)
by_hand = vn.cg(A, b, near_nullspace=motions.reshape(-1, 6))
print("by hand:", by_hand.iterations)
assert by_hand.converged and abs(by_hand.iterations - result.iterations) <= 2
assert iterations["rigid-body motions"][-1] <= iterations["translations"][-1]

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.loglog(sizes, plain, "o-", label="without")
left.loglog(sizes, multigrid, "o-", label="with multigrid")
left.set_xlabel("points in a direction")
left.set_ylabel("iterations")
left.set_title("diffusion")
left.legend()
for name, counts in iterations.items():
    right.plot(cells, counts, "o-", label=name)
right.set_xlabel("cells in a direction")
right.set_ylim(bottom=0)
right.set_title("elasticity")
right.legend()
plt.show()
