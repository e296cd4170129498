"""What is wrong is refused in one sentence that names it: never a crash, never a result of something else."""
import numpy as np
import pytest
import scipy.sparse as sp
import vouchnum as vn
import vouchnum.scipy as vs

A = vn.generate("poisson-2d", nx=6)
n = A.shape[0]
D, b = A.toarray(), np.ones(n)
T = vn.Tridiagonal(-np.ones(n), 4 * np.ones(n), -np.ones(n))
o = dict(spot=100.0, strike=100.0, volatility=0.2, expiry=1.0)

refused = [
    ("x0 has shape (3,), the solution (36,)", lambda M: vn.solve(M, b, x0=np.ones(3))),
    ("threads is '2'", lambda M: vn.solve(M, b, threads="2")),
    ("threads is True", lambda M: vn.solve(M, b, threads=True)),
    ("rtol is '1e-3'", lambda M: vn.solve(M, b, rtol="1e-3")),
    ("atol is nan", lambda M: vn.solve(M, b, atol=np.nan)),
    ("method is None", lambda M: vn.solve(M, b, method=None)),
    ("fixed_iterations is '2'", lambda M: vn.solve(M, b, method="cg", fixed_iterations="2")),
    ("sweep is sideways: one of forward", lambda M: vn.solve(M, b, method="sor", sweep="sideways")),
    ("ordering is red: one of natural", lambda M: vn.solve(M, b, method="sor", ordering="red")),
    ("exclude each other", lambda M: vn.solve(M, b, method="cg", max_iterations=3, fixed_iterations=2)),
    ("out is a masked array", lambda M: vn.solve(M, b, out=np.ma.zeros(n))),
    ("out is of type int64", lambda M: vn.solve(M, b, out=np.zeros(n, np.int64))),
    ("matrix_radius is -1", lambda M: vn.verify(M, b, b, matrix_radius=-1)),
    ("rhs_radius is 'a'", lambda M: vn.verify(M, b, b, rhs_radius="a")),
    ("certificate is a int", lambda M: vn.verify(M, b, b, certificate=3)),
    ("b holds a NaN or an infinity", lambda M: vn.solve(M * 1j, np.full(n, np.nan)) if M is not T else vn.solve(A * 1j, b * np.nan)),
    ("method is 'cg', which makes no factors", lambda M: vn.factor(M, method="cg")),
]


@pytest.mark.parametrize("kind", ["sparse", "dense", "tridiagonal"])
@pytest.mark.parametrize("said, call", refused, ids=[said for said, _ in refused])
def test_calls_with_a_matrix(kind, said, call):
    with pytest.raises(vn.InputError) as raised:
        call({"sparse": A, "dense": D, "tridiagonal": T}[kind])
    assert said in str(raised.value)


alone = [
    ("coordinates has 4 nodes in 2 dimensions", lambda: vn.solve(A, b, coordinates=np.ones((4, 2)))),
    ("coordinates has 4 columns", lambda: vn.solve(A, b, coordinates=np.ones((9, 4)))),
    ("coordinates is for real matrices", lambda: vn.cg(A * (1 + 0j), b, coordinates=np.ones((18, 2)))),
    ("precond is 3 by 3, the matrix 36 by 36", lambda: vn.cg(A, b, precond=sp.eye_array(3))),
    ("precond is a int", lambda: vn.cg(A, b, precond=3)),
    ("A made a NaN", lambda: vn.gmres(lambda v: v * np.nan, b)),
    ("A is no array of numbers", lambda: vn.solve([[1, 2], [3]], [1, 2])),
    ("A holds integers beyond 2**53", lambda: vn.solve(sp.csr_array(np.array([[2**53 + 1]])), [1.0])),
    ("A is sparse, and a dense array is wanted", lambda: vn.matmul(A, A)),
    ("A is a ndarray, and a sparse matrix", lambda: vn.info(D)),
    ("b has 3 rows, the matrix 2", lambda: vn.solve(np.diag([1j, 1]), np.ones(3))),
    ("A is 3 by 2, not square", lambda: vn.solve(np.ones((3, 2)) * 1j, np.ones(3))),
    ("out is of type float64", lambda: vn.solve(np.diag([1j, 1]), np.ones(2), out=np.zeros(2))),
    ("tolerance is 'a'", lambda: vn.price(**o, tolerance="a")),
    ("dividends has shape (1,)", lambda: vn.price(**o, dividends=[1])),
    ("needs its barrier_level", lambda: vn.price(**o, barrier="up-and-in")),
    ("Bermudan exercise needs its dates", lambda: vn.price(**o, exercise="bermudan")),
    ("shapes do not fit together: spot (2,), strike (3,)", lambda: vn.price(**{**o, "spot": [1, 2], "strike": [1, 2, 3]})),
    ("book is a list", lambda: vn.price_book([1])),
    ("spot is a masked array", lambda: vn.price_book({**o, "type": "call", "spot": np.ma.masked_array([1.0], [True])})),
    ("a blank text is no number", lambda: vn.interval(["0.1", " "])),
    ("shapes (2,) and (3,) do not fit", lambda: vn.interval([1.0, 2.0]) + [1.0, 2.0, 3.0]),
    ("lo has shape (2,), hi (3,)", lambda: vn.interval([1.0, 2.0], [1.0, 2.0, 3.0])),
    ("A holds a NaN", lambda: vn.matmul(np.full((2, 2), np.nan), np.ones((2, 2)))),
    ("holds a NUL", lambda: vn.write_matrix("a\0b.mtx", A)),
    ("written as Matrix Market", lambda: vn.write_matrix("a.rb", A)),
    ("holds both triangles", lambda: vn.write_matrix("a.npz", A, symmetry="symmetric")),
    ("is for sparse matrices", lambda: vn.write_matrix("a.npz", A.toarray())),
]


