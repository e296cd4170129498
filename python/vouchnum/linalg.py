"""Linear systems: solved, factored, and their solutions proved."""
import math
import operator
from dataclasses import dataclass, field
from inspect import signature

import numpy as np

from . import _core, _gpu, _lapack, _operands
from ._threads import chosen
from .errors import InputError, NotConverged, NotVerified, ShapeError


def methods():
    """The names that `method` takes, besides "auto"."""
    return _core.method_names()


def preconditioners():
    """What `precond` takes, with the parameters in brackets."""
    return _core.precondition_names()


class Tridiagonal:
    """Tridiagonal matrices, one or a batch: row i is dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1].

    Parameters
    ----------
    dl, d, du : array_like, (n,) or (m, n)
        The diagonals, of equal shape; m matrices of n rows where there are two dimensions. dl of a first row and du of
        a last one are not used unless `periodic`: then they couple the first unknown and the last.

    >>> T = Tridiagonal([0, -1, -1], [2, 2, 2], [-1, -1, 0])
    >>> print(vn.solve(T, [1.0, 0.0, 1.0]).x)
    [1. 1. 1.]
    """

    def __init__(self, dl, d, du, *, periodic=False):
        self.dl, self.d, self.du = (
            _operands.laid_out(_operands.real_array(v, name, (1, 2)), name) for v, name in ((dl, "dl"), (d, "d"), (du, "du")))
        if not self.dl.shape == self.d.shape == self.du.shape:
            raise ShapeError(f"dl, d and du have shapes {self.dl.shape}, {self.d.shape} and {self.du.shape}")
        self.periodic = bool(periodic)

    @property
    def systems(self):
        return self.d.shape[0] if self.d.ndim == 2 else 1

    @property
    def n(self):
        return self.d.shape[-1]

    @property
    def shape(self):
        return (self.n, self.n)

    @classmethod
    def from_banded(cls, ab):
        """From the three rows that `scipy.linalg.solve_banded((1, 1), ab, b)` takes."""
        ab = _operands.real_array(ab, "ab", 2)
        if ab.shape[0] != 3:
            raise ShapeError(f"ab has {ab.shape[0]} rows, and should have 3")
        dl, du = np.zeros_like(ab[1]), np.zeros_like(ab[1])
        dl[1:], du[:-1] = ab[2, :-1], ab[0, 1:]
        return cls(dl, ab[1], du)

    def to_sparse(self):
        """One matrix as a SciPy array."""
        from scipy import sparse

        if self.systems != 1:
            raise ShapeError(f"a batch of {self.systems} matrices is no sparse matrix")
        dl, d, du, n = self.dl.ravel(), self.d.ravel(), self.du.ravel(), self.n
        rows = np.arange(n)
        parts = [(rows, rows, d), (rows[1:], rows[:-1], dl[1:]), (rows[:-1], rows[1:], du[:-1])]
        if self.periodic and n:
            parts += [(rows[:1], rows[-1:], dl[:1]), (rows[-1:], rows[:1], du[-1:])]
        row, col, value = (np.concatenate(p) for p in zip(*parts))
        return sparse.csr_array((value, (row, col)), shape=(n, n))


