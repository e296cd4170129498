"""Complex systems by their real form: a + bi is the block [a -b; b a], so that vectors stay as they lie in memory."""
import dataclasses

import numpy as np

from . import _core, _operands, linalg
from .errors import InputError, ShapeError


def _kind(value):
    if type(value) is np.ndarray:
        return value.dtype.kind
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is not None or dtype is not None:
        return kind or ("c" if "complex" in str(dtype) else "f")
    if not isinstance(value, (list, tuple)):
        return "f"
    try:
        return "c" if np.iscomplexobj(np.asarray(value)) else "f"
    except ValueError:  # no array: that is said where it is taken
        return "f"


def among(*operands):
    """Whether one of them holds complex numbers."""
    for value in operands:
        if value is not None and _kind(value) == "c":
            return True
    return False


def parts(values, name):
    """Real and imaginary parts in turns, along the first axis."""
    array = _operands.complex_array(values, name, (1, 2))
    _operands.require_finite(array, name)
    return np.ascontiguousarray(array.T).view(np.float64).T


def joined(array):
    """The complex numbers whose parts these are."""
    return np.ascontiguousarray(array.T, dtype=np.float64).view(np.complex128).T


def _action(A, name):
    if _operands.is_sparse(A):
        _operands.Sparse.check(A, name)
    apply = (lambda v: A @ v) if _operands.is_sparse(A) or isinstance(A, np.ndarray) else getattr(A, "matvec", A)
    if not callable(apply):
        raise InputError(f"{name} is a {type(A).__name__}: an operator or a function is wanted")
    return lambda v: parts(np.asarray(apply(joined(v))).reshape(-1), name)


def real_form(A):
    """What solves for the parts of x as A does for x: a matrix, or a function where A is no matrix."""
    if isinstance(A, linalg.Tridiagonal):
        raise InputError("tridiagonal matrices by their diagonals are of real numbers: give a sparse matrix")
    A = _operands.scipy_from_torch(A, "A")
    if _operands.is_sparse(A):
        from scipy import sparse

        S = _operands.Sparse(A, parts=2)
        _operands.require_finite(S.data, "A")
        rows, cols, indptr, indices, data = _core.real_form(*S.shape, S.indptr.astype(np.int64, copy=False), S.indices, S.data)
        return sparse.csr_array((data, indices, indptr), shape=(rows, cols))
    if callable(A) or hasattr(A, "matvec"):
        return _action(A, "A")
    A = _operands.complex_array(A, "A", 2)
    _operands.require_finite(A, "A")
    form = np.empty((2 * A.shape[0], 2 * A.shape[1]))
    form[0::2, 0::2] = form[1::2, 1::2] = A.real
    form[1::2, 0::2] = A.imag
    form[0::2, 1::2] = -A.imag
    return form


class Enclosure(linalg.Enclosure):
    """Discs: |x - x*| <= radius, moduli, in every component, if `verified`; `parts` bounds real and imaginary parts."""

    def __init__(self, of_parts, shape):
        self.parts = of_parts
        self.x = joined(of_parts.x).reshape(shape)
        self._proof = of_parts._proof  # its numbers are moduli already
        self.radius = self._proof["moduli"].reshape(shape, order="F") if of_parts.verified else None

    @property
    def lower(self):
        raise InputError("complex numbers have no order: `parts` has bounds of real and imaginary parts")

    upper = lower

    def interval(self):
        return self.lower

    def __contains__(self, y):
        return bool(self.verified and (np.abs(np.asarray(y) - self.x) <= self.radius).all())


def _require_fit(A, *vectors):
    """That shapes fit together: behind this the parts of numbers are counted."""
    shape = _operands.shape_of(A)
    if len(shape) != 2:
        return
    if shape[0] != shape[1] and not _operands.is_sparse(A):
        raise ShapeError(f"A is {shape[0]} by {shape[1]}, not square")
    for name, vector in zip(("b", "x"), vectors):
        rows = next(iter(_operands.shape_of(vector)), None)
        if rows is not None and rows != shape[name == "x"]:
            raise ShapeError(f"{name} has {rows} rows, the matrix {shape[name == 'x']}")


def _result(result, b):
    """With complex numbers of b's shape and library."""
    enclosure = None if result.enclosure is None else Enclosure(result.enclosure, np.shape(b))
    x = joined(result.x).reshape(np.shape(result.x)[0] // 2, *np.shape(b)[1:])
    return dataclasses.replace(result, x=_operands.library_of(b)(x), enclosure=enclosure)


def solve(A, b, *, x0=None, precond=None, out=None, iterates=None, raise_on_failure=False, **keywords):
    """linalg.solve() where one of A, b, x0 and precond is complex."""
    for option in ("coordinates", "near_nullspace"):
        if keywords.get(option) is not None:
            raise InputError(f"{option} is for real matrices")
    _require_fit(A, b)
    if precond is not None and not isinstance(precond, str):
        precond = _action(precond, "precond")
    heard = None if iterates is None else lambda x: iterates(joined(x))
    start = None if x0 is None else parts(x0, "x0")
    result = linalg._solve(real_form(A), parts(b, "b"), 2, x0=start, precond=precond, iterates=heard, out=None,
                           raise_on_failure=False, **keywords)
    result = _result(result, b)
    if out is not None:
        _operands.writable(out, "out", np.shape(result.x), "c")[...] = np.asarray(result.x)
        result = dataclasses.replace(result, x=out)
    return result.raise_for_status() if raise_on_failure else result


class Factor(linalg.Factor):
    """linalg.Factor of a complex matrix."""

    def __init__(self, A, method, threads):
        super().__init__(real_form(A), method, threads, 2)
        self._made_of = A, method, threads
        self.shape = _operands.shape_of(A)

    def solve(self, b, *, out=None):
        _require_fit(self._made_of[0], b)
        result = _result(super().solve(parts(b, "b")), b)
        if out is not None:
            _operands.writable(out, "out", np.shape(result.x), "c")[...] = np.asarray(result.x)
            result = dataclasses.replace(result, x=out)
        return result

    def as_operator(self):
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.shape, matvec=lambda v: self.solve(np.ravel(v)).x, dtype=np.complex128)

    def __reduce__(self):
        return Factor, self._made_of


def verify(A, b, x, *, threads=None, **keywords):
    """linalg.verify() where one of A, b and x is complex."""
    _require_fit(A, b, x)
    certificate = linalg.Certificate(real_form(A), threads, 2)
    proof = linalg.verify(certificate.matrix, parts(b, "b"), parts(x, "x"), certificate=certificate, **keywords)
    return Enclosure(proof, np.shape(x))