@pytest.mark.parametrize("said, call", alone, ids=[said for said, _ in alone])
def test_calls(said, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(vn.InputError) as raised:
        call()
    assert said in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", vn.methods())
def test_what_makes_factors_takes_no_number_of_iterations(method):
    from vouchnum.linalg import _factorising

    try:
        vn.solve(A, b, method=method, fixed_iterations=2)
        takes = True
    except vn.InputError as e:
        takes = "fixed-iterations" not in str(e)
    assert takes == (method not in _factorising)


def test_numbers_of_other_libraries_are_numbers():
    assert vn.solve(A, b, threads=np.int64(1), rtol=np.float32(1e-6), atol=np.int8(0)).converged


def test_scipys_functions_refuse_as_scipys_do():
    for ab in (np.full((3, 5), np.nan), np.full((3, 5), np.nan + 0j)):
        with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
            vs.solve_banded((1, 1), ab, np.ones(5))
    with pytest.raises(ValueError):
        vs.solve_banded((-1, 1), np.ones((1, 4)), np.ones(4))
    np.testing.assert_allclose(vs.spsolve(A, [1.0] * n), np.linalg.solve(D, b))
    rounded = D.copy()
    rounded[0, 1] *= 1 + 1e-15
    assert vs.cg(rounded, b, rtol=1e-10)[1] == vs.cg(sp.csr_array(rounded), b, rtol=1e-10)[1] == 0
    for form in ("dia", "lil", "dok", "coo"):
        assert vs.cg(sp.csr_array(rounded).asformat(form), b)[1] == 0
    for unlike in (np.array([[True, True], [False, True]]), np.array([[1, 2], [0, 1]])):
        with pytest.raises(vn.InputError, match="not symmetric"):
            vs.cg(unlike, np.ones(2))
    assert vn.factor([[2j, 0.0], [0.0, 1.0]])([2j, 1.0]).tolist() == [1, 1]
    for broken in (-1, 99):
        B = sp.csr_array(rounded)
        B.indices[2] = broken
        with pytest.raises(ValueError, match="out of range"):
            vs.cg(B, b)


def test_minres_takes_a_shift_as_scipys_does():
    import scipy.sparse.linalg as sla

    for operand in (A, A.tocsc(), D, sla.aslinearoperator(A)):
        x, info = vs.minres(operand, b, shift=0.7, rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(x, np.linalg.solve(D - 0.7 * np.eye(n), b), rtol=1e-6)


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        vn.read_matrix(tmp_path / "none.mtx")
    assert isinstance(raised.value, vn.FileError) and raised.value.filename == str(tmp_path / "none.mtx")
    for wrong in (None, 3, open(__file__, "rb")):
        with pytest.raises(TypeError, match="expected str, bytes or os.PathLike"):
            vn.read_matrix(wrong)


@pytest.mark.parametrize("made", [lambda: A.copy(), lambda: A.tocsc(), lambda: A.tocoo(copy=True), lambda: A.astype(np.float32),
                                  lambda: D.copy(), lambda: D.astype(np.float32), lambda: D[::-1][::-1].T.copy(), D.tolist])
def test_a_matrix_that_was_changed_since_is_noticed(made):
    B = made()
    certificate = vn.certify(B)
    x = np.linalg.solve(D, b)
    assert vn.verify(B, b, x, certificate=certificate).verified
    (B.data if sp.issparse(B) else B[0] if isinstance(B, list) else B.reshape(-1))[0] = 9
    with pytest.raises(vn.InputError, match="changed since"):
        vn.verify(B, b, x, certificate=certificate)


def test_arrays_that_are_put_in_place_of_others_are_noticed():
    B = A.copy()
    certificate = vn.certify(B)
    B.data = 2 * B.data
    with pytest.raises(vn.InputError, match="changed since"):
        certificate.bound(b, b)


def test_vectors_times_intervals_and_numbers_beside_them():
    X = vn.interval(np.array([[1.0, 2.0], [3.0, 4.0]]))
    for product, exact in ((X @ np.array([1.0, 1.0]), [3.0, 7.0]), (vn.matmul([1.0, 1.0], X), [4.0, 6.0]),
                           (vn.matmul([1.0, 2.0], [3.0, 4.0]), 11.0)):
        assert product.shape == np.shape(exact) and exact in product and (product.wid < 1e-13).all()
    assert vn.interval(1.0) == 1.0 and not vn.interval("0.1") == 0.1 and not vn.interval(1.0) == "text"
    assert (X[np.array([True, False])] == [[1.0, 2.0]]).all()


def test_the_log_has_a_word_of_big_copies(caplog):
    caplog.set_level("INFO", "vouchnum")
    big = vn.generate("poisson-2d", nx=400)
    y = np.ones(160000)
    vn.solve(big, y, max_iterations=1, method="cg")
    assert not [r for r in caplog.records if "copied" in r.message]
    for made, said in ((big.astype(np.float32), "A.data is copied"), (big.tocsc(), "A is converted from csc to csr")):
        caplog.clear()
        vn.solve(made, y, max_iterations=1, method="cg")
        assert any(said in r.message for r in caplog.records)
    caplog.clear()
    vn.solve(big, y.astype(np.float32), max_iterations=1, method="cg")
    assert "b is copied" in caplog.text
