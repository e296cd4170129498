from .linalg import Enclosure, Result

class VouchError(Exception):
    hint: str

class InputError(VouchError, ValueError): ...
class ShapeError(InputError): ...

class ParseError(InputError):
    file: str
    line: int
    column: int

class FileError(VouchError, OSError): ...
class MissingFile(FileError, FileNotFoundError): ...

class OutOfMemory(VouchError, MemoryError):
    asked: int
    free: int

class DeviceError(VouchError, RuntimeError):
    code: int

class NoCudaError(DeviceError): ...

class NotConverged(VouchError):
    result: Result
    def __init__(self, result: Result) -> None: ...

class NotVerified(VouchError):
    enclosure: Enclosure
    def __init__(self, enclosure: Enclosure) -> None: ...
