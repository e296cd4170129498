"""Files, generators and reductions against SciPy and NumPy."""
import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import vouchnum as vn


def test_round_trip_against_scipy(rng, tmp_path):
    A = sp.csr_array(sp.random(50, 40, density=0.1, random_state=rng))
    vn.write_matrix(tmp_path / "a.mtx", A)
    assert (scipy.io.mmread(tmp_path / "a.mtx").tocsr() != A).nnz == 0
    scipy.io.mmwrite(tmp_path / "b.mtx", A, precision=17)
    B = vn.read_matrix(tmp_path / "b.mtx")
    assert B.indptr.dtype == B.indices.dtype == np.int32 and (B != A).nnz == 0
    with open(tmp_path / "b.mtx", "rb") as plain, gzip.open(tmp_path / "c.mtx.gz", "wb") as packed:
        packed.write(plain.read())
    assert (vn.read_matrix(tmp_path / "c.mtx.gz") != A).nnz == 0


def test_dense_files(rng, tmp_path):
    D = rng.normal(size=(7, 5))
    vn.write_matrix(tmp_path / "d.npy", D)
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), D)
    np.testing.assert_array_equal(vn.read_matrix(tmp_path / "d.npy"), D)
    vn.write_matrix(tmp_path / "d.mtx", D)
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "d.mtx"), D)


def test_symmetric_files(tmp_path):
    A = vn.generate("poisson-2d", nx=5)
    vn.write_matrix(tmp_path / "s.mtx", A, symmetry="symmetric")
    assert (vn.read_matrix(tmp_path / "s.mtx") != A).nnz == 0
    A = sp.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(ValueError):
        vn.write_matrix(tmp_path / "t.mtx", A, symmetry="symmetric")
    assert not (tmp_path / "t.mtx").exists()


def test_errors_say_where(tmp_path):
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(vn.ParseError) as raised:
        vn.read_matrix(tmp_path / "bad.mtx")
    assert raised.value.line == 3 and raised.value.column == 3 and raised.value.file.endswith("bad.mtx")
    with pytest.raises(OSError):
        vn.read_matrix(tmp_path / "none.mtx")
    with pytest.raises(ValueError):
        vn.write_matrix(tmp_path / "nan.npy", np.array([np.nan]))
    with pytest.raises(OSError):
        vn.write_matrix(tmp_path / "no" / "such" / "folder.npy", np.ones(2))


def test_problems():
    assert any(name == "poisson-2d" for name, *_ in vn.problems())
    A = vn.generate("poisson-1d", nx=6)
    np.testing.assert_array_equal(A.toarray() / A[0, 0] * 2, 2 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1))
    for kind in ("ones", "smooth", "random", "integers"):
        A, (b, x) = vn.generate("poisson-2d", nx=9, solution=kind, seed=3)
        np.testing.assert_allclose(A @ x, b, atol=1e-12 * np.abs(b).max())
    with pytest.raises(ValueError):
        vn.generate("no-such")
    with pytest.raises(ValueError):
        vn.generate("poisson-2d", wrong=1)
    facts = vn.info(vn.generate("poisson-2d", nx=10))
    assert facts["symmetric"] and facts["rows"] == 100 and facts["bandwidth_lower"] == 10


def test_reductions(rng, tmp_path):
    sets = rng.integers(-(10**6), 10**6, (50, 2, 3))
    text = "50\n" + "".join("***\n" + "\n".join(" ".join(map(str, row)) for row in m) + "\n" for m in sets)
    (tmp_path / "set.txt").write_text(text)
    found = vn.reduce(tmp_path / "set.txt", ["min", "max", "sum", "mean", "count", "argmin"], rigorous=True)
    np.testing.assert_array_equal(found["min"], sets.min(axis=0))
    np.testing.assert_array_equal(found["max"], sets.max(axis=0))
    np.testing.assert_array_equal(found["argmin"], sets.argmin(axis=0))
    np.testing.assert_array_equal(found["sum"]["value"] if isinstance(found["sum"], dict) else found["sum"],
                                  sets.sum(axis=0))
    mean = found["mean"]
    exact = sets.sum(axis=0) / 50
    assert (mean["lower"] <= exact).all() and (exact <= mean["upper"]).all()
    assert found["count"] == found["matrices"] == 50
    (tmp_path / "big.txt").write_text("2\n***\n9223372036854775807\n***\n9223372036854775807\n")
    assert vn.reduce(tmp_path / "big.txt", "sum")["sum"][0, 0] == 2 * (2**63 - 1)


def test_the_gallery_has_every_problem():
    names = [name.replace("-", "_") for name, _, _ in vn.problems()]
    assert vn.gallery.__all__ == names
    for name, _, dimension in vn.problems():
        if dimension == 0:
            continue
        A = getattr(vn.gallery, name.replace("-", "_"))(4)
        assert sp.issparse(A) and (A != vn.generate(name, nx=4)).nnz == 0
    n = 5
    line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    box = sp.kronsum(line, line)
    assert (vn.gallery.poisson_2d(n) != box).nnz == 0
    with pytest.raises(TypeError):
        vn.gallery.poisson_1d(3, 4)
    with pytest.raises(ValueError):
        vn.gallery.poisson_1d(3, boundary="none")


def test_complex_files(rng, tmp_path):
    A = sp.random(20, 30, density=0.2, random_state=rng) + 1j * sp.random(20, 30, density=0.2, random_state=rng)
    scipy.io.mmwrite(tmp_path / "c.mtx", A, precision=17)
    assert abs(vn.read_matrix(tmp_path / "c.mtx") - A).max() == 0
    H = A @ A.conj().T
    scipy.io.mmwrite(tmp_path / "h.mtx", H, precision=17, symmetry="hermitian")
    assert abs(vn.read_matrix(tmp_path / "h.mtx") - H).max() < 1e-14
    D = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    np.save(tmp_path / "d.npy", D)
    np.testing.assert_array_equal(vn.read_matrix(tmp_path / "d.npy"), D)
    for name in ("c.mtx", "h.mtx"):
        assert vn.scipy.mminfo(tmp_path / name) == scipy.io.mminfo(tmp_path / name)
        assert abs(vn.scipy.mmread(tmp_path / name) - scipy.io.mmread(tmp_path / name)).max() == 0