@dataclass(frozen=True)
class Result:
    """A solution and what is known of it; unpacks as SciPy's pair `x, info`.

    `converged` means that ||b - A x|| <= max(rtol ||b||, atol) for this x, recomputed in twice the working precision.
    """

    x: np.ndarray
    status: str
    reason: str
    method: str
    iterations: int
    relative_residual: float
    backward_error: float
    tolerance: float
    report: dict = field(repr=False)
    enclosure: "Enclosure | None" = field(default=None, repr=False)

    @property
    def converged(self):
        return self.status == "converged"

    @property
    def success(self):
        """Converged, or ended as it was asked to."""
        return self.report["goal_reached"]

    @property
    def info(self):
        """As SciPy says it: 0, the iterations that were not enough, or -1 where there is no solution."""
        if self.success:
            return 0
        return max(1, self.iterations) if self.report["has_solution"] else -1

    @property
    def warnings(self):
        return tuple(self.report["warnings"])

    @property
    def history(self):
        """Recorded iterations: a structured array of iteration, residual and column."""
        return np.array([tuple(line) for line in self.report["history"]],
                        dtype=[("iteration", "i8"), ("residual", "f8"), ("column", "i8")])

    @property
    def condition_estimate(self):
        return self.report["condition_estimate"]

    @property
    def error_estimate(self):
        return self.report["error_estimate"]

    @property
    def timings(self):
        """Seconds: setup, transfer, solve, cuda_start."""
        return dict(self.report["times"])

    def __iter__(self):
        return iter((self.x, self.info))

    def __bool__(self):
        raise TypeError("the truth of a Result is not clear: say .converged or .success")

    def raise_for_status(self):
        """Itself where it converged or ended as asked; else NotConverged."""
        if not self.success:
            raise NotConverged(self)
        return self

    def to_dict(self):
        """What `vouch solve --json` says of a solve (vouch.solve/1): its keys, but for those of files and of the machine."""
        times, bound = self.report["times"], {} if self.enclosure is None else {"error_bound": self.enclosure.to_dict()}
        return {"schema": "vouch.solve/1", **self.report["described"], **bound,
                "time_s": {part: times[part] for part in ("setup", "transfer", "solve", "cuda_start")}}

    def _repr_html_(self):
        rows = [("status", self.status), ("reason", self.reason), ("method", self.method),
                ("iterations", self.iterations), ("relative residual", f"{self.relative_residual:.3g}"),
                ("backward error", f"{self.backward_error:.3g}")]
        body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table>{body}</table>{_convergence_svg(self.history)}"


def _convergence_svg(history, width=420, height=160):
    residuals = history["residual"]
    good = np.isfinite(residuals) & (residuals > 0)
    if good.sum() < 2:
        return ""
    at, y = history["iteration"][good], np.log10(residuals[good])
    spread, most = max(np.ptp(y), 1e-9), max(int(at.max()), 1)
    path = " ".join(f"{10 + (width - 20) * a / most:.1f},{10 + (height - 20) * (y.max() - v) / spread:.1f}"
                    for a, v in zip(at, y))
    return (f'<svg width="{width}" height="{height}" role="img" aria-label="residual by iteration">'
            f'<polyline fill="none" stroke="currentColor" points="{path}"/></svg>')


class Enclosure:
    """Where the exact solution lies: `|x - x*| <= radius` in every component, if `verified`.

    Its truth is not that of a proof by accident: say `.verified`.
    """

    def __init__(self, x, proof, order):
        self.x = x
        self._proof = proof
        self.radius = proof["radius"].reshape(x.shape, order=order) if proof["verified"] else None

    verified = property(lambda self: self._proof["verified"])
    reached = property(lambda self: self._proof["reached"], doc="Whether the digits that were asked for are proved.")
    method = property(lambda self: self._proof["method"])
    reason = property(lambda self: self._proof["reason"])
    digits = property(lambda self: self._proof["digits"] if self.verified else 0)

    def _number(self, name):
        return self._proof[name] if self.verified else math.nan

    max_absolute = property(lambda self: self._number("max_absolute"))
    max_relative = property(lambda self: self._number("max_relative"))
    median_relative = property(lambda self: self._number("median_relative"))
    condition_estimate = property(lambda self: self._number("condition_estimate"))

    @property
    def lower(self):
        """Bounds of every component from below, rounded downwards."""
        self.raise_if_unverified()
        return np.nextafter(self.x - self.radius, -np.inf)

    @property
    def upper(self):
        self.raise_if_unverified()
        return np.nextafter(self.x + self.radius, np.inf)

    def interval(self):
        from .intervals import IntervalArray

        return IntervalArray(np.stack([self.lower, self.upper], axis=-1))

    def __contains__(self, y):
        y = np.asarray(y, dtype=np.float64)
        return bool(self.verified and ((self.lower <= y) & (y <= self.upper)).all())

    def __bool__(self):
        raise TypeError("the truth of an Enclosure is not clear: say .verified")

    def raise_if_unverified(self):
        if not self.verified:
            raise NotVerified(self)
        return self

    def to_dict(self):
        """What `vouch verify --json` says of a proof: the keys of its error_bound (vouch.verify/1)."""
        return dict(self._proof["described"])

    def __repr__(self):
        if not self.verified:
            return f"<Enclosure: not verified, {self.reason}>"
        return (f"<Enclosure by {self.method}: every component within {self.max_absolute:.3g}, "
                f"{self.digits} digits>")


