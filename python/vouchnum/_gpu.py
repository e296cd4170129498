"""Systems whose matrix lies on a GPU, by CuPy, PyTorch or whatever has the CUDA array interface: solved there, in place."""
import sys

from . import _core
from ._operands import say
from .errors import InputError, ShapeError


def _address(array, name, typestr):
    facts = array.__cuda_array_interface__
    if facts["typestr"] != typestr or facts.get("strides") is not None or len(facts["shape"]) != 1:
        raise InputError(f"{name} is of type {facts['typestr']}, {len(facts['shape'])}-dimensional: on a GPU a contiguous "
                         f"vector of type {typestr} is wanted")
    return facts["data"][0]


def _of_type(array, name):
    """array with 32-bit integers or doubles; copied on the GPU where it has others."""
    typestr = array.__cuda_array_interface__["typestr"]
    kind = "int32" if typestr[1] in "iu" else "float64"
    if typestr in ("<i4", "<f8"):
        return array
    say("%s is copied on the GPU, from %s to %s", name, typestr, kind)
    return array.to(getattr(sys.modules["torch"], kind)) if hasattr(array, "to") else array.astype(kind)


class System:
    """A matrix in CSR on a GPU and the extension's solver for it."""

    batch = 1

    def __init__(self, A, options):
        by_torch = hasattr(A, "crow_indices")
        indptr, indices, data = ((A.crow_indices(), A.col_indices(), A.values()) if by_torch
                                 else (A.indptr, A.indices, A.data))
        self.rows, cols = A.shape
        if self.rows != cols:
            raise ShapeError(f"A is {self.rows} by {cols}, and on a GPU a square matrix is wanted")
        indices, data = _of_type(indices, "indices"), _of_type(data, "data")
        offsets = indptr.__cuda_array_interface__
        if offsets["typestr"] not in ("<i4", "<i8") or offsets["shape"] != (self.rows + 1,):
            raise ShapeError(f"indptr is of type {offsets['typestr']} and shape {offsets['shape']} for {self.rows} rows")
        entries = data.__cuda_array_interface__["shape"][0]
        index, stream = _place(data)
        self._kept = indptr, indices, data
        self.core = _core.Solver.on_gpu(self.rows, cols, entries, offsets["data"][0], offsets["typestr"] == "<i8",
                                        _address(indices, "indices", "<i4"), _address(data, "data", "<f8"), index, stream,
                                        {**options, "device": "auto"}, self._kept)

    def solve(self, b, x0=None, out=None, callback=None, iterates=None):
        if iterates is not None:
            raise InputError("iterates are those of a solve on the CPU")
        for name, array in (("b", b), ("x0", x0), ("out", out)):
            if array is not None and not hasattr(array, "__cuda_array_interface__"):
                raise InputError(f"{name} is a {type(array).__name__} and the matrix is on a GPU: copy {name} there first")
        x = out if out is not None else _like(b)
        shape = tuple(b.__cuda_array_interface__["shape"])
        if shape != (self.rows,) or tuple(x.__cuda_array_interface__["shape"]) != shape:
            raise ShapeError(f"b has shape {shape}, and one right-hand side of {self.rows} elements is wanted on a GPU")
        x[...] = 0.0 if x0 is None else x0
        addresses = _address(b, "b", "<f8"), _address(x, "out", "<f8")
        _place(x)
        return None, None, x, True, self.core.solve_at(self.rows, *addresses, callback)


def _like(b):
    module = sys.modules.get(type(b).__module__.split(".")[0])
    if not hasattr(module, "empty_like"):
        raise InputError(f"b is a {type(b).__name__}, whose library makes no arrays by empty_like: give out")
    return module.empty_like(b)


def _place(array):
    """The GPU's number and the stream of the caller's library, once what goes on in its default stream is done; 0 for that."""
    module = type(array).__module__.split(".")[0]
    if module == "torch":
        stream = sys.modules["torch"].cuda.current_stream(array.device)
        index, handle = array.device.index or 0, stream.cuda_stream
    elif module == "cupy":
        stream = sys.modules["cupy"].cuda.get_current_stream()
        index, handle = array.device.id, stream.ptr
    else:
        return 0, 0
    default = (0, 1, 2)
    if handle in default:
        stream.synchronize()
        handle = 0
    return index, handle


def holds(A):
    """Whether A is a matrix in CSR on a GPU."""
    if getattr(A, "is_cuda", False) and hasattr(A, "crow_indices") and str(A.layout) == "torch.sparse_csr":
        return True
    return getattr(A, "format", None) == "csr" and hasattr(getattr(A, "data", None), "__cuda_array_interface__")
