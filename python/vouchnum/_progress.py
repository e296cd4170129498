"""How far calls are, shown while they run."""
import contextlib
import sys
import threading

from . import _core


def _text(seconds, part, iteration, residual):
    said = f"{seconds:.0f} s"
    if iteration >= 0:
        said += f", iteration {iteration}, residual {residual:.2e}"
    elif 0.01 < part < 1:
        said += f", {100 * part:.0f} %, about {seconds * (1 - part) / part:.0f} s left"
    return said


class _Terminal:
    """One line that is written over, and erased behind each call."""

    def __init__(self, stream):
        self._stream = stream

    def show(self, text):
        self._stream.write("\r\033[K" + text)
        self._stream.flush()


class _Notebook:
    """A line below the cell."""

    def __init__(self):
        from IPython.display import display

        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, text):
        self._handle.update({"text/plain": text}, raw=True)


def _place(file):
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if file is None and getattr(shell, "kernel", None) is not None:
        return _Notebook()
    file = sys.stderr if file is None else file
    return _Terminal(file) if file is not None and file.isatty() else None


@contextlib.contextmanager
def progress(*, after=1.0, every=0.5, file=None):
    """Shows how far the calls within are that take longer than `after` seconds: time, iteration and residual of a solver, and
    of what is read the part that is done and an estimate of the time left; on a terminal in one line of `file` (stderr),
    in a notebook below the cell, elsewhere nothing.

    >>> with vn.progress():
    ...     A, (b, _) = vn.gallery.poisson_2d(50, solution="ones")
    ...     vn.solve(A, b).converged
    True
    """
    place = _place(file)
    if place is None:
        yield
        return
    over = threading.Event()

    def watch():
        shown = ""
        while not over.wait(every):
            state = _core.under_way()
            text = _text(*state) if state is not None and state[0] >= after else ""
            if text != shown:
                place.show(text)
            shown = text
        if shown:
            place.show("")

    watcher = threading.Thread(target=watch, name="vouchnum progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