def _rows_of(A):
    if not hasattr(A, "shape") or len(A.shape) != 2:
        raise ShapeError("a matrix that is a function alone needs b: its length is the number of rows")
    return A.shape


def _arrays(kept):
    """Those that a matrix is made of; none of a function."""
    if isinstance(kept, Tridiagonal):
        return kept.dl, kept.d, kept.du
    if isinstance(kept, _operands.Sparse):
        return kept.indptr, kept.indices, kept.data
    return (kept,) if isinstance(kept, np.ndarray) else ()


def _as_kept(A):
    """What a _System keeps of a matrix with entries."""
    A = _operands.scipy_from_torch(A, "A")
    if isinstance(A, Tridiagonal):
        return A
    return _operands.Sparse(A) if _operands.is_sparse(A) else _operands.real_array(A, "A", 2)


class _System:
    """A matrix of whatever kind with the extension's solver for it."""

    def __init__(self, A, options, M=None, threads=None, rows=None, parts=1):
        count = chosen(threads)
        if M is not None and hasattr(M, "shape") and hasattr(A, "shape") and tuple(M.shape) != tuple(A.shape):
            raise ShapeError(f"precond is {' by '.join(map(str, M.shape))}, the matrix {' by '.join(map(str, A.shape))}")
        M = _action(M, "precond") if M is not None else None
        self.batch = 1
        A = _operands.scipy_from_torch(A, "A")
        if isinstance(A, Tridiagonal):
            if M is not None:
                raise InputError("tridiagonal systems take no preconditioner")
            self.rows = self.cols = A.n * A.systems
            self.batch = A.systems
            self._kept = A
            self.core = _core.Solver.tridiagonal(A.dl.ravel(), A.d.ravel(), A.du.ravel(), A.systems, A.periodic, options,
                                                 count)
        elif _operands.is_sparse(A):
            S = _operands.Sparse(A)
            (self.rows, self.cols), self._kept = S.shape, S
            self.core = _core.Solver(S.shape[0], S.shape[1], S.indptr, S.indices, S.data, options, M, count)
        elif isinstance(A, np.ndarray) or not (callable(A) or hasattr(A, "matvec")):
            D = _operands.real_array(A, "A", 2)
            by_rows = not D.flags.f_contiguous
            D = _operands.laid_out(D, "A") if by_rows else D
            self.rows = self.cols = D.shape[0]
            self._kept = D
            if D.shape[0] != D.shape[1]:
                raise ShapeError(f"A is {D.shape[0]} by {D.shape[1]}, not square")
            _lapack.ensure()
            self.core = _core.Solver.dense(D.T if by_rows else D, by_rows, options, M, count)
        else:
            if rows is None:
                rows = _rows_of(A)[0]
            if hasattr(A, "shape") and tuple(A.shape) != (rows, rows):
                raise ShapeError(f"A is {A.shape[0]} by {A.shape[1]}, b has {rows} elements")
            self.rows = self.cols = rows
            self._kept = A
            self.core = _core.Solver.matrix_free(rows, _action(A, "A"), options, M, count)
        if parts != 1:  # of a component: two where A is the real form of a complex matrix
            self.core.parts = parts

    def solve(self, b, x0=None, out=None, callback=None, iterates=None):
        if self.batch > 1 or (isinstance(self._kept, Tridiagonal) and self._kept.d.ndim == 2):
            shape = self._kept.d.shape
            B = _operands.real_array(b, "b")
            if B.shape != shape:
                raise ShapeError(f"b has shape {B.shape}, the diagonals {shape}")
            B, single, full = np.ascontiguousarray(B).reshape(-1, 1), False, shape
        else:
            B, single = _operands.columns(b, "b", self.rows)
            full = (self.cols,) if single else (self.cols, B.shape[1])
        solution = self.cols, B.shape[1]
        order = "C" if len(full) == 2 and full != solution else "F"
        start = None
        if x0 is not None:
            start = _operands.real_array(x0, "x0")
            if start.shape != full and start.shape != solution:
                raise ShapeError(f"x0 has shape {start.shape}, the solution {full}")
            start = np.reshape(start, solution, order=order)
        target = None if out is None else _operands.writable(out, "out", full)
        in_place = (target is not None and target.dtype == np.float64 and target.flags[order + "_CONTIGUOUS"]
                    and not any(np.may_share_memory(target, read) for read in (B, start, *_arrays(self._kept)) if read is not None))
        X = target.reshape(solution, order=order) if in_place else np.empty(solution, order="F")
        X[...] = 0.0 if start is None else start
        report = self.core.solve(B, X, callback, iterates)
        x = X.reshape(full, order=order)
        if target is not None and not in_place:
            target[...] = x
        return B, X, x, single, report


