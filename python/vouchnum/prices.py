"""Options: prices with error estimates and Greeks, over arrays and books; and implied volatilities."""
import os
from dataclasses import dataclass, field, fields, replace

import numpy as np

from . import _core, _operands
from ._threads import chosen
from .errors import InputError, ShapeError

_types = {"call": 0, "put": 1, "c": 0, "p": 1}
_exercises = {"european": 0, "american": 1, "bermudan": 2}
_payoffs = {"vanilla": 0, "cash-digital": 1, "asset-digital": 2}
_barriers = {"none": 0, "up-and-in": 1, "up-and-out": 2, "down-and-in": 3, "down-and-out": 4}
_methods = np.array(["limit", "closed-form", "andersen-lake", "finite-difference"])


@dataclass(frozen=True)
class Prices:
    """Arrays of one shape. theta is a year, vega and rho are for changes by 1.0; NaN where a Greek is not known.

    `error` estimates that of the price, `met` says whether it is within the tolerance. Of `price_book`, `failures` maps
    rows that could not be priced to the reason; their numbers are NaN. With `verify`, `bounds` has proved intervals of price,
    delta, gamma, theta, vega and rho by name: those of European calls and puts without barrier or term structures, for
    others the whole line, which proves nothing.
    """

    price: np.ndarray
    delta: np.ndarray
    gamma: np.ndarray
    theta: np.ndarray
    vega: np.ndarray
    rho: np.ndarray
    error: np.ndarray
    method_code: np.ndarray = field(repr=False)
    met: np.ndarray
    dividend_rho: "np.ndarray | None" = None
    vanna: "np.ndarray | None" = None
    volga: "np.ndarray | None" = None
    charm: "np.ndarray | None" = None
    implied_volatility: "np.ndarray | None" = None
    failures: dict = field(default_factory=dict)
    bounds: "dict | None" = field(default=None, repr=False)

    @property
    def verified(self):
        """Of which prices `bounds` proves something; of none without `verify`."""
        return np.zeros(self.price.shape, bool) if self.bounds is None else np.isfinite(self.bounds["price"].hi)

    @property
    def method(self):
        """What each price is by: "closed-form", "andersen-lake", "finite-difference", or "limit" where nothing is random."""
        return _methods[self.method_code]

    @property
    def columns(self):
        """What is known, by name, each a vector."""
        names = [f.name.removesuffix("_code") for f in fields(self) if f.name not in ("failures", "bounds")]
        return {name: np.ravel(getattr(self, name)) for name in names if getattr(self, name) is not None}

    def to_pandas(self):
        """A DataFrame, with a column a field."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_arrow(self):
        """A table of PyArrow, with a column a field."""
        import pyarrow

        return pyarrow.table(self.columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _require_positive(tolerance):
    if not _operands.number(tolerance, "tolerance") > 0:
        raise InputError(f"tolerance is {tolerance!r}, and should be positive")


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
        if value is None and name != "barrier_level":
            raise InputError(f"{name} is None: a number, or one for each option")
    given.update((name, _operands.real_array(0.0 if value is None else value, name)) for name, value in numbers.items())
    try:
        shape = np.broadcast_shapes(*(array.shape for array in given.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items() if array.shape)
        raise ShapeError(f"shapes do not fit together: {shapes}") from None

    def column(name, array):
        if array.size == 1 and name != "price":
            return array.reshape(1)  # one for all stays so
        return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)

    return shape, {name: column(name, array) for name, array in given.items()}


def _shared(dividends, dividend_model, dates, rates, volatilities):
    if dividend_model not in ("piecewise", "escrowed"):
        raise InputError(f"dividend_model is {dividend_model!r}: piecewise or escrowed")
    shared = {"escrowed": dividend_model == "escrowed"}
    for name, pairs in (("dividends", dividends), ("rates", rates), ("volatilities", volatilities)):
        if pairs is not None:
            table = _operands.real_array(list(pairs) if np.iterable(pairs) else pairs, name)
            if table.size and (table.ndim != 2 or table.shape[1] != 2):
                raise ShapeError(f"{name} has shape {table.shape}, and should be pairs of a time and a number")
            shared[name] = [tuple(pair) for pair in table.reshape(-1, 2).tolist()]
    if dates is not None:
        shared["dates"] = np.atleast_1d(_operands.real_array(list(dates) if np.iterable(dates) else dates, "dates")).tolist()
    return shared


def price(kind="call", *, spot, strike, volatility=0.0, expiry, rate=0.0, dividend=0.0, exercise="european",
          payoff="vanilla", cash=1.0, barrier=None, barrier_level=None, rebate=0.0, dividends=None,
          dividend_model="piecewise", dates=None, rates=None, volatilities=None, tolerance=1e-4, greeks=True, more=False,
          verify=False, threads=None):
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
    verify : bool
        Proves bounds of price and Greeks where the library has them, for some 50 us each: `Prices.bounds`.

    Returns
    -------
    Prices
        American ones by their exercise boundary to the tolerance, with vega and rho to about a hundredth of themselves.

    >>> p = vn.price("put", spot=100.0, strike=[90.0, 110.0], volatility=0.2, expiry=1.0, rate=0.05)
    >>> p.price.round(4)
    array([ 2.3101, 10.6753])
    >>> p = vn.price("put", spot=100.0, strike=90.0, volatility=0.2, expiry=1.0, rate=0.05, verify=True)
    >>> bool(p.verified), p.price in p.bounds["price"], float(p.bounds["price"].wid) < 1e-12
    (True, True, True)
    """
    shape, given = _columns(kind, exercise, payoff, barrier, {
        "spot": spot, "strike": strike, "rate": rate, "dividend": dividend, "volatility": volatility, "expiry": expiry,
        "cash": cash, "barrier_level": barrier_level, "rebate": rebate})
    _require_positive(tolerance)
    if barrier is None and barrier_level is not None:
        raise InputError("barrier_level without a barrier: say which, down-and-out for one")
    if barrier_level is None and np.any(given["barrier"] != _barriers["none"]):
        raise InputError("a barrier needs its barrier_level")
    if dates is None and np.any(given["exercise"] == _exercises["bermudan"]):
        raise InputError("Bermudan exercise needs its dates")
    if dates is not None and not (given["exercise"] == _exercises["bermudan"]).any():
        raise InputError("dates are those of Bermudan exercise, and no option has it")
    if np.any(given["cash"] != 1.0) and not (given["payoff"] == _payoffs["cash-digital"]).any():
        raise InputError("cash is what a cash-digital option pays, and no option is one")
    shared = _shared(dividends, dividend_model, dates, rates, volatilities)
    found = _priced(given, shared, shape, tolerance, greeks, more, False, threads)
    return replace(found, bounds=_bounds(given, shared, shape, threads)) if verify else found


