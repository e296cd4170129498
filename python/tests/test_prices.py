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
    one = vn.price("put", spot=100.0, strike=100.0, volatility=0.3, expiry=1.0).price
    np.testing.assert_allclose(vn.implied_volatility([one, one / 2], "put", spot=100.0, strike=100.0, expiry=1.0)[0], 0.3)


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


def test_european_greeks_to_the_last_digits(rng):
    mpmath = pytest.importorskip("mpmath")
    o = random_options(rng, 40)
    found = vn.price("put", **o)
    with mpmath.workdps(40):
        for i in range(40):
            s, k, v, t, r, q = (mpmath.mpf(float(o[n][i])) for n in ("spot", "strike", "volatility", "expiry", "rate", "dividend"))
            d1 = (mpmath.log(s / k) + (r - q + v * v / 2) * t) / (v * mpmath.sqrt(t))
            d2 = d1 - v * mpmath.sqrt(t)
            first, second = s * mpmath.exp(-q * t) * mpmath.ncdf(-d1), k * mpmath.exp(-r * t) * mpmath.ncdf(-d2)
            density = s * mpmath.exp(-q * t) * mpmath.npdf(d1)
            exact = {"price": second - first, "delta": -first / s, "gamma": density / (s * s * v * mpmath.sqrt(t)),
                     "vega": density * mpmath.sqrt(t), "rho": -t * second,
                     "theta": r * second - q * first - density * v / (2 * mpmath.sqrt(t))}
            for name, value in exact.items():
                assert abs(getattr(found, name)[i] - value) < 1e-12 * (1 + abs(value)), (name, i)
            assert abs(found.price[i] - exact["price"]) <= found.error[i]


def test_american_prices_keep_their_tolerance():
    o = dict(spot=np.linspace(70, 140, 40), strike=100.0, volatility=0.25, expiry=1.0, rate=0.05, dividend=0.02,
             exercise="american")
    fine = vn.price("put", **o, tolerance=1e-9, greeks=False)
    for tolerance in (1e-3, 1e-5):
        found = vn.price("put", **o, tolerance=tolerance)
        assert (abs(found.price - fine.price) <= found.error + fine.error).all() and (found.error <= tolerance).all()
        assert found.met.all() and set(found.method) == {"andersen-lake"}
        # A greek by differences of the fine prices.
        slope = np.gradient(fine.price, o["spot"])
        assert (abs(found.delta - slope)[1:-1] < 0.02).all()


def test_books_of_arrays(rng):
    o = random_options(rng, 300)
    book = {"type": np.where(rng.random(300) < 0.5, "call", "put"), **o}
    book["exercise"] = np.where(rng.random(300) < 0.2, "american", "european")
    book["spot"] = book["spot"].copy()
    book["spot"][7], book["expiry"][11] = -1.0, np.nan
    found = vn.price_book(book)
    assert sorted(found.failures) == [7, 11] and "spot" in found.failures[7] and "expiry" in found.failures[11]
    assert np.isnan(found.price[[7, 11]]).all() and not found.met[[7, 11]].any()
    good = np.setdiff1d(np.arange(300), [7, 11])
    alone = vn.price(book["type"][good], exercise=book["exercise"][good], **{n: book[n][good] for n in o})
    for name in ("price", "delta", "gamma", "theta", "vega", "rho", "error"):
        np.testing.assert_array_equal(getattr(found, name)[good], getattr(alone, name))
    record = np.rec.fromarrays([book[n] for n in book], names=list(book))
    np.testing.assert_array_equal(vn.price_book(record).price, found.price)


def test_books_from_and_to_pandas_and_arrow(rng):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"type": ["call"] * 20, **random_options(rng, 20)})
    found = vn.price_book(frame)
    np.testing.assert_array_equal(found.price, vn.price("call", **{n: frame[n] for n in frame if n != "type"}).price)
    assert list(found.to_pandas()["price"]) == list(found.price)
    assert pyarrow.table(found).column("vega").to_pylist() == list(found.vega)


def test_books_with_prices_of_the_market(rng):
    o = random_options(rng, 50)
    prices = vn.price("call", **o).price
    volatility = o.pop("volatility")
    prices[3] = 1e9
    found = vn.price_book({"type": "call", "price": prices, **o})
    assert list(found.failures) == [3] and np.isnan(found.implied_volatility[3])
    good = np.arange(50) != 3
    np.testing.assert_allclose(found.implied_volatility[good], volatility[good], rtol=1e-6)
    np.testing.assert_allclose(found.price[good], prices[good], rtol=1e-9, atol=1e-10)


