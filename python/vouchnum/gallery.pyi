from typing import Any

from ._types import Solution

__all__: list[str]

def poisson_1d(
    nx: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def poisson_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def poisson_2d_9(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def poisson_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def poisson_3d_27(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def anisotropic_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    epsilon: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def anisotropic_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    epsilon: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def diffusion_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    coefficient: str | None = None,
    contrast: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def diffusion_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    coefficient: str | None = None,
    contrast: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def convection_diffusion_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    peclet: float | None = None,
    flow: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def convection_diffusion_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    peclet: float | None = None,
    flow: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def plate(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elasticity_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    element: str | None = None,
    young: float | None = None,
    poisson_ratio: float | None = None,
    contrast: float | None = None,
    stretch: float | None = None,
    perturb: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elasticity_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    element: str | None = None,
    young: float | None = None,
    poisson_ratio: float | None = None,
    contrast: float | None = None,
    stretch: float | None = None,
    perturb: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elements_2d(
    nx: int | None = None,
    ny: int | None = None,
    *,
    boundary: str | None = None,
    perturb: float | None = None,
    stretch: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elements_3d(
    nx: int | None = None,
    ny: int | None = None,
    nz: int | None = None,
    *,
    boundary: str | None = None,
    perturb: float | None = None,
    stretch: float | None = None,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elasticity_11k(
    *,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
def elasticity_100k(
    *,
    order: str = "natural",
    solution: Solution | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Any: ...
