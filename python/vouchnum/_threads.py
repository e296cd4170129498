"""How many threads the library takes."""
import contextlib
import contextvars
import operator
import os

from . import _core
from .errors import InputError

_count = contextvars.ContextVar("vouchnum threads", default=0)

# The threads of a process do not survive a fork, and a child would wait for them.
os.register_at_fork(before=_core.release_threads)


def chosen(threads=None):
    """The number to hand down: 0 is the library's own choice, OMP_NUM_THREADS or all cores."""
    if threads is None:
        return _count.get()
    try:
        count = -1 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        count = -1
    if not 0 <= count <= 1024:
        raise InputError(f"threads is {threads!r}, and should be a whole number from 0 to 1024")
    return count


def set_threads(count):
    """Takes so many threads from now on, in this context; 0 for OMP_NUM_THREADS or all cores."""
    _count.set(chosen(count))


@contextlib.contextmanager
def threads(count):
    """`with vn.threads(2): ...`"""
    token = _count.set(chosen(count))
    try:
        yield
    finally:
        _count.reset(token)
