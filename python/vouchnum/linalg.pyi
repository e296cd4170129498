from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._types import Action, Matrix, Operator, Precision, Vector
from .intervals import IntervalArray

def methods() -> list[str]: ...
def preconditioners() -> list[str]: ...

class Tridiagonal:
    dl: Vector
    d: Vector
    du: Vector
    periodic: bool
    def __init__(self, dl: ArrayLike, d: ArrayLike, du: ArrayLike, *, periodic: bool = False) -> None: ...
    @property
    def systems(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @classmethod
    def from_banded(cls, ab: ArrayLike) -> Tridiagonal: ...
    def to_sparse(self) -> Any: ...

class Result:
    x: Vector
    status: str
    reason: str
    method: str
    iterations: int
    relative_residual: float
    backward_error: float
    tolerance: float
    report: dict[str, Any]
    enclosure: Enclosure | None
    def __init__(self, x: Vector, status: str, reason: str, method: str, iterations: int, relative_residual: float,
                 backward_error: float, tolerance: float, report: dict[str, Any],
                 enclosure: Enclosure | None = None) -> None: ...
    @property
    def converged(self) -> bool: ...
    @property
    def success(self) -> bool: ...
    @property
    def info(self) -> int: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def history(self) -> NDArray[np.void]: ...
    @property
    def condition_estimate(self) -> float | None: ...
    @property
    def error_estimate(self) -> float | None: ...
    @property
    def timings(self) -> dict[str, float]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __bool__(self) -> bool: ...
    def raise_for_status(self) -> Result: ...
    def to_dict(self) -> dict[str, Any]: ...

class Enclosure:
    x: Vector
    radius: Vector | None
    def __init__(self, x: Vector, proof: dict[str, Any], single: bool) -> None: ...
    @property
    def verified(self) -> bool: ...
    @property
    def reached(self) -> bool: ...
    @property
    def method(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def digits(self) -> int: ...
    @property
    def max_absolute(self) -> float: ...
    @property
    def max_relative(self) -> float: ...
    @property
    def median_relative(self) -> float: ...
    @property
    def condition_estimate(self) -> float: ...
    @property
    def lower(self) -> Vector: ...
    @property
    def upper(self) -> Vector: ...
    def interval(self) -> IntervalArray: ...
    def __contains__(self, y: ArrayLike) -> bool: ...
    def __bool__(self) -> bool: ...
    def raise_if_unverified(self) -> Enclosure: ...
    def to_dict(self) -> dict[str, Any]: ...

def solve(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    method: str = "auto",
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def cg(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def minres(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def cocg(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def gmres(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def fgmres(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def bicgstab(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def idr(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def fcg(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def lsqr(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def lsmr(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def jacobi(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def gauss_seidel(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...
def sor(
    A: Matrix | Tridiagonal | Operator | Action,
    b: ArrayLike,
    *,
    x0: ArrayLike | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int | None = None,
    precond: str | Matrix | Operator | Action | None = None,
    precision: Precision = "double",
    verify: bool | int | float = False,
    device: str = "cpu",
    threads: int | None = None,
    out: Any = None,
    callback: Callable[[int, float, int], object] | None = None,
    iterates: Callable[[Vector], object] | None = None,
    raise_on_failure: bool = False,
    **more: Any,
) -> Result: ...

class Factor:
    shape: tuple[int, int]
    def __init__(self, A: Matrix | Tridiagonal, method: str, threads: int | None, parts: int = 1) -> None: ...
    def solve(self, b: ArrayLike, *, out: Any = None) -> Result: ...
    def __call__(self, b: ArrayLike) -> Vector: ...
    def as_operator(self) -> Any: ...
    def __enter__(self) -> Factor: ...
    def __exit__(self, *_: object) -> None: ...

def factor(A: Matrix | Tridiagonal, *, method: str = "auto", threads: int | None = None) -> Factor: ...
def verify(
    A: Matrix | Tridiagonal,
    b: ArrayLike,
    x: ArrayLike,
    *,
    digits: int | None = None,
    relative: float | None = None,
    improve: bool = False,
    matrix_radius: float = 0.0,
    rhs_radius: float = 0.0,
    certificate: Certificate | None = None,
    threads: int | None = None,
) -> Enclosure: ...

class Certificate:
    @property
    def matrix(self) -> Any: ...
    def __init__(self, A: Matrix | Tridiagonal, threads: int | None, parts: int = 1) -> None: ...
    def bound(
        self, b: ArrayLike, x: ArrayLike, *, relative: float = 0.0, matrix_radius: float = 0.0, rhs_radius: float = 0.0
    ) -> Enclosure: ...

def certify(A: Matrix | Tridiagonal, *, threads: int | None = None) -> Certificate: ...
