# What stubs have in common; for type checkers alone.
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
Precision: TypeAlias = Literal["double", "single", "mixed"]
Solution: TypeAlias = Literal["ones", "smooth", "random", "integers"]
Symmetry: TypeAlias = Literal["general", "symmetric", "skew-symmetric"]

class SparseMatrix(Protocol):
    """A matrix or array of scipy.sparse."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> str: ...
    def tocsr(self) -> Any: ...

class Operator(Protocol):
    """A LinearOperator of SciPy or alike."""

    def matvec(self, x: Any) -> Any: ...

Action: TypeAlias = Callable[[Vector], ArrayLike]
Matrix: TypeAlias = SparseMatrix | ArrayLike
