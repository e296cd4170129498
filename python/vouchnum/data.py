"""Matrices from files and to files, model problems, and reductions over sets of small matrices."""
import errno
import os

import numpy as np

from . import _core, _operands
from ._threads import chosen
from .errors import InputError, MissingFile


def _csr(rows, cols, indptr, indices, data):
    from scipy import sparse

    # SciPy wants both of one type.
    if len(data) < 2**31:
        indptr = indptr.astype(np.int32)
    else:
        indices = indices.astype(np.int64)
    A = sparse.csr_array((data, indices, indptr), shape=(rows, cols))
    A.has_canonical_format = True
    return A


def read_matrix(path, *, name=None, threads=None):
    """Reads a matrix as its file holds it: a csr_array where it is sparse, else an ndarray; of complex numbers where it holds
    such.

    Parameters
    ----------
    path : str or path
        Matrix Market, Harwell-Boeing and Rutherford-Boeing, .npy, .npz of NumPy or of scipy.sparse.save_npz, text, each
        plain or compressed by gzip; archives .tar and .tar.gz as of the SuiteSparse collection. What a file is, is seen
        from its content; .mat of MATLAB is read by SciPy.
    name : str, optional
        Which of several matrices in a .mat file; a field of a structure as in "Problem.A".

    Raises
    ------
    ParseError
        Names file, line and column.
    """
    path = _operands.path_of(path)
    if not os.path.exists(path):
        raise MissingFile(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if path.endswith(".mat"):
        return _matlab(path, name)
    if name is not None:
        raise InputError(f"name is {name!r}, and {path} is no .mat file")
    found = _core.read_any(path, chosen(threads))
    return _csr(*found) if isinstance(found, tuple) else found


def _matlab(path, name):
    from scipy import io, sparse

    try:
        held = io.loadmat(path)
    except NotImplementedError:
        raise InputError(f"{path} is a MATLAB file of version 7.3, which SciPy does not read: save it with -v7") from None
    found = {}

    def look(prefix, value):
        if sparse.issparse(value) or (value.dtype.kind in "fiuc" and value.ndim == 2):
            found[prefix] = value
        elif value.dtype.names and value.size == 1:
            for field in value.dtype.names:
                look(f"{prefix}.{field}", value[field].item())

    for variable, value in held.items():
        if not variable.startswith("__"):
            look(variable, value)
    sparse_ones = [n for n, value in found.items() if sparse.issparse(value)]
    if name is None and len(sparse_ones) == 1:
        name = sparse_ones[0]
    elif name is None and len(found) == 1:
        name = next(iter(found))
    if name not in found:
        raise InputError(f"{path} holds {', '.join(found) or 'no matrix'}" + (": say which, name=..." if name is None
                                                                             else f", and no {name}"))
    A = found[name]
    if not sparse.issparse(A):
        return np.asarray(A)
    A = sparse.csr_array(A)
    A.sum_duplicates()
    return A


def write_matrix(path, A, *, symmetry="general", threads=None):
    """Writes a sparse matrix as a Matrix Market coordinate file, or, where the name ends with .npz, as
    scipy.sparse.save_npz does; arrays by the end of the name: .mtx, .npy, or text.

    Numbers are the shortest that read back exactly; the file is written whole or not at all. symmetry "symmetric" or
    "skew-symmetric" writes the lower triangle alone.
    """
    chosen(threads)  # is only checked: writing takes the library's own number
    path = _operands.path_of(path)
    if symmetry not in ("general", "symmetric", "skew-symmetric"):
        raise InputError(f"symmetry is {symmetry!r}: general, symmetric or skew-symmetric")
    if _operands.is_sparse(A):
        if path.endswith((".npy", ".mat", ".hb", ".rb", ".rua", ".rsa")):
            raise InputError(f"{path}: sparse matrices are written as Matrix Market files, .mtx or .mtx.gz, or .npz")
        S = _operands.Sparse(A)
        parts = (*S.shape, S.indptr.astype(np.int64, copy=False), S.indices, S.data)
        if not path.endswith(".npz"):
            _core.write_csr(path, *parts, symmetry)
        elif symmetry != "general":
            raise InputError(f"symmetry is {symmetry!r}: an .npz archive holds both triangles")
        else:
            _core.write_npz(path, *parts)
        return
    if path.endswith(".npz"):
        raise InputError(f"{path}: .npz is for sparse matrices, numpy.savez writes arrays")
    values = _operands.real_array(A, "A", (1, 2))
    rows, cols = values.shape if values.ndim == 2 else (len(values), 1)
    _core.write_dense(path, np.ravel(values, order="F"), rows, cols)


def problems():
    """The model problems: a list of name, summary and number of dimensions. Each is a function of `vouchnum.gallery`."""
    return [line[:3] for line in _core.problem_list()]


def generate(problem, *, solution=None, seed=1, threads=None, **options):
    """A model problem: its matrix, and with `solution` ("ones", "smooth", "random" or "integers") also `(b, x)` with
    b = A x, each element rounded once.

    Parameters
    ----------
    problem : str
        One of `problems()`, with options of its own: nx, ny, nz, boundary, coefficient, ...

    >>> A = vn.generate("poisson-2d", nx=20, ny=10)
    >>> A.shape
    (200, 200)
    """
    A = _csr(*_core.generate(problem, {**options, "seed": seed}, chosen(threads)))
    if solution is None:
        return A
    return A, _core.known_solution(*A.shape, A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, solution, seed,
                                   chosen(threads))


def info(A, *, threads=None):
    """Facts of a sparse matrix: symmetry, definiteness of the diagonal, dominance, bandwidths, entries a row."""
    S = _operands.Sparse(A)
    return _core.info(*S.shape, S.indptr.astype(np.int64, copy=False), S.indices, S.data, chosen(threads))


def reduce(files, operations=("min",), *, shape=None, sample=False, rigorous=False, threads=None):
    """Reduces sets of small matrices in text files element by element: a dict of arrays by operation.

    Integers stay integers, of any size; with `rigorous` sums and means are dicts of "value", "lower" and "upper".
    """
    files = [_operands.path_of(f, "files") for f in ([files] if isinstance(files, (str, bytes, os.PathLike)) else files)]
    operations = [operations] if isinstance(operations, str) else list(operations)
    count, rows, cols, _, results = _core.reduce(files, operations, shape, sample, rigorous, chosen(threads))
    found = {}
    for one in results:
        if one["failure"]:
            found[one["operation"]] = InputError(one["failure"])
            continue
        values = one["values"]
        fits = all(-(2**63) <= v < 2**63 for v in values if isinstance(v, int))
        array = np.array(values, dtype=None if fits else object)
        array = array.reshape(rows, cols) if len(values) == rows * cols and one["operation"] != "count" else array
        if one["enclosures"]:
            bounds = np.array(one["enclosures"])
            array = {"value": array, "lower": bounds[:, 0].reshape(rows, cols), "upper": bounds[:, 1].reshape(rows, cols)}
        found[one["operation"]] = int(values[0]) if one["operation"] == "count" else array
    found["matrices"] = count
    return found
