"""Options: prices with error estimates and Greeks, over arrays; and implied volatilities."""
from dataclasses import dataclass

import numpy as np

from . import _core
from ._threads import chosen
from .errors import InputError

_types = {"call": 0, "put": 1, "c": 0, "p": 1}
_exercises = {"european": 0, "american": 1, "bermudan": 2}
_payoffs = {"vanilla": 0, "cash-digital": 1, "asset-digital": 2}
_barriers = {"none": 0, "up-and-in": 1, "up-and-out": 2, "down-and-in": 3, "down-and-out": 4}
_methods = np.array(["limit", "closed-form", "andersen-lake", "finite-difference"])


@dataclass(frozen=True)
class Prices:
    """Arrays of one shape. theta is a year, vega and rho are for changes by 1.0; NaN where a Greek is not known.

    `error` estimates that of the price, `met` says whether it is within the tolerance.
    """

    price: np.ndarray
    delta: np.ndarray
    gamma: np.ndarray
    theta: np.ndarray
    vega: np.ndarray
    rho: np.ndarray
    error: np.ndarray
    method: np.ndarray
    met: np.ndarray
    dividend_rho: "np.ndarray | None" = None
    vanna: "np.ndarray | None" = None
    volga: "np.ndarray | None" = None
    charm: "np.ndarray | None" = None

    def to_pandas(self):
        import pandas

        return pandas.DataFrame({k: np.ravel(v) for k, v in vars(self).items() if v is not None})


def _codes(value, known, name):
    words = np.asarray(value)
    if words.dtype.kind not in "US":
        raise InputError(f"{name} is {value!r}: one of {', '.join(known)}")
    found = np.empty(words.shape, np.uint8)
    for word in np.unique(words):
        code = known.get(str(word).lower().replace("_", "-"))
        if code is None:
            raise InputError(f"{name} is {str(word)!r}: one of {', '.join(known)}")
        found[words == word] = code
    return found


def _columns(kind, exercise, payoff, barrier, numbers):
    given = {"type": _codes(kind, _types, "kind"), "exercise": _codes(exercise, _exercises, "exercise"),
             "payoff": _codes(payoff, _payoffs, "payoff"),
             "barrier": _codes("none" if barrier is None else barrier, _barriers, "barrier")}
    for name, value in numbers.items():
        array = np.asarray(0.0 if value is None else value)
        if array.dtype.kind not in "fiub":
            raise InputError(f"{name} is of type {array.dtype}, and real numbers are wanted")
        given[name] = array.astype(np.float64)
    names = list(given)
    arrays = np.broadcast_arrays(*given.values())
    return arrays[0].shape, {n: np.ascontiguousarray(a).reshape(-1) for n, a in zip(names, arrays)}


def _shared(dividends, dividend_model, dates, rates, volatilities):
    if dividend_model not in ("piecewise", "escrowed"):
        raise InputError(f"dividend_model is {dividend_model!r}: piecewise or escrowed")
    shared = {"escrowed": dividend_model == "escrowed"}
    for name, pairs in (("dividends", dividends), ("rates", rates), ("volatilities", volatilities)):
        if pairs is not None:
            shared[name] = [(float(t), float(v)) for t, v in pairs]
    if dates is not None:
        shared["dates"] = [float(t) for t in dates]
    return shared


def price(kind="call", *, spot, strike, volatility=0.0, expiry, rate=0.0, dividend=0.0, exercise="european",
          payoff="vanilla", cash=1.0, barrier=None, barrier_level=None, rebate=0.0, dividends=None,
          dividend_model="piecewise", dates=None, rates=None, volatilities=None, tolerance=1e-4, greeks=True, more=False,
          threads=None):
    """Prices options by formula, by exercise boundary or by finite differences, whichever there is first.

    Parameters
    ----------
    kind, exercise, payoff, barrier : str or arrays of them
        call or put; european, american or bermudan; vanilla, cash-digital or asset-digital; none, up-and-in,
        up-and-out, down-and-in or down-and-out.
    spot, strike, volatility, expiry, rate, dividend, cash, barrier_level, rebate : array_like
        Broadcast against each other. Years, and continuous rates a year.
    dividends, rates, volatilities : sequences of pairs, for all options alike
        Cash dividends (time, amount); rates and volatilities (until, value) in place of the constant ones.
    dates : sequence of float
        When a Bermudan option may be exercised.
    tolerance : float
        Of the price, absolute, where there is no formula.
    more : bool
        Further Greeks of European options: dividend rho, vanna, volga, charm.

    Returns
    -------
    Prices

    >>> p = vn.price("put", spot=100.0, strike=[90.0, 110.0], volatility=0.2, expiry=1.0, rate=0.05)
    >>> p.price.round(4)
    array([ 2.3101, 10.6753])
    """
    shape, given = _columns(kind, exercise, payoff, barrier, {
        "spot": spot, "strike": strike, "rate": rate, "dividend": dividend, "volatility": volatility, "expiry": expiry,
        "cash": cash, "barrier_level": barrier_level, "rebate": rebate})
    if not tolerance > 0:
        raise InputError(f"tolerance is {tolerance}, and should be positive")
    found = _core.price(given, _shared(dividends, dividend_model, dates, rates, volatilities), float(tolerance),
                        bool(greeks), bool(more), chosen(threads))
    fields = {n: found[n].reshape(shape) for n in ("price", "delta", "gamma", "theta", "vega", "rho", "error")}
    further = {}
    if more:
        names = ("dividend_rho", "vanna", "volga", "charm")
        further = {n: part.reshape(shape) for n, part in zip(names, np.split(found["further"], 4))}
    return Prices(**fields, **further, method=_methods[found["method"]].reshape(shape),
                  met=found["met"].astype(bool).reshape(shape))


def implied_volatility(price, kind="call", *, spot, strike, expiry, rate=0.0, dividend=0.0, exercise="european",
                       dividends=None, dividend_model="piecewise", rates=None, tolerance=1e-6, threads=None):
    """The volatilities at which calls or puts have the given prices; NaN where there is none.

    European ones to the last digit that a price decides, others to where the price is within half the tolerance.

    >>> float(vn.implied_volatility(10.450583572185565, spot=100.0, strike=100.0, expiry=1.0, rate=0.05).round(12))
    0.2
    """
    shape, given = _columns(kind, exercise, "vanilla", None, {
        "spot": spot, "strike": strike, "rate": rate, "dividend": dividend, "volatility": 0.0, "expiry": expiry,
        "cash": 1.0, "barrier_level": 0.0, "rebate": 0.0, "price": price})
    prices = given.pop("price")
    found = _core.implied(given, _shared(dividends, dividend_model, None, rates, None), prices, float(tolerance),
                          chosen(threads))
    return found.reshape(shape)
