"""
A proof of SciPy's answer
=========================

``verify`` takes an answer of any origin and encloses the exact solution around it, or says that it cannot.
"""
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse.linalg
import vouchnum as vn

# %%
# A diffusion whose coefficient jumps by a factor of 10^4; the solution is known, b is rounded once.
A, (b, exact) = vn.gallery.diffusion_2d(80, coefficient="jump", contrast=1e4, solution="smooth")
x = scipy.sparse.linalg.spsolve(A.tocsc(), b)
e = vn.verify(A, b, x)
print(e)
print(f"largest error {abs(x - exact).max():.1e}, proved {e.max_absolute:.1e}, by {e.method}")
assert e.verified and e.max_absolute < 1e-6

# %%
# Conjugate gradients of SciPy, stopped where they usually are: the proof says how many digits are right.
rough, info = scipy.sparse.linalg.cg(A, b, rtol=1e-5)
e_rough = vn.verify(A, b, rough)
print(f"error {abs(rough - exact).max():.1e}, proved {e_rough.max_absolute:.1e}")
assert e_rough.verified and (abs(rough - exact) <= e_rough.radius + e.radius).all()

# %%
# Twelve digits in every component, wanted: a copy is improved until they are proved.
better = vn.verify(A, b, rough, digits=12)
print(better.digits, "digits")
assert better.reached

# %%
# Of a singular matrix nothing can be proved, and nothing is.
nothing = vn.verify(vn.gallery.poisson_2d(10, boundary="neumann"), np.zeros(100), np.zeros(100))
print(nothing)
assert not nothing.verified

# %%
# The true errors, sorted, under what was proved of each.
fig, ax = plt.subplots(figsize=(7, 4))
for name, at, proof in (("spsolve", x, e), ("cg, rtol 1e-5", rough, e_rough)):
    order = np.argsort(proof.radius)
    ax.semilogy(proof.radius[order], label=f"{name}: proved")
    ax.semilogy(abs(at - exact)[order], ".", markersize=1, label=f"{name}: true")
ax.set_xlabel("component, sorted by its bound")
ax.set_ylabel("error")
ax.legend(loc="center right")
plt.show()
