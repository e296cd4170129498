"""Matrices and vectors of other libraries, as the extension takes them: what need not be copied is not."""
import math
import os
import sys

import numpy as np

from . import _core
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
_worth_saying = 1 << 20  # bytes
_most_small = 1 << 14  # entries


def path_of(path, name="path"):
    """As text; a NUL would end it for the system, not for us."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise InputError(f"{name} is {text!r}, which holds a NUL")
    return text


_makers = {"C": np.ascontiguousarray, "F": np.asfortranarray, "any": lambda array, dtype: array.astype(dtype, copy=False)}


def laid_out(array, name, dtype=np.float64, order="C"):
    """array itself where it has this type and order, else a copy; of a big one the log has a word."""
    made = _makers[order](array, dtype)
    if made is not array and made.nbytes >= _worth_saying and not np.may_share_memory(made, array):
        say("%s is copied, %.0f MB: it is of type %s%s", name, made.nbytes / 1e6, array.dtype,
            "" if array.dtype != made.dtype else ", in another order" if array.flags.forc else ", not contiguous")
    return made


def require_exact(array, name):
    """That doubles hold integers exactly."""
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
        raise InputError(f"{name} holds integers beyond 2**53, which double precision does not hold exactly")


def _module_of(value):
    return type(value).__module__.split(".")[0]


def number(value, name, least=-math.inf):
    """A real number that is at least `least`; neither text nor NaN."""
    try:
        found = math.nan if isinstance(value, (str, bytes, bool, np.bool_)) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not found >= least:
        raise InputError(f"{name} is {value!r}, and should be a number" + (f" from {least:g} on" if least > -math.inf else ""))
    return found


def library_of(value):
    """What makes an array of value's library of one of NumPy, without a copy where the library can."""
    if type(value) is np.ndarray:
        return lambda array: array
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
    if is_sparse(value):
        raise InputError(f"{name} is sparse, and a dense array is wanted: {name}.toarray() is one")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    try:
        return np.asarray(value)
    except ValueError as e:
        raise InputError(f"{name} is no array of numbers: {e}") from None


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


def shape_of(value):
    """Its shape where it has one that can be told; ragged lists are complained of where they are taken."""
    try:
        return np.shape(value) if isinstance(value, (list, tuple)) else tuple(getattr(value, "shape", ()))
    except ValueError:
        return ()


