import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._types import Vector
from .intervals import IntervalArray

Words = str | Sequence[str] | NDArray[np.str_]
Pairs = Iterable[tuple[float, float]]

class Prices:
    price: Vector
    delta: Vector
    gamma: Vector
    theta: Vector
    vega: Vector
    rho: Vector
    error: Vector
    method_code: NDArray[np.uint8]
    met: NDArray[np.bool_]
    dividend_rho: Vector | None
    vanna: Vector | None
    volga: Vector | None
    charm: Vector | None
    implied_volatility: Vector | None
    failures: dict[int, str]
    bounds: dict[str, IntervalArray] | None
    def __init__(
        self,
        price: Vector,
        delta: Vector,
        gamma: Vector,
        theta: Vector,
        vega: Vector,
        rho: Vector,
        error: Vector,
        method_code: NDArray[np.uint8],
        met: NDArray[np.bool_],
        dividend_rho: Vector | None = None,
        vanna: Vector | None = None,
        volga: Vector | None = None,
        charm: Vector | None = None,
        implied_volatility: Vector | None = None,
        failures: dict[int, str] = ...,
        bounds: dict[str, IntervalArray] | None = None,
    ) -> None: ...
    @property
    def verified(self) -> NDArray[np.bool_]: ...
    @property
    def method(self) -> NDArray[np.str_]: ...
    @property
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def to_pandas(self) -> Any: ...
    def to_arrow(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def price(
    kind: Words = "call",
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    volatility: ArrayLike = 0.0,
    expiry: ArrayLike,
    rate: ArrayLike = 0.0,
    dividend: ArrayLike = 0.0,
    exercise: Words = "european",
    payoff: Words = "vanilla",
    cash: ArrayLike = 1.0,
    barrier: Words | None = None,
    barrier_level: ArrayLike | None = None,
    rebate: ArrayLike = 0.0,
    dividends: Pairs | None = None,
    dividend_model: str = "piecewise",
    dates: Iterable[float] | None = None,
    rates: Pairs | None = None,
    volatilities: Pairs | None = None,
    tolerance: float = 1e-4,
    greeks: bool = True,
    more: bool = False,
    verify: bool = False,
    threads: int | None = None,
) -> Prices: ...
@overload
def price_book(
    book: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tolerance: float = 1e-4,
    greeks: bool = True,
    more: bool = False,
    strict: bool = False,
    threads: int | None = None,
) -> dict[str, Any]: ...
@overload
def price_book(
    book: Mapping[str, Any] | NDArray[np.void] | Any,
    output: None = None,
    *,
    tolerance: float = 1e-4,
    greeks: bool = True,
    more: bool = False,
    strict: bool = False,
    threads: int | None = None,
) -> Prices: ...
def implied_volatility(
    price: ArrayLike,
    kind: Words = "call",
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    expiry: ArrayLike,
    rate: ArrayLike = 0.0,
    dividend: ArrayLike = 0.0,
    exercise: Words = "european",
    dividends: Pairs | None = None,
    dividend_model: str = "piecewise",
    rates: Pairs | None = None,
    tolerance: float = 1e-6,
    threads: int | None = None,
) -> Vector: ...
