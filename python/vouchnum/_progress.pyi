from contextlib import AbstractContextManager
from typing import TextIO

def progress(*, after: float = 1.0, every: float = 0.5, file: TextIO | None = None) -> AbstractContextManager[None]: ...
