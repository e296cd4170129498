"""Model problems as functions: each makes the matrix of one as a csr_array.

>>> vn.gallery.poisson_2d(20, 10).shape
(200, 200)
>>> A, (b, x) = vn.gallery.elasticity_3d(4, young=2.0, solution="ones")
>>> bool((abs(A @ x - b) < 1e-12).all())
True

nx, ny and nz count points, cells or elements in each direction; ny is nx and nz is ny where they are not given. Every
function takes `order` ("natural", "random" or "rcm"), `seed`, `solution` as `vouchnum.generate`, and threads.
"""
from inspect import Parameter, Signature

from . import _core, data

_common = {"order": "natural", "solution": None, "seed": 1, "threads": None}


def _function(problem, summary, dimension, options):
    sizes = [Parameter(size, Parameter.POSITIONAL_OR_KEYWORD, default=None) for size in ("nx", "ny", "nz")[:dimension]]
    more = [Parameter(option.replace("-", "_"), Parameter.KEYWORD_ONLY, default=None) for option in options]
    common = [Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in _common.items()]
    signature = Signature(sizes + more + common)

    def made(*positional, **keywords):
        given = signature.bind(*positional, **keywords).arguments
        return data.generate(problem, **{name: value for name, value in given.items() if value is not None})

    made.__name__ = made.__qualname__ = problem.replace("-", "_")
    made.__signature__ = signature
    made.__doc__ = f"{summary[0].upper()}{summary[1:]}: `generate({problem!r}, ...)`."
    return made


_functions = [_function(*line) for line in _core.problem_list()]
globals().update((function.__name__, function) for function in _functions)
__all__ = [function.__name__ for function in _functions]
