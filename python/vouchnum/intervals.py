"""Arrays of intervals that enclose the truth, over NumPy."""
import numpy as np

from . import _core, _operands
from ._threads import chosen
from .errors import InputError, ShapeError

_binary = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide", np.power: "power"}
_unary = {f: f.__name__ for f in (np.sqrt, np.square, np.absolute, np.exp, np.log, np.sin, np.cos, np.tan, np.arcsin,
                                  np.arccos, np.arctan, np.sinh, np.cosh, np.tanh)}


class IntervalArray:
    """An array of closed intervals [lo, hi]. Operations give the smallest intervals that hold all results; the empty
    set is [NaN, NaN].

    Numbers that meet intervals are taken as they are, to the last bit: `interval("0.1")` encloses the decimal,
    `interval(0.1)` is the double.

    >>> x = vn.interval("0.1") + vn.interval("0.2")
    >>> 0.3 in x, float(x.wid) < 1.2e-16
    (True, True)
    """

    __array_priority__ = 100

    def __init__(self, bounds):
        bounds = np.ascontiguousarray(bounds, dtype=np.float64)
        if bounds.shape[-1:] != (2,):
            raise ShapeError(f"bounds have shape {bounds.shape}, whose last is not 2")
        lo, hi = bounds[..., 0], bounds[..., 1]
        wrong = ~((lo <= hi) & (lo < np.inf) & (hi > -np.inf) | (np.isnan(lo) & np.isnan(hi)))
        if wrong.any():
            raise InputError(f"[{lo[wrong].flat[0]}, {hi[wrong].flat[0]}] is no interval")
        self._bounds = bounds

    lo = property(lambda self: self._bounds[..., 0])
    hi = property(lambda self: self._bounds[..., 1])
    shape = property(lambda self: self._bounds.shape[:-1])
    ndim = property(lambda self: self._bounds.ndim - 1)
    size = property(lambda self: self._bounds.size // 2)

    def _pairs(self):
        return np.ascontiguousarray(self._bounds).reshape(-1, 2)

    def _sizes(self, name):
        return _core.interval_sizes(name, self._pairs()).reshape(self.shape)

    mid = property(lambda self: self._sizes("mid"), doc="The midpoints, to nearest.")
    rad = property(lambda self: self._sizes("rad"), doc="The least r with all of x within r of mid, rounded upwards.")
    wid = property(lambda self: self._sizes("wid"), doc="hi - lo, rounded upwards.")

    @property
    def T(self):
        return IntervalArray(np.ascontiguousarray(np.swapaxes(self._bounds, 0, 1)) if self.ndim == 2 else self._bounds)

    def view(self):
        """The bounds as a structured array of "lo" and "hi", without a copy."""
        return self._bounds.view([("lo", "f8"), ("hi", "f8")])[..., 0]

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return IntervalArray(self._bounds[(*index, Ellipsis, slice(None))] if not any(i is Ellipsis for i in index)
                             else self._bounds[(*index, slice(None))])

    def __len__(self):
        if not self.shape:
            raise TypeError("one interval has no length")
        return self.shape[0]

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return IntervalArray(self._bounds.reshape(*shape, 2) if -1 not in shape
                             else self._bounds.reshape(*np.empty(self.shape).reshape(shape).shape, 2))

    def __contains__(self, value):
        value = np.asarray(value, dtype=np.float64)
        return bool(((self.lo <= value) & (value <= self.hi)).all())

    def __array__(self, *_, **__):
        raise TypeError("an interval is no number: say .mid, .lo or .hi")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        if method == "__call__" and not keywords:
            if ufunc in _unary:
                return _made(_core.interval_unary(_unary[ufunc], inputs[0]._pairs()), inputs[0].shape)
            if ufunc in _binary:
                return _pairwise(_binary[ufunc], *inputs)
            if ufunc is np.negative:
                return IntervalArray(-inputs[0]._bounds[..., ::-1])
            if ufunc is np.matmul:
                return matmul(*inputs)
        return NotImplemented

    def __add__(self, other):
        return _pairwise("add", self, other)

    def __radd__(self, other):
        return _pairwise("add", other, self)

    def __sub__(self, other):
        return _pairwise("subtract", self, other)

    def __rsub__(self, other):
        return _pairwise("subtract", other, self)

    def __mul__(self, other):
        return _pairwise("multiply", self, other)

    def __rmul__(self, other):
        return _pairwise("multiply", other, self)

    def __truediv__(self, other):
        return _pairwise("divide", self, other)

    def __rtruediv__(self, other):
        return _pairwise("divide", other, self)

    def __pow__(self, other):
        return _pairwise("power", self, other)

    def __neg__(self):
        return np.negative(self)

    def __abs__(self):
        return np.absolute(self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __eq__(self, other):
        try:
            other = interval(other)
        except (InputError, TypeError):
            return NotImplemented
        same = (self._bounds == other._bounds) | (np.isnan(self._bounds) & np.isnan(other._bounds))
        return same.all(axis=-1)

    __hash__ = None

    def hull(self, other):
        """The smallest intervals that hold both."""
        return _pairwise("hull", self, other)

    def intersection(self, other):
        return _pairwise("intersection", self, other)

    def __repr__(self):
        texts = _core.interval_texts(self._pairs()[:1000])
        shown = texts[0] if not self.shape else np.array(texts + ["..."] * (self.size > 1000), dtype=object)
        return f"IntervalArray({shown})"


def _made(pairs, shape):
    made = IntervalArray.__new__(IntervalArray)
    made._bounds = pairs.reshape(*shape, 2)
    return made


def _pairwise(name, x, y):
    x, y = interval(x)._bounds, interval(y)._bounds
    if x.shape != y.shape:
        try:
            x, y = np.broadcast_arrays(x, y)
        except ValueError:
            raise ShapeError(f"shapes {x.shape[:-1]} and {y.shape[:-1]} do not fit") from None
    return _made(_core.interval_binary(name, *(np.ascontiguousarray(v).reshape(-1, 2) for v in (x, y))), x.shape[:-1])


def interval(lo, hi=None, *, rad=None):
    """Intervals from bounds, from midpoints and radii, from numbers as they are, or from decimal texts.

    >>> vn.interval("1/3")
    IntervalArray([0.33333333333333331, 0.33333333333333338])
    """
    if isinstance(lo, IntervalArray):
        return lo
    words = np.asarray(lo)
    if words.dtype.kind in "US":
        if hi is not None or rad is not None:
            raise InputError("a text says its bounds itself")
        texts = [str(w).strip() for w in words.ravel()]
        if "" in texts:
            raise InputError("a blank text is no number; the empty set is \"[empty]\"")
        return _made(_core.interval_parse([t if "[" in t or "?" in t else f"[{t}]" for t in texts]), words.shape)
    if hi is not None and rad is not None:
        raise InputError("hi and rad exclude each other")
    low = _operands.real_array(lo, "lo")
    if rad is not None:
        radius = interval(rad)
        if (radius.lo < 0).any():
            raise InputError("a radius is negative")
        return interval(low) + _made(np.stack([-radius.hi, radius.hi], axis=-1), radius.shape)
    high = low if hi is None else _operands.real_array(hi, "hi")
    if hi is None and not np.isfinite(low).all():
        raise InputError("a NaN or an infinity is no real number")
    try:
        return IntervalArray(np.stack(np.broadcast_arrays(low, high), axis=-1))
    except ValueError as e:
        if isinstance(e, InputError):
            raise
        raise ShapeError(f"lo has shape {low.shape}, hi {high.shape}") from None


def _matrix(A, name):
    A = interval(A)
    if A.ndim != 2:
        raise ShapeError(f"{name} has {A.ndim} dimensions, and should have 2")
    return A


def _by_columns(A):
    return np.ascontiguousarray(np.swapaxes(A._bounds, 0, 1)).reshape(-1, 2)


def _from_columns(pairs, rows, cols):
    return _made(np.ascontiguousarray(np.swapaxes(pairs.reshape(cols, rows, 2), 0, 1)), (rows, cols))


def _require_fit(A, B):
    if A.shape[1] != B.shape[0]:
        raise ShapeError(f"shapes {A.shape} and {B.shape} do not fit")


def matmul(A, B, *, mode="fast", threads=None):
    """Encloses the product of two matrices, of numbers or intervals, or of a matrix and a vector: mode "fast", "tight" or
    "exact"."""
    if mode not in ("fast", "tight", "exact"):
        raise InputError(f"mode is {mode!r}: fast, tight or exact")
    if np.ndim(A) == 1 or np.ndim(B) == 1:
        row, column = interval(A), interval(B)
        shape = row.shape[:-1] + column.shape[1:]
        row = row.reshape(1, -1) if row.ndim == 1 else row
        column = column.reshape(column.shape[0], 1) if column.ndim == 1 else column
        return matmul(row, column, mode=mode, threads=threads).reshape(shape)
    if not isinstance(A, IntervalArray) and not isinstance(B, IntervalArray):
        A, B = (np.asfortranarray(_operands.real_array(v, n, 2)) for v, n in ((A, "A"), (B, "B")))
        _require_fit(A, B)
        for v, n in ((A, "A"), (B, "B")):
            _operands.require_finite(v, n)
        return _from_columns(_core.interval_matmul_points(A, B, mode, chosen(threads)), A.shape[0], B.shape[1])
    A, B = _matrix(A, "A"), _matrix(B, "B")
    _require_fit(A, B)
    pairs = _core.interval_matmul(_by_columns(A), _by_columns(B), A.shape[0], A.shape[1], B.shape[1], mode, chosen(threads))
    return _from_columns(pairs, A.shape[0], B.shape[1])


def _square(A):
    A = _matrix(A, "A")
    if A.shape[0] != A.shape[1]:
        raise ShapeError(f"A is {A.shape[0]} by {A.shape[1]}, not square")
    return A


def interval_solve(A, B, *, threads=None):
    """Encloses all X with A X = B for points of A and B; raises InputError where that cannot be proved."""
    A, B = _square(A), interval(B)
    single = B.ndim == 1
    B = B.reshape(B.shape[0], 1) if single else _matrix(B, "B")
    if B.shape[0] != A.shape[0]:
        raise ShapeError(f"B has {B.shape[0]} rows, A {A.shape[0]}")
    verdict, pairs = _core.interval_solve(_by_columns(A), _by_columns(B), A.shape[0], B.shape[1], chosen(threads))
    if verdict != "verified":
        raise InputError(f"interval_solve: {verdict}")
    X = _from_columns(pairs, *B.shape)
    return X.reshape(B.shape[0]) if single else X


def inv(A, *, threads=None):
    """Encloses the inverses of all matrices in A; raises InputError where that cannot be proved."""
    A = _square(A)
    verdict, pairs = _core.interval_inverse(_by_columns(A), A.shape[0], chosen(threads))
    if verdict != "verified":
        raise InputError(f"inv: {verdict}")
    return _from_columns(pairs, *A.shape)


def det(A, *, threads=None):
    """Encloses the determinants of all matrices in A."""
    A = _square(A)
    _, lo, hi = _core.interval_determinant(_by_columns(A), A.shape[0], chosen(threads))
    return IntervalArray(np.array([lo, hi]))


def fsum(x, *, threads=None):
    """The exact sum of an array, rounded once."""
    return _core.rounded_sum(np.ravel(_operands.real_array(x, "x")), chosen(threads))[1]


def dot(x, y, *, threads=None):
    """The exact inner product of two vectors, rounded once."""
    x, y = (np.ascontiguousarray(_operands.real_array(v, n, 1)) for v, n in ((x, "x"), (y, "y")))
    if x.shape != y.shape:
        raise ShapeError(f"vectors of {x.shape[0]} and {y.shape[0]} elements")
    return _core.rounded_dot(x, y, chosen(threads))[1]