def _action(A, name):
    """A function of an array that applies A."""
    if _operands.is_sparse(A) or isinstance(A, np.ndarray):
        if A.dtype.kind not in "fiub":
            raise InputError(f"{name} is of type {A.dtype}, and real numbers are wanted")
        if _operands.is_sparse(A):
            _operands.Sparse.check(A, name)
        return lambda v: np.ascontiguousarray(A @ v, dtype=np.float64)
    apply = A.matvec if hasattr(A, "matvec") else A
    if not callable(apply):
        raise InputError(f"{name} is a {type(A).__name__}: an operator or a function is wanted")

    def act(v):
        made = np.asarray(apply(v))
        if made.dtype.kind not in "fiub":
            raise InputError(f"{name} made numbers of type {made.dtype}, and real ones are wanted")
        if name == "A" and not np.isfinite(made).all():
            raise InputError("A made a NaN or an infinity")
        return np.ascontiguousarray(made.reshape(-1), dtype=np.float64)

    return act


def _whole(value, name, most):
    """A whole number from 1 to `most`, whatever its type."""
    try:
        number = operator.index(value)
    except TypeError:
        number = int(value) if isinstance(value, (float, np.floating)) and float(value).is_integer() else 0
    if isinstance(value, (bool, np.bool_)) or not 1 <= number <= most:
        raise InputError(f"{name} is {value!r}, and should be a whole number from 1 to {most}")
    return number


def _part(value, name):
    """A relative error between 0 and 1."""
    if not (isinstance(value, (float, np.floating)) and 0 < value < 1):
        raise InputError(f"{name} is {value!r}, and should be a relative error between 0 and 1")
    return float(value)


