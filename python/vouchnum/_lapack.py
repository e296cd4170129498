"""LAPACK for dense systems where the machine has none to be loaded: the one inside SciPy."""
from . import _core


def ensure():
    """Gives the library SciPy's routines where it found no file of LAPACK; without SciPy it says itself what is missing."""
    if _core.has_lapack():
        return
    try:
        from scipy.linalg import cython_lapack
    except ImportError:
        return
    offer(cython_lapack.__pyx_capi__)


def offer(capsules):
    """Those of SciPy, by name; routines with integers of another width stay out."""
    _core.use_lapack("SciPy's LAPACK", {name + "_": capsule for name, capsule in capsules.items()})
