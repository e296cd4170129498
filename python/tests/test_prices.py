"""Prices against formulas of SciPy, a binomial tree, and parities."""
import numpy as np
import pytest
import vouchnum as vn
from scipy.special import ndtr


def black_scholes(sign, s, k, v, t, r, q):
    d1 = (np.log(s / k) + (r - q + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    return sign * (s * np.exp(-q * t) * ndtr(sign * d1) - k * np.exp(-r * t) * ndtr(sign * d2))


def random_options(rng, n):
    return dict(spot=100 * np.exp(0.3 * rng.normal(size=n)), strike=np.full(n, 100.0), volatility=0.1 + 0.5 * rng.random(n),
                expiry=0.1 + 2 * rng.random(n), rate=0.1 * rng.random(n), dividend=0.08 * rng.random(n))


def test_european_prices_and_greeks(rng):
    o = random_options(rng, 500)
    for kind, sign in (("call", 1), ("put", -1)):
        found = vn.price(kind, **o, more=True)
        formula = lambda **changed: black_scholes(sign, *({**o, **changed}[n] for n in (
            "spot", "strike", "volatility", "expiry", "rate", "dividend")))
        np.testing.assert_allclose(found.price, formula(), rtol=1e-10, atol=1e-11)
        for greek, name, h in (("delta", "spot", 1e-3), ("vega", "volatility", 1e-5), ("rho", "rate", 1e-5),
                               ("dividend_rho", "dividend", 1e-5)):
            slope = (formula(**{name: o[name] + h}) - formula(**{name: o[name] - h})) / (2 * h)
            np.testing.assert_allclose(getattr(found, greek), slope, rtol=2e-5, atol=2e-5)
        assert found.met.all() and (found.method == "closed-form").all()


def binomial_put(s, k, v, t, r, q, steps=4000):
    dt = t / steps
    up = np.exp(v * np.sqrt(dt))
    p = (np.exp((r - q) * dt) - 1 / up) / (up - 1 / up)
    at = s * up ** np.arange(-steps, steps + 1, 2.0)
    value = np.maximum(k - at, 0)
    for step in range(steps - 1, -1, -1):
        at = s * up ** np.arange(-step, step + 1, 2.0)
        value = np.maximum(np.exp(-r * dt) * (p * value[1:] + (1 - p) * value[:-1]), k - at)
    return value[0]


def test_american_puts_against_a_tree():
    found = vn.price("put", spot=[90.0, 100.0, 110.0], strike=100.0, volatility=0.2, expiry=1.0, rate=0.05, dividend=0.01,
                     exercise="american", tolerance=1e-5)
    tree = [binomial_put(s, 100.0, 0.2, 1.0, 0.05, 0.01) for s in (90.0, 100.0, 110.0)]
    np.testing.assert_allclose(found.price, tree, atol=2e-3)
    assert (found.price >= vn.price("put", spot=[90.0, 100.0, 110.0], strike=100.0, volatility=0.2, expiry=1.0, rate=0.05,
                                    dividend=0.01).price).all()


def test_barriers_and_shared_data():
    o = dict(spot=100.0, strike=100.0, volatility=0.25, expiry=1.0, rate=0.03)
    knocked_in = vn.price("call", barrier="down-and-in", barrier_level=85.0, **o).price
    knocked_out = vn.price("call", barrier="down-and-out", barrier_level=85.0, **o).price
    np.testing.assert_allclose(knocked_in + knocked_out, vn.price("call", **o).price, rtol=1e-12)
    with_dividend = vn.price("call", dividends=[(0.5, 5.0)], tolerance=1e-4, **o)
    assert with_dividend.price < vn.price("call", **o).price and with_dividend.met
    bermudan = vn.price("put", exercise="bermudan", dates=[0.5], tolerance=1e-3, **o).price
    assert vn.price("put", **o).price < bermudan < vn.price("put", exercise="american", **o).price


def test_implied_volatilities(rng):
    o = random_options(rng, 300)
    prices = vn.price("call", **o).price
    volatility = o.pop("volatility")
    np.testing.assert_allclose(vn.implied_volatility(prices, "call", **o), volatility, rtol=1e-6)
    assert np.isnan(vn.implied_volatility(1e9, spot=100.0, strike=100.0, expiry=1.0))


def test_wrong_input():
    with pytest.raises(ValueError, match="kind"):
        vn.price("cal", spot=1.0, strike=1.0, expiry=1.0)
    with pytest.raises(ValueError, match="option 1"):
        vn.price("call", spot=[1.0, -1.0], strike=1.0, volatility=0.2, expiry=1.0)
    with pytest.raises(ValueError):
        vn.price("call", spot=1 + 1j, strike=1.0, expiry=1.0)
    with pytest.raises(ValueError):
        vn.price("call", spot=1.0, strike=1.0, volatility=0.2, expiry=1.0, tolerance=0)
    with pytest.raises(ValueError):
        vn.price("call", spot=np.ones(2), strike=np.ones(3), expiry=1.0)