def _options(method, rtol, atol, max_iterations, precond, precision, extra, rows=None):
    options = {"method": method, "precision": precision}
    if precision not in ("double", "single", "mixed"):
        raise InputError(f"precision is {precision!r}, and should be double, single or mixed")
    if rtol is not None:
        options["rtol"] = _operands.number(rtol, "rtol", 0)
    if atol is not None and atol != 0.0:
        options["atol"] = _operands.number(atol, "atol", 0)
    if max_iterations is not None:
        options["max_iterations"] = _whole(max_iterations, "max_iterations", 2**63 - 1)
    M = None
    extra = {k: v for k, v in extra.items() if v is not None}
    if max_iterations is not None and "fixed_iterations" in extra:
        raise InputError("max_iterations and fixed_iterations exclude each other")
    near = [name for name in ("near_nullspace", "coordinates") if name in extra]
    if len(near) == 2:
        raise InputError("near_nullspace and coordinates exclude each other")
    if near and precond is None:
        precond = "amg"
    for name in near:
        extra[name] = np.asfortranarray(_operands.real_array(extra[name], name, 2))
        if name == "coordinates" and extra[name].shape[1] not in (2, 3):
            raise ShapeError(f"coordinates has {extra[name].shape[1]} columns: nodes have 2 or 3 numbers each")
        if name == "coordinates" and rows is not None and extra[name].size != rows:
            nodes, dimension = extra[name].shape
            raise ShapeError(f"coordinates has {nodes} nodes in {dimension} dimensions, which have {nodes * dimension} "
                             f"unknowns, and the matrix has {rows}")
    if isinstance(precond, str):
        options["precond"] = precond
    elif precond is not None:
        M = precond
    options.update(extra)
    return options, M


def _relative(verify):
    """What is asked of a proof: True for what can be proved, a number of digits, or a relative error below 1."""
    if verify is True:
        return 0.0
    if isinstance(verify, (float, np.floating)):
        return _part(verify, "verify")
    return 10.0 ** -_whole(verify, "verify", 15)


def solve(A, b, *, method="auto", x0=None, rtol=None, atol=0.0, max_iterations=None, precond=None, precision="double",
          verify=False, device="cpu", threads=None, out=None, callback=None, iterates=None, raise_on_failure=False, **more):
    """Solves A x = b, or A X = B, by the method that suits the matrix.

    Parameters
    ----------
    A : scipy.sparse matrix or array, ndarray, tensor of PyTorch, CSR of CuPy, Tridiagonal, LinearOperator or function
        n by n; a sparse one of any shape asks for the least residual, and of all solutions the shortest. CSR with 32-bit indices is used where it lies, and so are dense matrices in either order.
    b : array_like, (n,) or (n, k); for a batch of m tridiagonal matrices (m, n)
        The solution is an array of the same library: NumPy, PyTorch or JAX.
    method : str
        "auto" or one of `methods()`.
    x0 : array_like, optional
        The start; not written.
    rtol, atol : float, optional
        Converged means ||b - A x|| <= max(rtol ||b||, atol), by default 1e-8 ||b|| (1e-5 in single precision).
    precond : str, LinearOperator or function, optional
        One of `preconditioners()`, or what applies an approximate inverse. With "auto" what suits the matrix.
    near_nullspace : array_like, (n, k), optional
        For precond "amg": what the coarse levels have to hold, vectors on which A is small.
    coordinates : array_like, (nodes, 2 or 3), optional
        For precond "amg" and elasticity, whose nodes have their unknowns side by side: stands for the motions of a rigid body.
    verify : bool, int or float
        Asks for a proof of the error, of that many digits, or to a relative error.
    device : str
        "cpu", "cuda" or "cuda:N", or "auto" for the faster one; "cuda:all" or "cuda:0,1" for conjugate gradients on
        several GPUs, batches of tridiagonal systems, and proofs of dense solutions. What a build without CUDA does not have is refused.
    out : array, optional
        Receives the solution; the only array of the caller's that is written.
    callback : function, optional
        Called with iteration, residual norm and column; what returns False ends the solve.
    iterates : function, optional
        Called with a copy of the solution behind each iteration of a Krylov method in double precision, of GMRES behind
        each restart; what returns False ends the solve. Several right-hand sides are then solved one after another.

    Returns
    -------
    Result
        Not converging is a status, unless raise_on_failure.

    Notes
    -----
    Ctrl-C ends the call between iterations and between pieces of a factorisation or a proof, within some tenths of a second;
    what LAPACK or another library factorises is waited for, and so is the setup of a matrix with millions of rows.

    >>> import numpy as np
    >>> vn.solve(np.array([[4.0, 1.0], [1.0, 3.0]]), [1.0, 2.0]).x.round(4)
    array([0.0909, 0.6364])
    """
    if _complex.among(A, b, x0, precond):
        return _complex.solve(A, b, method=method, x0=x0, rtol=rtol, atol=atol, max_iterations=max_iterations,
                              precond=precond, precision=precision, verify=verify, device=device, threads=threads, out=out,
                              callback=callback, iterates=iterates, raise_on_failure=raise_on_failure, **more)
    return _solve(A, b, 1, method=method, x0=x0, rtol=rtol, atol=atol, max_iterations=max_iterations, precond=precond,
                  precision=precision, verify=verify, device=device, threads=threads, out=out, callback=callback,
                  iterates=iterates, raise_on_failure=raise_on_failure, **more)


