"""What goes wrong, one tree; every error is also the built-in one that fits."""


class VouchError(Exception):
    """Base of all errors. `hint` says what to do, or is empty."""

    hint = ""


class InputError(VouchError, ValueError):
    """An argument or an input whose value is not acceptable."""


class ShapeError(InputError):
    """Operands whose sizes do not fit together."""


class ParseError(InputError):
    """A file that breaks its format: `file`, `line` and `column`, which count from 1; 0 where there is none."""

    file = ""
    line = 0
    column = 0


class FileError(VouchError, OSError):
    """The file system refused."""


class MissingFile(FileError, FileNotFoundError):
    """A file that is not there; `filename` says which."""


class OutOfMemory(VouchError, MemoryError):
    """An allocation that cannot be served: `asked` and `free` bytes."""

    asked = 0
    free = 0


class DeviceError(VouchError, RuntimeError):
    """A call of CUDA failed; `code` is its number."""

    code = 0


class NoCudaError(DeviceError):
    """A GPU was asked for and there is none, or this build has no CUDA."""


class NotConverged(VouchError):
    """Raised on request alone; `result` is the one without success."""

    def __init__(self, result):
        super().__init__(f"{result.status}: {result.reason}")
        self.result = result


class NotVerified(VouchError):
    """Raised on request alone; `enclosure` says why nothing is proved."""

    def __init__(self, enclosure):
        super().__init__(f"not verified: {enclosure.reason}")
        self.enclosure = enclosure
