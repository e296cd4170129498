"""SciPy's signatures over Vouch: a program changes one import.

Solvers return what SciPy's return, and call back as those do; the residual behind `info == 0` was recomputed in twice the
precision. Complex systems are solved by their real form.
"""
import errno
import os
import tempfile

import warnings

import numpy as np
from scipy import io, sparse
from scipy.sparse.linalg import aslinearoperator

from . import _core, _operands, linalg
from ._threads import chosen
from .errors import InputError, ParseError


def _applied(M, v):
    return np.asarray(M.matvec(v) if hasattr(M, "matvec") else M @ v).reshape(-1)


def _iterative(method, A, b, x0, rtol, atol, maxiter, M, callback, callback_type="x"):
    if atol is None or not np.isscalar(atol):
        raise ValueError(f"atol is {atol!r}, and should be a number")
    b = np.asarray(b)
    if b.ndim not in (1, 2) or (b.ndim == 2 and b.shape[1] != 1):
        raise ValueError(f"b has shape {b.shape}, and should be a vector")
    b = b.ravel()
    if not (hasattr(A, "shape") and len(A.shape) == 2):
        A = np.asarray(A)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix (shape={A.shape})")
    if A.shape[0] != b.shape[0]:
        raise ValueError(f"shapes of A {A.shape} and b {b.shape} are incompatible")
    wanted = np.result_type(getattr(A, "dtype", None) or np.float64, b.dtype)
    if wanted not in (np.float32, np.complex64, np.complex128):
        wanted = np.dtype(np.float64)
    if isinstance(x0, str):
        if x0 != "Mb":
            raise ValueError(f"x0 is {x0!r}: a vector or 'Mb'")
        x0 = b if M is None else _applied(M, b)
    if isinstance(A, np.matrix):
        A = np.asarray(A)
    if x0 is not None:
        x0 = np.asarray(x0).ravel()
        if x0.dtype.kind != "c":
            x0 = x0.astype(np.float64, copy=False)
    told = {}
    if callback is not None and callback_type == "x":
        def iterates(x):
            callback(x.astype(wanted, copy=False))

        told["iterates"] = iterates
    elif callback is not None:
        norm = float(np.linalg.norm(b)) or 1.0

        def residuals(iteration, residual, _):
            if iteration > 0:
                callback(np.float64(residual / norm))

        told["callback"] = residuals
    def solved(A):
        return linalg.solve(A, b, method=method, x0=x0, rtol=rtol, atol=atol, max_iterations=maxiter, precond=M, **told)

    try:
        result = solved(A)
    except InputError:
        if method not in ("cg", "minres") or not _hermitian_but_for_rounding(A):
            raise
        result = solved(aslinearoperator(A))
    if result.x.dtype.kind == "c" and wanted.kind != "c":
        wanted = result.x.dtype  # of a complex start or preconditioner
    x = result.x.astype(wanted, copy=False)
    info = result.info
    if info > 0 and maxiter is not None:
        info = max(1, min(info, maxiter))
    return x, info


def _hermitian_but_for_rounding(A):
    """Whether a matrix that the library found not Hermitian misses it by the last bits alone, as computed products do."""
    if not (sparse.issparse(A) or isinstance(A, np.ndarray)) or A.shape[0] == 0 or A.dtype.kind not in "fc":
        return False
    if sparse.issparse(A):
        A = _operands.Sparse(A, parts=2).csr  # refuses broken indices, which SciPy would follow
    apart = abs(A - A.conj().T).max()
    return bool(0 < apart <= A.shape[0] * np.finfo(np.float64).eps * abs(A).max())