def writable(value, name, shape, kinds="fc"):
    """The array that value is or shares its memory with, which can be written and holds such numbers."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: {name}.data is what can be written")
    array = value if isinstance(value, np.ndarray) else _on_this_machine(value, name)
    if array.shape != tuple(shape) or not array.flags.writeable or (
            array is not value and not hasattr(value, "__dlpack__")):
        raise ShapeError(f"{name} has to be a writable array of shape {tuple(shape)}")
    if array.dtype.kind not in kinds:
        raise InputError(f"{name} is of type {array.dtype}, which does not hold the solution")
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


_double = np.dtype(np.float64)


def _array(value, name, ndim, parts):
    if type(value) is np.ndarray and value.dtype is _double and parts == 1:  # as most are: nothing to ask
        if ndim is not None and value.ndim != ndim and (not isinstance(ndim, tuple) or value.ndim not in ndim):
            raise ShapeError(f"{name} has {value.ndim} dimensions")
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: fill it first, {name}.filled(...)")
    array = _on_this_machine(value, name)
    _require_type(array.dtype, name, parts)
    if ndim is not None and array.ndim not in (ndim if isinstance(ndim, tuple) else (ndim,)):
        raise ShapeError(f"{name} has {array.ndim} dimensions")
    require_exact(array, name)
    wanted = np.float64 if parts == 1 else np.complex128
    return array if array.dtype == wanted else laid_out(array, name, wanted, "any")


def require_finite(array, name):
    """For numbers that the library is not given by their own name."""
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds a NaN or an infinity")


class Sparse:
    """indptr of 32 or 64 bits, indices of 32, data; columns ascending, each at most once."""

    def __init__(self, matrix, name="A", parts=1):
        if not is_sparse(matrix):
            raise InputError(f"{name} is a {type(matrix).__name__}, and a sparse matrix of SciPy is wanted")
        self.shape = matrix.shape
        if len(self.shape) != 2:
            raise ShapeError(f"{name} has {len(self.shape)} dimensions")
        if parts == 1 and self._is_small_and_ready(matrix):
            self.indptr, self.indices, self.data, self.csr = matrix.indptr, matrix.indices, matrix.data, matrix
            return
        from scipy import sparse

        _require_type(matrix.dtype, name, parts)
        self.check(matrix, name)
        if matrix.format != "csr":
            say("%s is converted from %s to csr", name, matrix.format)
            matrix = sparse.csr_array(matrix) if isinstance(matrix, sparse.sparray) else sparse.csr_matrix(matrix)
            self.check(matrix, name)
        if not matrix.has_canonical_format:
            say("%s is copied: its columns are sorted and duplicates are summed", name)
            matrix = matrix.copy()
            matrix.sum_duplicates()
        require_exact(matrix.data, name)
        offsets = matrix.indptr.dtype if matrix.indptr.dtype in (np.int32, np.int64) else np.int64
        self.indptr = laid_out(matrix.indptr, f"{name}.indptr", offsets)
        self.indices = laid_out(matrix.indices, f"{name}.indices", np.int32)
        self.data = laid_out(matrix.data, f"{name}.data", np.float64 if parts == 1 else np.complex128)
        self.csr = matrix

    def _is_small_and_ready(self, matrix):
        """Whether nothing is to be said or made of it, by one look: the calls to see it piece by piece would take longer
        than to solve it."""
        return (matrix.format == "csr" and len(matrix.indices) < _most_small
                and _core.is_canonical(*self.shape, matrix.indptr, matrix.indices, matrix.data))

    @staticmethod
    def check(matrix, name):
        """What SciPy looks at itself before it converts, multiplies and sums duplicates, and more: that nothing reaches beyond
        the arrays."""
        rows, cols = matrix.shape
        if max(rows, cols) > _most_int32:
            raise InputError(f"{name} is {rows} by {cols}: at most {_most_int32} rows and columns are taken")
        if matrix.format == "coo":
            for places, size, axis in ((matrix.row, rows, "row"), (matrix.col, cols, "column")):
                if len(places) != len(matrix.data):
                    raise InputError(f"{name}: {len(places)} {axis}s and {len(matrix.data)} numbers")
                _require_below(places, size, name, axis)
            return
        if matrix.format not in ("csr", "csc", "bsr"):
            return
        high, wide = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        major, minor, axis, other = rows // high, cols // wide, "row", "column"
        if matrix.format == "csc":
            major, minor, axis, other = cols, rows, "column", "row"
        indptr, indices = matrix.indptr, matrix.indices
        if len(indptr) != major + 1 or indptr[0] != 0 or indptr[-1] > len(indices):
            raise InputError(f"{name}: indptr does not fit {major} {axis}s and {len(indices)} indices")
        if len(indices) != len(matrix.data):
            raise InputError(f"{name}: {len(indices)} indices and {len(matrix.data)} numbers")
        descends = indptr[1:] < indptr[:-1]
        if descends.any():
            raise InputError(f"{name}: indptr descends in {axis} {int(np.argmax(descends))}")
        if indptr[-1] != len(indices):
            raise InputError(f"{name}: indptr ends with {indptr[-1]} for {len(indices)} indices")
        _require_below(indices, minor, name, other)


def _require_below(places, size, name, axis):
    """Places from 0 to below size; as unsigned numbers negative ones are large."""
    if len(places) and places.view(places.dtype.str.replace("i", "u")).max() >= size:
        raise InputError(f"{name}: a {axis} is out of range 0 to {size - 1}")


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
    return laid_out(array, name, order="F"), single
