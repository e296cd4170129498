"""Matrices and vectors of other libraries, as the extension takes them: what need not be copied is not."""
import logging

import numpy as np

from .errors import InputError, ShapeError

log = logging.getLogger("vouchnum")
log.addHandler(logging.NullHandler())

_most_int32 = 2**31 - 1


def real_array(value, name, ndim=None):
    """value as doubles, itself where it holds them already."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: fill it first, {name}.filled(...)")
    for module, what in (("torch", "PyTorch"), ("cupy", "CuPy"), ("jax", "JAX")):
        if type(value).__module__.split(".")[0] == module and hasattr(value, "__dlpack__"):
            if getattr(value, "requires_grad", False):
                raise InputError(f"{name} requires a gradient: detach it first, {name}.detach()")
            if getattr(value, "is_cuda", False) or module == "cupy":
                raise InputError(f"{name} is an array of {what} on a GPU, and this package works on the CPU")
    array = np.asarray(value)
    if array.dtype == np.float16 or array.dtype.kind not in "fiub":
        raise InputError(f"{name} is of type {array.dtype}: real numbers of at least 32 bits are wanted")
    if array.dtype.itemsize > 8:
        raise InputError(f"{name} is of type {array.dtype}, more than double precision: convert it first")
    if ndim is not None and array.ndim not in (ndim if isinstance(ndim, tuple) else (ndim,)):
        raise ShapeError(f"{name} has {array.ndim} dimensions")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
        raise InputError(f"{name} holds integers beyond 2**53, which double precision does not hold exactly")
    return array.astype(np.float64, copy=False)


class Sparse:
    """indptr of 32 or 64 bits, indices of 32, data; columns ascending, each at most once."""

    def __init__(self, matrix, name="A"):
        from scipy import sparse

        self.shape = matrix.shape
        if len(self.shape) != 2:
            raise ShapeError(f"{name} has {len(self.shape)} dimensions")
        if matrix.dtype.kind not in "fiub" or matrix.dtype == np.float16 or matrix.dtype.itemsize > 8:
            raise InputError(f"{name} is of type {matrix.dtype}: real numbers of 32 or 64 bits are wanted")
        if matrix.format != "csr":
            log.info("%s is converted from %s to csr", name, matrix.format)
            matrix = sparse.csr_array(matrix) if isinstance(matrix, sparse.sparray) else sparse.csr_matrix(matrix)
        self._check(matrix, name)
        if not matrix.has_canonical_format:
            log.info("%s is copied: its columns are sorted and duplicates are summed", name)
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.indptr = np.ascontiguousarray(matrix.indptr)
        self.indices = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        self.data = np.ascontiguousarray(matrix.data, dtype=np.float64)
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