def _solve(A, b, parts, *, method, x0, rtol, atol, max_iterations, precond, precision, verify, device, threads, out, callback,
           iterates, raise_on_failure, **more):
    """solve() of real numbers; parts: of a component, two where A is the real form of a complex matrix."""
    shape = _operands.shape_of(A)
    options, M = _options(method, rtol, atol, max_iterations, precond, precision, more,
                          shape[0] if len(shape) == 2 else None)
    wanted = None if verify is False or verify is None else _relative(verify)
    if device != "cpu":
        options["device"] = device
    as_given = _operands.library_of(b)
    rows = None
    if not _operands.is_sparse(A) and not isinstance(A, (np.ndarray, Tridiagonal)):
        rows = next(iter(_operands.shape_of(b)), None)
    on_gpu = _gpu.holds(A)
    if on_gpu and (M is not None or verify):
        raise InputError("on a GPU a matrix is solved without a preconditioner of your own and without a proof")
    system = _gpu.System(A, options) if on_gpu else _System(A, options, M, threads, rows, parts)
    B, X, x, single, report = system.solve(b, x0, out, callback, iterates)
    enclosure = None
    if wanted is not None and report["has_solution"]:
        enclosure = _prove(system, B, X, x, wanted, 0.0, 0.0, True)
        x = enclosure.x
        if out is not None:
            _operands.writable(out, "out", x.shape)[...] = x
    if not on_gpu:
        x = as_given(x) if out is None else out
    result = Result(x=x, status=report["status"], reason=report["reason"], method=report["method"],
                    iterations=report["iterations"], relative_residual=report["relative_residual"],
                    backward_error=report["backward_error"], tolerance=report["tolerance"], report=report,
                    enclosure=enclosure)
    for warning in report["warnings"]:
        _operands.say("%s", warning, level="WARNING")
    return result.raise_for_status() if raise_on_failure else result


def _prove(system, B, X, x, relative, matrix_radius, rhs_radius, improve):
    radii = (_operands.number(matrix_radius, "matrix_radius", 0), _operands.number(rhs_radius, "rhs_radius", 0))
    proof = system.core.prove(B, X, relative, *radii, improve)
    order = "C" if system.batch > 1 else "F"  # the systems of a batch lie one behind the other
    return Enclosure(X.reshape(x.shape, order=order), proof, order)


_signature = signature(solve)


def _by_name(name, title, options):
    def method(A, b, **keywords):
        return solve(A, b, method=name, **keywords)

    method.__name__ = method.__qualname__ = name.replace("-", "_")
    method.__signature__ = _signature.replace(parameters=[p for p in _signature.parameters.values() if p.name != "method"])
    method.__doc__ = f"""Solves A x = b by {title}: `solve(A, b, method="{name}", ...)`, with its keywords{options}."""
    return method


