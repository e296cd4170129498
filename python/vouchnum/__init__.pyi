from . import gallery as gallery, scipy as scipy
from .errors import (
    VouchError as VouchError,
    ShapeError as ShapeError,
    InputError as InputError,
    ParseError as ParseError,
    FileError as FileError,
    MissingFile as MissingFile,
    OutOfMemory as OutOfMemory,
    DeviceError as DeviceError,
    NoCudaError as NoCudaError,
    NotConverged as NotConverged,
    NotVerified as NotVerified,
)
from .linalg import (
    solve as solve,
    cg as cg,
    minres as minres,
    cocg as cocg,
    gmres as gmres,
    fgmres as fgmres,
    bicgstab as bicgstab,
    idr as idr,
    fcg as fcg,
    lsqr as lsqr,
    lsmr as lsmr,
    jacobi as jacobi,
    gauss_seidel as gauss_seidel,
    sor as sor,
    factor as factor,
    Factor as Factor,
    Tridiagonal as Tridiagonal,
    Result as Result,
    verify as verify,
    certify as certify,
    Certificate as Certificate,
    Enclosure as Enclosure,
    methods as methods,
    preconditioners as preconditioners,
)
from .data import (
    read_matrix as read_matrix,
    write_matrix as write_matrix,
    generate as generate,
    problems as problems,
    info as info,
    reduce as reduce,
)
from .intervals import (
    IntervalArray as IntervalArray,
    interval as interval,
    matmul as matmul,
    inv as inv,
    det as det,
    interval_solve as interval_solve,
    dot as dot,
    fsum as fsum,
)
from .prices import (
    price as price,
    price_book as price_book,
    implied_volatility as implied_volatility,
    Prices as Prices,
)
from ._threads import (
    set_threads as set_threads,
    threads as threads,
)
from ._progress import progress as progress

__version__: str
__all__: list[str]
