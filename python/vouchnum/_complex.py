"""Complex systems by their real form: a + bi is the block [a -b; b a], so that vectors stay as they lie in memory."""
import dataclasses

import numpy as np

from . import _operands, linalg
from .errors import InputError, ShapeError


def _kind(value):
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is not None or dtype is not None:
        return kind or ("c" if "complex" in str(dtype) else "f")
    return "c" if isinstance(value, (list, tuple)) and np.iscomplexobj(np.asarray(value)) else "f"


def among(*operands):
    """Whether one of them holds complex numbers."""
    return any(_kind(value) == "c" for value in operands)


def parts(values, name):
    """Real and imaginary parts in turns, along the first axis."""
    array = np.asarray(values)
    if array.ndim not in (1, 2):
        raise ShapeError(f"{name} has {array.ndim} dimensions")
    if array.dtype.kind not in "cfiub" or array.dtype.itemsize > 16 or array.dtype == np.float16:
        raise InputError(f"{name} is of type {array.dtype}: numbers of at least 32 bits a part, at most double precision")
    return np.ascontiguousarray(array.T, dtype=np.complex128).view(np.float64).T


def joined(array):
    """The complex numbers whose parts these are."""
    return np.ascontiguousarray(array.T, dtype=np.float64).view(np.complex128).T


def _action(A, name):
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

        if A.dtype.kind not in "cfiub" or A.dtype.itemsize > 16:
            raise InputError(f"A is of type {A.dtype}: numbers of at most double precision are wanted")
        A = sparse.csr_array(A)
        turned = sparse.csr_array([[0.0, -1.0], [1.0, 0.0]])
        form = sparse.kron(A.real, sparse.eye_array(2), "csr") + sparse.kron(A.imag, turned, "csr")
        return sparse.csr_array(form)
    if callable(A) or hasattr(A, "matvec"):
        return _action(A, "A")
    A = np.asarray(A)
    if A.ndim != 2:
        raise ShapeError(f"A has {A.ndim} dimensions")
    form = np.empty((2 * A.shape[0], 2 * A.shape[1]))
    form[0::2, 0::2] = form[1::2, 1::2] = A.real
    form[1::2, 0::2] = A.imag
    form[0::2, 1::2] = -A.imag
    return form


class Enclosure(linalg.Enclosure):
    """Discs: |x - x*| <= radius, moduli, in every component, if `verified`; `parts` bounds real and imaginary parts."""

    def __init__(self, of_parts, shape, asked):
        self.parts = of_parts
        self.x = joined(of_parts.x).reshape(shape)
        self._proof = dict(of_parts._proof)
        self.radius = None
        if not of_parts.verified:
            return
        pairs = joined(of_parts.radius).reshape(shape)
        # hypot, the quotient and the difference err by less than an ulp each.
        up = 1 + 2.0**-50
        self.radius = np.hypot(pairs.real, pairs.imag) * up
        least = np.abs(self.x) * (1 - 2.0**-50) - self.radius
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(self.radius == 0, 0.0, np.where(least > 0, self.radius / least * up, np.inf))
        most = float(relative.max(initial=0.0))
        self._proof.update(max_absolute=float(self.radius.max(initial=0.0)), max_relative=most,
                           median_relative=float(np.median(relative)) if relative.size else 0.0,
                           reached=asked == 0 or most <= asked,
                           digits=15 if most < 1e-15 else max(0, int(np.floor(-np.log10(most)))) if most > 0 else 15)

    @property
    def lower(self):
        raise InputError("complex numbers have no order: `parts` has bounds of real and imaginary parts")

    upper = lower

    def interval(self):
        return self.lower

    def __contains__(self, y):
        return bool(self.verified and (np.abs(np.asarray(y) - self.x) <= self.radius).all())


def _result(result, shape, asked=0.0):
    enclosure = None if result.enclosure is None else Enclosure(result.enclosure, shape, asked)
    return dataclasses.replace(result, x=joined(result.x).reshape(shape), enclosure=enclosure)


def solve(A, b, *, x0=None, precond=None, out=None, iterates=None, raise_on_failure=False, **keywords):
    """linalg.solve() where one of A, b, x0 and precond is complex."""
    shape = np.shape(b)
    if precond is not None and not isinstance(precond, str):
        precond = _action(precond, "M")
    heard = None if iterates is None else lambda x: iterates(joined(x))
    result = linalg.solve(real_form(A), parts(b, "b"), x0=None if x0 is None else parts(x0, "x0"), precond=precond,
                          iterates=heard, **keywords)
    result = _result(result, shape, linalg._relative(keywords["verify"]) if keywords.get("verify") else 0.0)
    if out is not None:
        _operands.writable(out, "out", shape)[...] = result.x
        result = dataclasses.replace(result, x=out)
    return result.raise_for_status() if raise_on_failure else result


class Factor(linalg.Factor):
    """linalg.Factor of a complex matrix."""

    def __init__(self, A, method, threads):
        super().__init__(real_form(A), method, threads)
        self._made_of = A, method, threads
        self.shape = A.shape

    def solve(self, b, *, out=None):
        result = _result(super().solve(parts(b, "b")), np.shape(b))
        if out is not None:
            _operands.writable(out, "out", np.shape(b))[...] = result.x
        return result

    def as_operator(self):
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.shape, matvec=lambda v: self.solve(np.ravel(v)).x, dtype=np.complex128)

    def __reduce__(self):
        return Factor, self._made_of


def verify(A, b, x, digits=None, relative=None, **keywords):
    """linalg.verify() where one of A, b and x is complex."""
    asked = linalg._relative(int(digits)) if digits is not None else float(relative or 0.0)
    of_parts = linalg.verify(real_form(A), parts(b, "b"), parts(x, "x"), digits=digits, relative=relative, **keywords)
    return Enclosure(of_parts, np.shape(x), asked)
