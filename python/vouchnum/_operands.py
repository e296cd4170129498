"""Matrices and vectors of other libraries, as the extension takes them: what need not be copied is not."""
import sys

import numpy as np

from .errors import InputError, ShapeError


def say(message, *values, level="INFO"):
    """Writes to the logger "vouchnum", if anybody in this process has one to listen: the import of logging takes 3 ms."""
    logging = sys.modules.get("logging")
    if logging is None:
        return
    log = logging.getLogger("vouchnum")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    log.log(getattr(logging, level), message, *values)


_most_int32 = 2**31 - 1


def _module_of(value):
    return type(value).__module__.split(".")[0]


def library_of(value):
    """What makes an array of value's library of one of NumPy, without a copy where the library can."""
    module = _module_of(value)
    if module == "torch":
        return sys.modules["torch"].from_numpy
    if module in ("jax", "jaxlib"):
        return sys.modules["jax"].numpy.asarray
    return lambda array: array


def _on_this_machine(value, name):
    """value as an array of NumPy that shares its memory; not the arrays of GPUs, nor those that learn."""
    if getattr(value, "requires_grad", False):
        raise InputError(f"{name} requires a gradient: detach it first, {name}.detach()")
    on_cpu = 1  # kDLCPU of DLPack
    if hasattr(value, "__cuda_array_interface__") or (
            hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] != on_cpu):
        raise InputError(f"{name} is an array on a GPU, and this package works on the CPU: copy it there first")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def scipy_from_torch(A, name):
    """A sparse tensor of PyTorch as a csr_array that shares its arrays; anything else as it is."""
    if _module_of(A) != "torch" or str(A.layout) == "torch.strided":
        return A
    from scipy import sparse

    if str(A.layout) != "torch.sparse_csr":
        say("%s is converted from %s to csr", name, A.layout)
        A = A.to_sparse_csr()
    indptr, indices, data = (_on_this_machine(part, name) for part in (A.crow_indices(), A.col_indices(), A.values()))
    return sparse.csr_array((data, indices, indptr), shape=tuple(A.shape))


def writable(value, name, shape):
    """The array that value is or shares its memory with, which can be written."""
    array = value if isinstance(value, np.ndarray) else _on_this_machine(value, name)
    if array.shape != tuple(shape) or not array.flags.writeable or (
            array is not value and not hasattr(value, "__dlpack__")):
        raise ShapeError(f"{name} has to be a writable array of shape {tuple(shape)}")
    return array


def _require_type(dtype, name, parts):
    """Numbers that doubles hold, or with two parts complex ones."""
    if dtype == np.float16 or dtype.kind not in ("fiub" if parts == 1 else "cfiub"):
        raise InputError(f"{name} is of type {dtype}: {'real ' if parts == 1 else ''}numbers of at least 32 bits are wanted")
    if dtype.itemsize > (16 if dtype.kind == "c" else 8):
        raise InputError(f"{name} is of type {dtype}, more than double precision: convert it first")


def real_array(value, name, ndim=None):
    """value as doubles, itself where it holds them already."""
    return _array(value, name, ndim, 1)


def complex_array(value, name, ndim=None):
    """value as complex numbers of doubles, itself where it holds them already."""
    return _array(value, name, ndim, 2)


def _array(value, name, ndim, parts):
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: fill it first, {name}.filled(...)")
    array = _on_this_machine(value, name)
    _require_type(array.dtype, name, parts)
    if ndim is not None and array.ndim not in (ndim if isinstance(ndim, tuple) else (ndim,)):
        raise ShapeError(f"{name} has {array.ndim} dimensions")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
        raise InputError(f"{name} holds integers beyond 2**53, which double precision does not hold exactly")
    return array.astype(np.float64 if parts == 1 else np.complex128, copy=False)


class Sparse:
    """indptr of 32 or 64 bits, indices of 32, data; columns ascending, each at most once."""

    def __init__(self, matrix, name="A", parts=1):
        from scipy import sparse

        self.shape = matrix.shape
        if len(self.shape) != 2:
            raise ShapeError(f"{name} has {len(self.shape)} dimensions")
        _require_type(matrix.dtype, name, parts)
        if matrix.format != "csr":
            say("%s is converted from %s to csr", name, matrix.format)
            matrix = sparse.csr_array(matrix) if isinstance(matrix, sparse.sparray) else sparse.csr_matrix(matrix)
        self._check(matrix, name)
        if not matrix.has_canonical_format:
            say("%s is copied: its columns are sorted and duplicates are summed", name)
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.indptr = np.ascontiguousarray(matrix.indptr)
        self.indices = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        self.data = np.ascontiguousarray(matrix.data, dtype=np.float64 if parts == 1 else np.complex128)
        if self.indptr.dtype not in (np.int32, np.int64):
            self.indptr = self.indptr.astype(np.int64)
        self.csr = matrix

    @staticmethod
    def _check(matrix, name):
        # What SciPy looks at itself before it sums duplicates, and more: nothing may read beyond the arrays.
        rows, cols = matrix.shape
        indptr, indices = matrix.indptr, matrix.indices
        if max(rows, cols) > _most_int32:
            raise InputError(f"{name} is {rows} by {cols}: at most {_most_int32} rows and columns are taken")
        if len(indptr) != rows + 1 or (rows >= 0 and (indptr[0] != 0 or indptr[-1] > len(indices))):
            raise InputError(f"{name}: indptr does not fit {rows} rows and {len(indices)} indices")
        if len(indices) != len(matrix.data):
            raise InputError(f"{name}: {len(indices)} indices and {len(matrix.data)} numbers")
        if rows and (np.diff(indptr) < 0).any():
            raise InputError(f"{name}: indptr descends in row {int(np.argmax(np.diff(indptr) < 0))}")
        if indptr[-1] != len(indices):
            raise InputError(f"{name}: indptr ends with {indptr[-1]} for {len(indices)} indices")
        if len(indices) and (indices.min() < 0 or indices.max() >= cols):
            raise InputError(f"{name}: a column is out of range 0 to {cols - 1}")


def is_sparse(value):
    return hasattr(value, "tocsr") and hasattr(value, "format")


def columns(value, name, rows):
    """Right-hand sides as a matrix by columns, and whether there was one vector alone."""
    array = real_array(value, name, (1, 2))
    if array.shape[0] != rows:
        raise ShapeError(f"{name} has {array.shape[0]} rows, the matrix {rows}")
    single = array.ndim == 1
    if single:
        array = array.reshape(rows, 1)
    return np.asfortranarray(array), single