def test_books_in_files(tmp_path):
    (tmp_path / "book.csv").write_text("type,spot,strike,expiry,volatility\ncall,100,100,1,0.2\nput,-5,100,1,0.2\n")
    report = vn.price_book(tmp_path / "book.csv", tmp_path / "priced.csv")
    assert (report["options"], report["priced"], report["failed"]) == (2, 1, 1) and report["failures"][0][0] == 3
    names, first, _ = ((tmp_path / "priced.csv").read_text().splitlines())
    assert float(first.split(",")[names.split(",").index("price")]) == pytest.approx(7.965567, abs=1e-6)
    with pytest.raises(ValueError):
        vn.price_book(tmp_path / "book.csv")


def test_books_that_say_too_little_or_too_much():
    book = {"type": "call", "spot": 100.0, "strike": 100.0, "expiry": 1.0, "volatility": 0.2}
    assert vn.price_book(book).price.shape == (1,)
    for name in book:
        with pytest.raises(ValueError, match="column"):
            vn.price_book({n: v for n, v in book.items() if n != name})
    for more in ({"volatilty": 0.2}, {"price": 8.0}):
        with pytest.raises(ValueError, match="column"):
            vn.price_book({**book, **more})
    with pytest.raises(ValueError):
        vn.price_book({**book, "type": "cal"})


def test_columns_and_single_options_agree(rng):
    o = random_options(rng, 1003)
    whole = vn.price("put", **o)
    mixed = vn.price(np.array(["put"] * 1003), exercise=np.array(["european"] * 1003), **o)  # another way through
    for name in ("price", "delta", "gamma", "theta", "vega", "rho", "error"):
        np.testing.assert_allclose(getattr(whole, name), getattr(mixed, name), rtol=1e-13, atol=1e-15)
    assert whole.met.all() and (whole.method == "closed-form").all()
    with pytest.raises(ValueError, match="option 3: spot"):
        vn.price("put", **{**o, "spot": np.where(np.arange(1003) == 3, -1.0, o["spot"])})
    at_expiry = vn.price("call", spot=[90.0, 110.0], strike=100.0, volatility=0.2, expiry=[0.0, 1.0])
    assert at_expiry.price[0] == 0 and at_expiry.method[0] == "limit"


def test_proved_bounds():
    mpmath = pytest.importorskip("mpmath")
    o = dict(spot=np.array([90.0, 100.0, 130.0]), strike=100.0, volatility=0.2, expiry=0.7, rate=0.03, dividend=0.01)
    p = vn.price("call", **o, verify=True)
    assert p.verified.all() and p.bounds["price"].wid.max() < 1e-12
    with mpmath.workdps(40):
        for i, spot in enumerate(o["spot"]):
            s, k, v, t, r, q = (mpmath.mpf(float(x)) for x in (spot, 100.0, 0.2, 0.7, 0.03, 0.01))
            d1 = (mpmath.log(s / k) + (r - q + v * v / 2) * t) / (v * mpmath.sqrt(t))
            exact = s * mpmath.exp(-q * t) * mpmath.ncdf(d1) - k * mpmath.exp(-r * t) * mpmath.ncdf(d1 - v * mpmath.sqrt(t))
            assert p.bounds["price"].lo[i] <= exact <= p.bounds["price"].hi[i]
            vega = s * mpmath.exp(-q * t) * mpmath.npdf(d1) * mpmath.sqrt(t)
            assert p.bounds["vega"].lo[i] <= vega <= p.bounds["vega"].hi[i]
    both = vn.price("put", **o, exercise=["european", "american", "european"], verify=True)
    assert both.verified.tolist() == [True, False, True] and both.bounds["price"].hi[1] == np.inf
    assert not vn.price("put", **o).verified.any()


def test_what_is_missing_or_has_no_effect_is_refused():
    given = dict(spot=100.0, strike=90.0, volatility=0.2, expiry=1.0)
    for name in ("spot", "strike", "expiry"):
        with pytest.raises(vn.InputError, match=name):
            vn.price("call", **{**given, name: None})
    with pytest.raises(vn.InputError, match="dates"):
        vn.price("call", dates=[0.5], **given)
    with pytest.raises(vn.InputError, match="cash"):
        vn.price("call", cash=7.0, **given)
    with pytest.raises(vn.InputError, match="barrier"):
        vn.price("call", barrier_level=120.0, **given)