def cg(A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    """scipy.sparse.linalg.cg"""
    return _iterative("cg", A, b, x0, rtol, atol, maxiter, M, callback)


def _shifted(A, shift):
    """A - shift I, as a matrix where A is one."""
    if sparse.issparse(A):
        return A - shift * sparse.eye_array(A.shape[0], format="csr")
    if hasattr(A, "matvec"):
        return aslinearoperator(A) - shift * aslinearoperator(sparse.eye_array(A.shape[0], dtype=A.dtype))
    A = np.asarray(A)
    return A - shift * np.eye(A.shape[0])


def minres(A, b, x0=None, *, rtol=1e-05, shift=0.0, maxiter=None, M=None, callback=None, show=False, check=False):
    """scipy.sparse.linalg.minres, stopped by the true residual, of A - shift I where there is one"""
    if shift:
        A = _shifted(A, shift)
    return _iterative("minres", A, b, x0, rtol, 0.0, maxiter, M, callback)


def gmres(A, b, x0=None, *, rtol=1e-05, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None):
    """scipy.sparse.linalg.gmres; maxiter counts restarts of `restart` products, as there, and with callback_type "legacy"
    products. Residuals are of the system without its preconditioner, which is applied on the right."""
    if callback is not None and callback_type is None:
        warnings.warn("scipy.sparse.linalg.gmres called without specifying `callback_type`: it is 'legacy'",
                      DeprecationWarning, stacklevel=2)
    if callback_type not in ("x", "pr_norm", "legacy", None):
        raise ValueError(f"Unknown callback_type: {callback_type!r}")
    if maxiter is not None and (callback is None or callback_type in ("x", "pr_norm")):
        maxiter = maxiter * min(restart or 20, np.asarray(b).shape[0] or 1)
    return _iterative("gmres", A, b, x0, rtol, atol, maxiter, M, callback, callback_type or "legacy")


def bicgstab(A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None):
    """scipy.sparse.linalg.bicgstab"""
    return _iterative("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback)


def spsolve(A, b, permc_spec=None, use_umfpack=True):
    """scipy.sparse.linalg.spsolve; the ordering is Vouch's own"""
    if not sparse.issparse(A):
        A = sparse.csc_array(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {A.shape})")
    b = b if sparse.issparse(b) else np.asarray(b)
    if b.shape[:1] != A.shape[:1]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {b.shape})")
    dtype = np.result_type(A.dtype, b.dtype, np.float32)
    vector = b.ndim == 1 or (b.ndim == 2 and b.shape[1] == 1)
    rhs = b.toarray() if sparse.issparse(b) else np.asarray(b)
    try:
        x = SuperLU(A).solve(rhs).astype(dtype)
    except RuntimeError:
        warnings.warn("Matrix is exactly singular", sparse.linalg.MatrixRankWarning, stacklevel=2)
        x = np.full(rhs.shape, np.nan, dtype)
    if vector:
        return x.ravel()
    return type(A)(x) if sparse.issparse(b) else x


def factorized(A):
    """scipy.sparse.linalg.factorized"""
    return splu(A).solve


class SuperLU:
    """What splu returns: `solve`, `shape` and `nnz`; the factors themselves stay inside."""

    def __init__(self, A):
        A = A if sparse.issparse(A) else sparse.csc_array(A)
        if A.shape[0] != A.shape[1]:
            raise ValueError("can only factor square matrices")
        self.shape, self.nnz, self._of = A.shape, A.nnz, A
        self._factors = {}
        self._solved(np.ones(A.shape[0]), "N")  # factorises, and sees whether A is singular

    def solve(self, rhs, trans="N"):
        rhs = np.asarray(rhs)
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        if rhs.dtype.kind == "c" and self._of.dtype.kind != "c":
            return self.solve(rhs.real, trans) + 1j * self.solve(rhs.imag, trans)
        if rhs.ndim not in (1, 2):
            raise ValueError("object too deep for desired array")
        if rhs.shape[:1] != self.shape[:1]:
            raise ValueError(f"rhs is of incompatible size: {rhs.shape} for a matrix of {self.shape}")
        return _said(self._solved(rhs, trans)).x

    def _solved(self, rhs, trans):
        if trans not in self._factors:
            of = {"N": lambda A: A, "T": lambda A: A.T.tocsr(), "H": lambda A: A.conj().T.tocsr()}[trans](self._of)
            self._factors[trans] = linalg.factor(of)
        result = self._factors[trans].solve(rhs)
        if not result.report["has_solution"]:
            raise RuntimeError("Factor is exactly singular")
        return result


def splu(A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None):
    """scipy.sparse.linalg.splu; what tunes SuperLU has no effect"""
    return SuperLU(A)


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """scipy.linalg.solve_banded: real tridiagonal matrices by their diagonals, all others as sparse ones;
    whether numbers are finite is always looked at"""
    lower, upper = (int(width) for width in l_and_u)
    if min(lower, upper) < 0:
        raise ValueError(f"invalid values for the number of lower and upper diagonals: {lower}, {upper}")
    ab, b = np.asarray(ab), np.asarray(b)
    if ab.ndim != 2 or b.ndim not in (1, 2) or ab.shape[1] != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    if ab.shape[0] != lower + upper + 1:
        raise ValueError(f"invalid values for the number of lower and upper diagonals: l+u+1 ({lower + upper + 1}) does not "
                         f"equal ab.shape[0] ({ab.shape[0]})")
    wanted = np.result_type(ab.dtype, b.dtype, np.float32)
    if b.size == 0:
        return np.empty_like(b, dtype=wanted)
    is_complex = np.iscomplexobj(ab) or np.iscomplexobj(b)
    if (lower, upper) == (1, 1) and not is_complex:
        A = linalg.Tridiagonal.from_banded(ab)
    else:
        n = ab.shape[1]
        A = sparse.dia_array((ab, np.arange(upper, -lower - 1, -1)), shape=(n, n)).tocsr()
    try:
        result = linalg.solve(A, b) if isinstance(A, linalg.Tridiagonal) and b.ndim == 1 else _factored(A, b)
    except InputError:
        if np.isfinite(ab).all() and np.isfinite(b).all():
            raise
        raise ValueError("array must not contain infs or NaNs") from None
    if not result.report["has_solution"]:
        raise np.linalg.LinAlgError("singular matrix")
    return _said(result).x.astype(wanted, copy=False)


def _said(result):
    """The result, after a warning where its residual is not small: SciPy's functions have no other word for it."""
    if not result.converged:
        warnings.warn(f"the residual is {result.relative_residual:.1e} of b: {result.reason}",
                      sparse.linalg.MatrixRankWarning, stacklevel=3)
    return result


def _factored(A, b):
    if np.iscomplexobj(b) and not np.iscomplexobj(A):
        A = A.astype(np.complex128)
    return linalg.factor(A).solve(b)


class _scipys:
    """What SciPy reads and writes itself, as it is at the time of the import."""

    mminfo, mmread, mmwrite = staticmethod(io.mminfo), staticmethod(io.mmread), staticmethod(io.mmwrite)


def _path(source):
    """The file that SciPy would open, or None where that is no plain or gzipped file."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fspath(source)
    for name in (path, path + ".mtx", path + ".mtx.gz", path + ".mtx.bz2"):
        if os.path.exists(name):
            return None if name.endswith(".bz2") else name
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _header(path):
    """What Vouch reads of it; None for fields that SciPy reads: complex numbers, unsigned integers."""
    try:
        header = _core.read_header(path)
        return None if header["field"] == "complex" else header
    except ParseError as e:
        if e.line > 1:
            raise
        return None


def mminfo(source):
    """scipy.io.mminfo"""
    path = _path(source)
    h = _header(path) if path else None
    if h is None:
        return _scipys.mminfo(source)
    entries = h["rows"] * h["cols"] if h["format"] == "array" else h["entries"]
    return h["rows"], h["cols"], entries, h["format"], h["field"], h["symmetry"]


def _beyond_exact(values):
    """Whether integers that were read as doubles may have lost digits."""
    return values.size > 0 and max(values.max(), -values.min()) >= 2.0**53


def mmread(source, *, spmatrix=True):
    """scipy.io.mmread: real, integer and pattern files by Vouch's reader; streams, complex numbers, integers beyond 2**53, and
    symmetric files with entries in the other triangle by SciPy's"""
    path = _path(source)
    header = _header(path) if path else None
    if header is None:
        return _scipys.mmread(source, spmatrix=spmatrix)
    integers = header["field"] == "integer"
    if header["format"] == "array":
        try:
            dense = np.ascontiguousarray(_core.read_any(path, chosen(None)))
        except ParseError as e:
            if "overflows 64-bit integers" in str(e):
                raise OverflowError(str(e)) from None
            raise
        if integers and _beyond_exact(dense):
            return _scipys.mmread(source, spmatrix=spmatrix)
        return dense.astype(np.int64) if integers else dense
    try:
        header, row, col, val = _core.read_triplets(path, chosen(None))
    except ParseError as e:
        if "overflows 64-bit integers" in str(e):
            raise OverflowError(str(e)) from None
        if "diagonal" in str(e):  # entries where the format forbids them, which SciPy takes
            return _scipys.mmread(source, spmatrix=spmatrix)
        raise
    if integers and _beyond_exact(val):
        return _scipys.mmread(source, spmatrix=spmatrix)
    val = val.astype(np.int64) if integers else val
    make = sparse.coo_matrix if spmatrix else sparse.coo_array
    return make((val, (row, col)), shape=(header["rows"], header["cols"]))


def mmwrite(target, a, comment="", field=None, precision=None, symmetry="AUTO"):
    """scipy.io.mmwrite of real sparse matrices and dense arrays, with the shortest numbers that read back exactly.

    With a comment, a field or a precision, and for complex numbers and streams, it is SciPy's own.
    """
    plain = not comment and field in (None, "real") and precision is None and isinstance(target, (str, os.PathLike))
    real = plain and getattr(a, "dtype", np.asarray(a).dtype if not _operands.is_sparse(a) else None) in (np.float64,)
    if not (real and _operands.is_sparse(a)) or symmetry not in ("AUTO", None, "general"):
        return _scipys.mmwrite(target, a, comment=comment, field=field, precision=precision, symmetry=symmetry)
    from . import data

    path = os.fspath(target)
    path = path if path.endswith((".mtx", ".mtx.gz")) else path + ".mtx"
    kind = "general"
    if symmetry == "AUTO" and a.shape[0] == a.shape[1] and _core.info(*_facts_of(a))["symmetric"]:
        kind = "symmetric"
    data.write_matrix(path, a, symmetry=kind)


def _facts_of(a):
    S = _operands.Sparse(a)
    return (*S.shape, S.indptr.astype(np.int64, copy=False), S.indices, S.data, chosen(None))
