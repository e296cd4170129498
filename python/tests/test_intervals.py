"""Intervals against exact fractions and mpmath-free oracles of decimal arithmetic."""
from fractions import Fraction

import numpy as np
import pytest
import vouchnum as vn


def random_intervals(rng, shape):
    a, b = rng.normal(size=(2, *shape)) * 10.0 ** rng.integers(-8, 8, shape)
    return vn.interval(np.minimum(a, b), np.maximum(a, b))


def encloses(x, value):
    return Fraction(float(x.lo)) <= value <= Fraction(float(x.hi))


def test_arithmetic_against_fractions(rng):
    x, y = random_intervals(rng, (500,)), random_intervals(rng, (500,))
    s, d, p, q = x + y, x - y, x * y, x / y
    for k in range(500):
        for a in (x.lo[k], x.mid[k], x.hi[k]):
            for b in (y.lo[k], y.hi[k]):
                a_, b_ = Fraction(float(a)), Fraction(float(b))
                assert encloses(s[k], a_ + b_) and encloses(d[k], a_ - b_) and encloses(p[k], a_ * b_)
                if b_ != 0 and not (y.lo[k] < 0 < y.hi[k]):
                    assert encloses(q[k], a_ / b_)
    # The tightest doubles around the sums of the bounds.
    for k in range(500):
        low = Fraction(float(x.lo[k])) + Fraction(float(y.lo[k]))
        assert Fraction(float(np.nextafter(s.lo[k], np.inf))) > low


def test_texts():
    assert encloses(vn.interval("0.1"), Fraction(1, 10)) and vn.interval("0.1").wid > 0
    assert encloses(vn.interval("1/3"), Fraction(1, 3)) and vn.interval(0.1).wid == 0
    x = vn.interval("[1, 2]")
    assert (x.lo, x.hi) == (1, 2)
    with pytest.raises(ValueError):
        vn.interval("words")
    assert "[0.5, 0.5]" in repr(vn.interval(0.5))


def test_functions_enclose(rng):
    x = vn.interval(rng.random(200) + 0.1)
    for f in (np.sqrt, np.exp, np.log, np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.square, np.abs):
        y = f(x)
        value = f(x.mid.astype(np.longdouble))
        assert (y.lo.astype(np.longdouble) <= value * (1 + 1e-18)).all()
        assert (y.hi.astype(np.longdouble) >= value * (1 - 1e-18)).all()
        assert (y.wid <= 4e-16 * np.abs(y.mid) + 1e-300).all()


def test_products_solutions_and_determinants(rng):
    A = rng.integers(-9, 9, (6, 6)).astype(float)
    exact = [[sum(Fraction(A[i, k]) * Fraction(A[k, j]) for k in range(6)) for j in range(6)] for i in range(6)]
    for mode in ("fast", "tight", "exact"):
        for operands in ((A, A), (vn.interval(A), A), (vn.interval(A), vn.interval(A))):
            C = vn.matmul(*operands, mode=mode)
            assert all(encloses(C[i, j], exact[i][j]) for i in range(6) for j in range(6))
    B = vn.interval(A) @ A
    assert B.shape == (6, 6)
    A += 30 * np.eye(6)
    X = vn.interval_solve(A, A @ np.ones(6))
    assert X.shape == (6,) and np.ones(6) in X.hull(np.ones(6)) and X.wid.max() < 1e-13
    inverse = vn.inv(A)
    assert np.eye(6) in inverse @ A
    assert float(np.linalg.det(A)) in vn.det(A).hull(np.linalg.det(A)) and vn.det(np.diag([2.0, 3.0])).wid < 1e-14
    with pytest.raises(ValueError):
        vn.inv(np.ones((2, 2)))


def test_exact_sums(rng):
    x = rng.normal(size=1000) * 10.0 ** rng.integers(-30, 30, 1000)
    assert vn.fsum(x) == float(sum(map(Fraction, x)))
    assert vn.dot(x, x[::-1].copy()) == float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, x[::-1])))


def test_shapes_and_refusals(rng):
    x = random_intervals(rng, (4, 5))
    assert x.T.shape == (5, 4) and x[1].shape == (5,) and x[:, 2:].shape == (4, 3) and x.reshape(20).shape == (20,)
    assert (x + 1.0).shape == (4, 5) and (2 - x[0]).shape == (5,)
    assert x.view().dtype.names == ("lo", "hi") and np.shares_memory(x.view(), x.lo)
    with pytest.raises(TypeError):
        np.asarray(x)
    with pytest.raises(ValueError):
        vn.interval(2.0, 1.0)
    with pytest.raises(ValueError):
        vn.interval(np.nan)
    ball = vn.interval(1.0, rad=0.1)
    assert 1.1 in ball and 0.9 in ball
