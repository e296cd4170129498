import os
from collections.abc import Iterable
from typing import Any

from ._types import Matrix, SparseMatrix, Solution, Symmetry

def read_matrix(
    path: str | os.PathLike[str], *, name: str | None = None, threads: int | None = None
) -> Any: ...
def write_matrix(
    path: str | os.PathLike[str], A: Matrix, *, symmetry: Symmetry = "general", threads: int | None = None
) -> None: ...
def problems() -> list[tuple[str, str, int]]: ...
def generate(
    problem: str, *, solution: Solution | None = None, seed: int = 1, threads: int | None = None, **options: Any
) -> Any: ...
def info(A: SparseMatrix, *, threads: int | None = None) -> dict[str, Any]: ...
def reduce(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    operations: str | Iterable[str] = ("min",),
    *,
    shape: tuple[int, int] | None = None,
    sample: bool = False,
    rigorous: bool = False,
    threads: int | None = None,
) -> dict[str, Any]: ...
