"""Formats that SciPy writes, read by the library alone."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import vouchnum as vn


def a_matrix(dtype):
    rng = np.random.default_rng(7)
    A = scipy.sparse.random(12, 18, 0.2, format="csr", random_state=rng)
    A.data = rng.integers(-9, 9, A.nnz) + (0.25 if dtype == np.float64 else 0)
    return A.astype(dtype)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
def test_save_npz(tmp_path, format, dtype, compressed):
    A = a_matrix(dtype)
    scipy.sparse.save_npz(tmp_path / "A.npz", A.asformat(format), compressed=compressed)
    B = vn.read_matrix(tmp_path / "A.npz")
    assert B.shape == A.shape
    assert (B != A.astype(np.float64)).nnz == 0


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_written_archives(tmp_path, index):
    A = a_matrix(np.float64)
    A.data[:2] = -0.0, 5e-324
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    vn.write_matrix(tmp_path / "A.npz", A)
    B = scipy.sparse.load_npz(tmp_path / "A.npz")
    assert (B.format, B.shape, B.dtype) == ("csr", A.shape, A.dtype)
    for name in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(B, name), getattr(A, name))
    assert B.data.tobytes() == A.data.tobytes()


def test_hb_write(tmp_path):
    A = a_matrix(np.float64).tocsc()
    scipy.io.hb_write(tmp_path / "A.hb", A)
    assert (vn.read_matrix(tmp_path / "A.hb") != scipy.io.hb_read(tmp_path / "A.hb")).nnz == 0


def test_matlab(tmp_path):
    A, D = a_matrix(np.float64), np.arange(6.0).reshape(2, 3)
    scipy.io.savemat(tmp_path / "one.mat", {"A": A, "note": "text"})
    assert (vn.read_matrix(tmp_path / "one.mat") != A).nnz == 0
    scipy.io.savemat(tmp_path / "collection.mat", {"Problem": {"A": A, "title": "a problem", "b": np.ones(12)}})
    assert (vn.read_matrix(tmp_path / "collection.mat") != A).nnz == 0
    np.testing.assert_array_equal(vn.read_matrix(tmp_path / "collection.mat", name="Problem.b"), np.ones((1, 12)))
    scipy.io.savemat(tmp_path / "two.mat", {"D": D, "E": 2 * D})
    np.testing.assert_array_equal(vn.read_matrix(tmp_path / "two.mat", name="E"), 2 * D)
    with pytest.raises(vn.InputError, match="holds D, E: say which"):
        vn.read_matrix(tmp_path / "two.mat")
    with pytest.raises(vn.InputError, match="no F"):
        vn.read_matrix(tmp_path / "two.mat", name="F")
    scipy.io.mmwrite(tmp_path / "A.mtx", A)
    with pytest.raises(vn.InputError, match="no .mat file"):
        vn.read_matrix(tmp_path / "A.mtx", name="A")