def _bounds(given, shared, shape, threads):
    from .intervals import IntervalArray

    pairs = _core.enclose_prices(given, shared, chosen(threads))
    return {name: IntervalArray(ends.reshape(*shape, 2)) for name, ends in pairs.items()}


def _priced(given, shared, shape, tolerance, greeks, more, list_failures, threads):
    found = _core.price(given, shared, float(tolerance), bool(greeks), bool(more), list_failures, chosen(threads))
    failures = dict(found.pop("failures"))
    method, met = found.pop("method").reshape(shape), found.pop("met").view(bool).reshape(shape)
    return Prices(**{name: column.reshape(shape) for name, column in found.items()}, method_code=method, met=met,
                  failures=failures)


_texts = {"type": "call", "exercise": "european", "payoff": "vanilla", "barrier": "none"}
_numbers = {"spot": None, "strike": None, "expiry": None, "volatility": 0.0, "rate": 0.0, "dividend": 0.0, "cash": 1.0,
            "barrier_level": 0.0, "rebate": 0.0}


def price_book(book, output=None, *, tolerance=1e-4, greeks=True, more=False, strict=False, threads=None):
    """Prices a book of options row by row: what is wrong with one of them is said of it, and the others are priced.

    Parameters
    ----------
    book : dict of arrays, structured array, DataFrame, or path
        Columns type, spot, strike, expiry and one of volatility and price are needed; exercise, rate, dividend, payoff,
        cash, barrier, barrier_level and rebate may be there. Where there is a price, its volatility is found and priced
        with. A path is that of a CSV file, which the tool's `vouch price --book` reads as well.
    output : path
        For a path: the CSV file that receives a line of prices for each.
    strict : bool
        Of a file: a column that is not known is an error. In arrays it always is.

    Returns
    -------
    Prices
        Of vectors, `failures` by row. For a file a dict with the counts, and with failures and warnings as (line, column,
        message).

    >>> book = {"type": ["call", "put"], "spot": [100.0, -1.0], "strike": 100.0, "expiry": 1.0, "volatility": 0.2}
    >>> p = vn.price_book(book)
    >>> p.price.round(4), p.failures
    (array([7.9656,    nan]), {1: 'spot -1 is negative'})
    """
    _require_positive(tolerance)
    if isinstance(book, (str, os.PathLike)):
        if output is None:
            raise InputError("the prices of a file go to a file: name output")
        return _core.price_book(_operands.path_of(book, "book"), _operands.path_of(output, "output"), float(tolerance), bool(greeks), bool(more), bool(strict),
                                chosen(threads))
    if output is not None:
        raise InputError("output is for a book in a file")
    if not isinstance(book, np.ndarray) and not hasattr(book, "keys"):
        raise InputError(f"book is a {type(book).__name__}: a dict of arrays, a structured array, a DataFrame or a path is wanted")
    names = list(book.dtype.names or () if isinstance(book, np.ndarray) else book.keys())
    given = {("type" if name == "kind" else str(name)): np.asanyarray(book[name]) for name in names}
    for name, column in given.items():
        if isinstance(column, np.ma.MaskedArray):
            raise InputError(f"{name} is a masked array: fill it first, {name}.filled(...)")
    unknown = set(given) - {*_texts, *_numbers, "price"}
    if unknown:
        raise InputError(f"a book has no column {min(unknown)!r}: {', '.join([*_texts, *_numbers, 'price'])}")
    missing = [name for name in ("type", "spot", "strike", "expiry") if name not in given]
    if missing or not ("volatility" in given or "price" in given):
        raise InputError(f"a book needs a column {missing[0] if missing else 'volatility or price'!r}")
    if "price" in given and "volatility" in given:
        raise InputError("a book has a column of volatilities or of prices, not both")
    words = [given.get(name, word).astype(str) if name in given else word for name, word in _texts.items()]
    numbers = {name: given.get(name, number) for name, number in _numbers.items()}
    if "price" in given:
        numbers["price"] = given["price"]
    shape, rows = _columns(*words, numbers)
    shape = (int(np.prod(shape)),)
    shared = _shared(None, "piecewise", None, None, None)
    unsolved, implied = {}, None
    if "price" in rows:
        implied, listed = _core.implied(rows, shared, rows.pop("price"), float(tolerance), chosen(threads))
        unsolved = dict(listed)
        rows["volatility"] = implied
    found = _priced(rows, shared, shape, tolerance, greeks, more, True, threads)
    return replace(found, implied_volatility=implied, failures={**found.failures, **unsolved})


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
    found, _ = _core.implied(given, _shared(dividends, dividend_model, None, rates, None), prices, float(tolerance),
                             chosen(threads))
    return found.reshape(shape)
