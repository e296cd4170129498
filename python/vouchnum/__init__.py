"""Linear systems and the numerical jobs around them, with answers that are checked and, where asked, proved.

>>> import numpy as np, vouchnum as vn
>>> A, (b, x) = vn.generate("poisson-2d", nx=30, solution="ones")
>>> result = vn.solve(A, b)
>>> result.converged, bool(abs(result.x - 1).max() < 1e-6)
(True, True)

Arrays are NumPy's and matrices SciPy's (or NumPy's, a `Tridiagonal`, an operator). Not converging is a status of the
result; wrong input is an exception. Nothing of the caller's arrays is written but `out`.
"""
import importlib

__version__ = "0.1.0"

_homes = {
    "errors": ["VouchError", "ShapeError", "InputError", "ParseError", "FileError", "MissingFile", "OutOfMemory", "DeviceError",
               "NoCudaError", "NotConverged", "NotVerified"],
    "linalg": ["solve", "cg", "minres", "cocg", "gmres", "fgmres", "bicgstab", "idr", "fcg", "lsqr", "lsmr", "jacobi",
               "gauss_seidel", "sor", "factor", "Factor", "Tridiagonal", "Result", "verify", "certify", "Certificate",
               "Enclosure", "methods", "preconditioners"],
    "data": ["read_matrix", "write_matrix", "generate", "problems", "info", "reduce"],
    "intervals": ["IntervalArray", "interval", "matmul", "inv", "det", "interval_solve", "dot", "fsum"],
    "prices": ["price", "price_book", "implied_volatility", "Prices"],
    "_threads": ["set_threads", "threads"],
    "_progress": ["progress"],
}
_home_of = {name: home for home, names in _homes.items() for name in names}
__all__ = sorted(_home_of)


def __getattr__(name):
    if name in ("gallery", "scipy", *_homes):
        return importlib.import_module("." + name, __name__)
    if name not in _home_of:
        raise AttributeError(f"module 'vouchnum' has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _home_of[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__, "gallery", "scipy"])