cg = _by_name("cg", "conjugate gradients, for symmetric positive definite matrices", "")
minres = _by_name("minres", "MINRES, for symmetric matrices, definite or not", "")
cocg = _by_name("cocg", "COCG, for complex symmetric matrices", "")
gmres = _by_name("gmres", "GMRES, for any square matrix", "")
fgmres = _by_name("fgmres", "flexible GMRES, with a preconditioner that may differ from step to step", "")
bicgstab = _by_name("bicgstab", "BiCGStab(l), for any square matrix", "")
idr = _by_name("idr", "IDR(s), for any square matrix", "")
fcg = _by_name("fcg", "flexible conjugate gradients, with a preconditioner that may differ from step to step", "")
lsqr = _by_name("lsqr", "LSQR, by the normal equations", "")
lsmr = _by_name("lsmr", "LSMR, by the normal equations", "")
jacobi = _by_name("jacobi", "Jacobi sweeps", ", omega, anderson and chebyshev")
gauss_seidel = _by_name("gauss-seidel", "Gauss-Seidel sweeps", ", sweep, ordering, anderson and chebyshev")
sor = _by_name("sor", "successive over-relaxation", ", omega, sweep, ordering, anderson and chebyshev")


class Factor:
    """What is made once for a matrix, and solves for any number of right-hand sides: see `factor`."""

    def __init__(self, A, method, threads, parts=1):
        self._made_of = A, method, threads
        self._system = _System(A, {"method": method}, None, threads, None, parts)
        self.shape = tuple(count // self._system.batch for count in (self._system.rows, self._system.cols))

    def solve(self, b, *, out=None):
        """The Result for b, as `vouchnum.solve` gives it."""
        if self._system is None:
            raise InputError("the factors were given back at the end of their with block")
        _, _, x, _, report = self._system.solve(b, None, out)
        x = _operands.library_of(b)(x) if out is None else out
        return Result(x=x, status=report["status"], reason=report["reason"], method=report["method"],
                      iterations=report["iterations"], relative_residual=report["relative_residual"],
                      backward_error=report["backward_error"], tolerance=report["tolerance"], report=report)

    def __call__(self, b):
        """The solution alone; raises NotConverged where there is none to rely on."""
        return self.solve(b).raise_for_status().x

    def as_operator(self):
        """The inverse as a LinearOperator of SciPy: a preconditioner for anyone's solver."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(self.shape, matvec=lambda v: self.solve(np.ravel(v)).x, dtype=np.float64)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._system = self._made_of = None

    def __reduce__(self):
        """Pickled as the matrix: it is factorised again."""
        return Factor, self._made_of


_factorising = ("lu", "cholesky", "sparse-cholesky", "sparse-ldlt", "sparse-lu", "sparse-qr", "band", "thomas",
                "cyclic-reduction", "pcr", "partition")


def factor(A, *, method="auto", threads=None):
    """Factorises A: sparse and dense matrices, tridiagonal ones by their diagonals.

    Parameters
    ----------
    A : as for `solve`
    method : str
        "auto" takes elimination: "sparse-lu", "lu" or "band".

    Returns
    -------
    Factor
        Refined in twice the precision at every solve, with a verdict.
    """
    if method not in ("auto", *_factorising):
        raise InputError(f"method is {method!r}, which makes no factors: auto, {', '.join(_factorising)}")
    if method == "auto":
        method = "band" if isinstance(A, Tridiagonal) else "sparse-lu" if _operands.is_sparse(A) else "lu"
    return (_complex.Factor if _complex.among(A) else Factor)(A, method, threads)


def verify(A, b, x, *, digits=None, relative=None, improve=False, matrix_radius=0.0, rhs_radius=0.0, certificate=None,
           threads=None):
    """Encloses the exact solution of A x = b around an x of whatever origin, or says that it could not. Where A,
    sparse, is not square that is the solution of least squares, or the shortest one, and A has to have full rank.

    Parameters
    ----------
    A : scipy.sparse matrix or array, square ndarray, or Tridiagonal
    b, x : array_like, (m,) or (m, k) and (n,) or (n, k), for an A of m by n
    digits, relative : int, float, optional
        Asked of every component; where the bound is wider, x is improved (`Enclosure.x`, never the caller's array).
    improve : bool
        Improves x to what can be proved, also where nothing is asked.
    matrix_radius, rhs_radius : float
        Relative radii of the data: the bounds then hold for all systems within.
    certificate : Certificate, optional
        What `certify(A)` made.

    Returns
    -------
    Enclosure

    >>> import numpy as np
    >>> e = vn.verify(np.array([[4.0, 1.0], [1.0, 3.0]]), [1.0, 2.0], [1 / 11, 7 / 11])
    >>> e.verified, e.max_absolute < 1e-15
    (True, True)
    """
    if digits is not None and relative is not None:
        raise InputError("digits and relative exclude each other")
    if _complex.among(A, b, x):
        if certificate is not None:
            raise InputError("certificates are of real matrices")
        return _complex.verify(A, b, x, digits=digits, relative=relative, improve=improve, matrix_radius=matrix_radius,
                               rhs_radius=rhs_radius, threads=threads)
    asked = 10.0 ** -_whole(digits, "digits", 15) if digits is not None else _part(relative, "relative") if relative else 0.0
    if improve and asked == 0.0:
        asked = 1e-15
    if certificate is None:
        certificate = certify(A, threads=threads)
    elif not isinstance(certificate, Certificate):
        raise InputError(f"certificate is a {type(certificate).__name__}, and should be what certify(A) made")
    elif certificate.matrix is not A:
        raise InputError("the certificate is of another matrix than A")
    return certificate.bound(b, x, relative=asked, matrix_radius=matrix_radius, rhs_radius=rhs_radius)


class Certificate:
    """A matrix that is kept to bound the errors of solutions: see `certify`."""

    def __init__(self, A, threads, parts=1):
        if callable(A) or hasattr(A, "matvec"):
            raise InputError("a proof needs the entries of the matrix, and it is given by its action")
        self._made_of = A, threads
        self._of_caller = parts == 1  # else of the real form, which nobody else has
        self._system = _System(A, {}, None, threads, None, parts)
        self._print = self._fingerprint()

    def __reduce__(self):
        return Certificate, self._made_of

    @property
    def matrix(self):
        return self._made_of[0]

    def _fingerprint(self):
        """Of the numbers that the caller's matrix has now, whether the library works on them or on a copy."""
        import hashlib

        digest = hashlib.blake2b(digest_size=16)
        for array in _arrays(_as_kept(self.matrix) if self._of_caller else self._system._kept):
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()

    def bound(self, b, x, *, relative=0.0, matrix_radius=0.0, rhs_radius=0.0):
        """The Enclosure of the solution for b around x, which is improved where relative > 0 asks for it."""
        if self._fingerprint() != self._print:
            raise InputError("the matrix was changed since certify()")
        system = self._system
        x = _operands.real_array(x, "x")
        if system.batch > 1:
            B, X = (np.ascontiguousarray(_operands.real_array(v, name)).reshape(-1, 1) for v, name in ((b, "b"), (x, "x")))
            if B.shape[0] != system.rows or X.shape != B.shape:
                raise ShapeError(f"b and x have shapes {np.shape(b)} and {x.shape}")
        else:
            B, _ = _operands.columns(b, "b", system.rows)
            X, _ = _operands.columns(x, "x", system.cols)
            if X.shape[1] != B.shape[1]:
                raise ShapeError(f"b and x have shapes {np.shape(b)} and {x.shape}")
        if not (np.isfinite(X).all() and np.isfinite(B).all()):
            raise InputError("b or x holds a NaN or an infinity")
        return _prove(system, B, X.copy(order="F"), x, relative, matrix_radius, rhs_radius, relative > 0)


def certify(A, *, threads=None):
    """Keeps A for proofs of many solutions: `certify(A).bound(b, x)`. A must not be changed meanwhile; it is looked
    whether it was."""
    return Certificate(A, threads)


from . import _complex  # noqa: E402  which derives from the classes above
