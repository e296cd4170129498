"""Solutions against NumPy, SciPy and exact fractions; wrong input; interrupts, forks and threads."""
import ctypes
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import vouchnum as vn


def unsymmetric(rng, n=200):
    A = sp.random(n, n, density=0.03, random_state=rng, format="csr") + sp.diags_array(np.full(n, 2.0))
    return sp.csr_array(A)


def poisson(n=20):
    return vn.generate("poisson-2d", nx=n)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_sparse_format(rng, form, index):
    A = unsymmetric(rng).asformat(form)
    if form in ("csr", "csc", "bsr"):
        A.indptr, A.indices = A.indptr.astype(index), A.indices.astype(index)
    b = rng.normal(size=A.shape[0])
    result = vn.solve(A, b, rtol=1e-12)
    assert result.converged
    np.testing.assert_allclose(result.x, np.linalg.solve(A.toarray(), b), rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_dense(rng, order, dtype):
    A = np.array(rng.integers(-9, 9, (40, 40)) + 40 * np.eye(40), dtype=dtype, order=order)
    B = rng.normal(size=(40, 3))
    before = A.copy()
    result = vn.solve(A, B)
    assert result.converged and result.method == "lu"
    np.testing.assert_allclose(result.x, np.linalg.solve(A.astype(float), B), rtol=1e-10)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("view", [lambda A: A[::2, ::2], lambda A: A[::-1, ::-1], lambda A: A.T])
def test_strided_dense(rng, view):
    A = view(rng.normal(size=(30, 30)) + 30 * np.eye(30))
    b = np.ones(2 * A.shape[0])[::2]
    np.testing.assert_allclose(vn.solve(A, b).x, np.linalg.solve(A, b), rtol=1e-10)


@pytest.mark.parametrize("name", ["cg", "minres", "gmres", "fgmres", "bicgstab", "idr", "fcg", "lsqr", "lsmr", "jacobi",
                                  "gauss_seidel", "sor"])
def test_methods_by_name(name):
    A = poisson() + 4 * sp.eye_array(400)
    b = np.arange(400.0)
    result = getattr(vn, name)(A, b, rtol=1e-10)
    assert result.converged, result.reason
    np.testing.assert_allclose(result.x, sla.spsolve(A.tocsc(), b), rtol=1e-7)
    assert result.relative_residual <= 1e-10
    assert np.linalg.norm(b - A @ result.x) <= 1.001e-10 * np.linalg.norm(b)


@pytest.mark.parametrize("precond", [None, "jacobi", "ilut", "amg"])
@pytest.mark.parametrize("method", ["gmres", "fgmres", "bicgstab", "idr"])
def test_methods_take_complex_matrices(method, precond):
    A = sp.csr_array(poisson() * (2 + 1j) + sp.diags_array(1 + 1j * np.arange(400.0) / 400))
    b = np.arange(400.0) - 3j
    result = getattr(vn, method)(A, b, rtol=1e-10, precond=precond)
    assert result.converged, result.reason
    np.testing.assert_allclose(result.x, sla.spsolve(A.tocsc(), b), rtol=1e-7)


@pytest.mark.parametrize("precond", [None, "jacobi", "amg"])
def test_cocg_takes_complex_symmetric_matrices(precond):
    A = poisson() + (1 + 2j) * sp.eye_array(400)
    b = np.arange(400.0) + 1j
    result = vn.cocg(A, b, rtol=1e-10, precond=precond)
    assert result.converged, result.reason
    assert result.method == "cocg"
    np.testing.assert_allclose(result.x, sla.spsolve(A.tocsc(), b), rtol=1e-7)
    with pytest.raises(vn.InputError, match="Hermitian, not complex symmetric"):
        vn.cocg(poisson() * (1 + 0j), b)


def test_operators_and_preconditioners(rng):
    A = poisson()
    b = rng.normal(size=400)
    exact = sla.spsolve(A.tocsc(), b)
    D = sp.diags_array(1 / A.diagonal())
    for M in (None, "jacobi", "ic0", D, sla.aslinearoperator(D), lambda r: r / 4):
        result = vn.cg(A, b, precond=M, rtol=1e-10)
        assert result.converged
        np.testing.assert_allclose(result.x, exact, rtol=1e-6)
    for operator in (sla.aslinearoperator(A), lambda v: A @ v):
        result = vn.cg(operator, b, rtol=1e-10)
        assert result.converged
        np.testing.assert_allclose(result.x, exact, rtol=1e-6)
    factor = vn.factor(A).as_operator()
    x, info = sla.gmres(A, b, M=factor, rtol=1e-10)
    assert info == 0


def test_factors(rng):
    A = unsymmetric(rng)
    with vn.factor(A) as f:
        for _ in range(3):
            b = rng.normal(size=A.shape[0])
            np.testing.assert_allclose(f(b), sla.spsolve(A.tocsc(), b), rtol=1e-9)
    D = rng.normal(size=(30, 30))
    np.testing.assert_allclose(vn.factor(D)(D @ np.ones(30)), np.ones(30), rtol=1e-9)


def test_backends(rng):
    A = unsymmetric(rng)
    b = rng.normal(size=A.shape[0])
    result = vn.solve(A, b, method="sparse-lu", backend="own")
    assert result.converged and result.report["backend"] == "own"
    with pytest.raises(ValueError, match="no-such"):
        vn.solve(A, b, method="sparse-lu", backend="no-such")


def test_tridiagonal(rng):
    n, m = 50, 4
    dl, d, du = rng.normal(size=(m, n)), 5 + rng.random((m, n)), rng.normal(size=(m, n))
    b = rng.normal(size=(m, n))
    x = vn.solve(vn.Tridiagonal(dl, d, du), b).x
    for k in range(m):
        T = vn.Tridiagonal(dl[k], d[k], du[k])
        np.testing.assert_allclose(x[k], np.linalg.solve(T.to_sparse().toarray(), b[k]), rtol=1e-10)
    ring = vn.Tridiagonal(dl[0], d[0], du[0], periodic=True)
    np.testing.assert_allclose(vn.solve(ring, b[0]).x, np.linalg.solve(ring.to_sparse().toarray(), b[0]), rtol=1e-10)
    assert vn.verify(ring if False else vn.Tridiagonal(dl[0], d[0], du[0]), b[0], x[0]).verified


def test_senseless_numbers_are_refused_by_name():
    A, b = poisson(), np.ones(400)
    for number in (0, 1.5, 10**30, np.inf, np.nan, "3", [3], True):
        with pytest.raises(vn.InputError, match="max_iterations"):
            vn.cg(A, b, max_iterations=number)
    for number in (0, 0.5, 1.5, True, 16, "3"):
        with pytest.raises(vn.InputError, match="digits"):
            vn.verify(A, b, b, digits=number)
    for number in (0, 1.5, 20, "yes"):
        with pytest.raises(vn.InputError, match="verify"):
            vn.solve(A, b, verify=number)
    with pytest.raises(vn.InputError, match="relative"):
        vn.verify(A, b, b, relative=2.0)
    assert vn.verify(A, b, vn.solve(A, b).x, digits=np.int64(3)).reached
    with pytest.raises(vn.InputError):
        vn.sor(A, b, omega="auto")


def test_radii_of_batches_stand_at_their_components():
    o = np.zeros((2, 3))
    d = np.array([[3.0, 3.0, 3.0], [7e5, 7e5, 7e5]])
    b = np.array([[1.0, 1e3, 1e6], [1.0, 1.0, 1.0]])
    T = vn.Tridiagonal(o, d, o)
    exact = [[Fraction(b[k, i]) / Fraction(d[k, i]) for i in range(3)] for k in range(2)]
    far = b.copy()
    for proof in (vn.solve(T, b, verify=True).enclosure, vn.verify(T, b, far), vn.certify(T).bound(b, far)):
        assert proof.verified
        for k in range(2):
            for i in range(3):
                error = abs(Fraction(float(proof.x[k, i])) - exact[k][i])
                assert error <= Fraction(float(proof.radius[k, i])), (k, i)


def test_results():
    A = poisson()
    b = np.ones(400)
    result = vn.cg(A, b)
    x, info = result
    assert info == 0 and x is result.x
    assert result.to_dict()["residual"]["relative_true"] == result.relative_residual
    assert result.history["iteration"][-1] == result.iterations
    assert "<svg" in result._repr_html_() and "converged" in repr(result)
    with pytest.raises(TypeError):
        bool(result)
    short = vn.cg(A, b, max_iterations=3)
    assert short.status == "max_iterations" and short.info == 3 and not short.converged
    with pytest.raises(vn.NotConverged) as raised:
        vn.cg(A, b, max_iterations=3, raise_on_failure=True)
    assert raised.value.result.iterations == 3
    assert pickle.loads(pickle.dumps(result)).iterations == result.iterations


def test_starts_and_outputs():
    A, (b, exact) = vn.generate("poisson-2d", nx=20, solution="smooth")
    start = exact.copy()
    assert vn.cg(A, b, x0=start).iterations == 0
    np.testing.assert_array_equal(start, exact)
    out = np.zeros(400)
    assert vn.cg(A, b, out=out).x is out and abs(out - exact).max() < 1e-6
    with pytest.raises(vn.ShapeError):
        vn.cg(A, b, out=np.zeros(3))
    frozen = np.zeros(400)
    frozen.flags.writeable = False
    with pytest.raises(vn.ShapeError):
        vn.cg(A, b, out=frozen)


def test_read_only_operands_are_taken_where_they_lie():
    A, (b, exact) = vn.generate("poisson-2d", nx=20, solution="ones")
    for array in (A.data, A.indices, A.indptr, b):
        array.flags.writeable = False
    assert abs(vn.solve(A, b).x - exact).max() < 1e-6


def test_the_same_bits_for_any_number_of_threads():
    A, (b, _) = vn.generate("elasticity-3d", nx=8, solution="smooth")
    one = vn.solve(A, b, threads=1).x
    assert (vn.solve(A, b, threads=2).x == one).all()
    with vn.threads(3):
        assert (vn.solve(A, b).x == one).all()


def test_callback():
    A = poisson()
    seen = []
    vn.cg(A, np.ones(400), callback=lambda *line: seen.append(line))
    assert [line[0] for line in seen] == list(range(len(seen))) and seen[-1][1] < seen[0][1]
    result = vn.cg(A, np.ones(400), callback=lambda iteration, *_: iteration < 5)
    assert result.status == "interrupted" and result.iterations <= 6

    def fails(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        vn.cg(A, np.ones(400), callback=fails)
    with pytest.raises(ZeroDivisionError, match="mine"):
        vn.cg(fails, np.ones(4))


@pytest.mark.parametrize("name", ["cg", "fcg", "minres", "bicgstab", "idr", "gmres"])
@pytest.mark.parametrize("M", [None, "jacobi", lambda r: r / 4])
def test_iterates_are_true(name, M):
    A, (b, _) = vn.generate("poisson-2d", nx=15, solution="smooth")
    seen, residuals = [], []
    result = getattr(vn, name)(A, b, precond=M, rtol=1e-10, iterates=seen.append,
                               callback=lambda iteration, residual, _: residuals.append(residual))
    assert result.converged and (abs(seen[-1] - result.x) <= 1e-14 * abs(result.x).max()).all()
    norms = [np.linalg.norm(b - A @ x) for x in seen]
    assert norms[-1] <= 1.01e-10 * np.linalg.norm(b)
    if name != "gmres":
        assert len(seen) == result.iterations
        np.testing.assert_allclose(norms, residuals[1:], atol=1e-12 * np.linalg.norm(b))
    ended = getattr(vn, name)(A, b, precond=M, rtol=1e-10, iterates=lambda x: False)
    assert ended.status in ("interrupted", "converged") and ended.iterations <= max(1, result.iterations)

    def fails(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        getattr(vn, name)(A, b, iterates=fails)


def test_solutions_go_where_out_says(rng):
    A, (B, exact) = poisson(), (rng.normal(size=(400, 3)), None)
    exact = sla.spsolve(A.tocsc(), B)
    for out in (np.empty((400, 3)), np.empty((400, 3), order="F"), np.empty((800, 6))[::2, ::2], np.empty((400, 3), np.float32)):
        result = vn.cg(A, B, rtol=1e-10, out=out)
        assert result.x is out
        np.testing.assert_allclose(out, exact, rtol=1e-5, atol=1e-6)
    b = B[:, 0].copy()
    vn.cg(A, b, rtol=1e-10, out=b)  # over its own right-hand side
    np.testing.assert_allclose(b, exact[:, 0], rtol=1e-6, atol=1e-9)


class OnlyDLPack:
    """An array of some other library."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)


def test_arrays_of_other_libraries(rng):
    A, b = rng.normal(size=(20, 20)) + 20 * np.eye(20), rng.normal(size=20)
    exact = np.linalg.solve(A, b)
    np.testing.assert_allclose(vn.solve(OnlyDLPack(A), OnlyDLPack(b)).x, exact, rtol=1e-10)
    out = np.empty(20)
    vn.solve(A, b, out=OnlyDLPack(out))
    np.testing.assert_allclose(out, exact, rtol=1e-10)
    cuda = 2
    for call in (lambda: vn.solve(OnlyDLPack(A, cuda), b), lambda: vn.solve(A, OnlyDLPack(b, cuda))):
        with pytest.raises(ValueError, match="on a GPU"):
            call()


def test_tensors_of_torch(rng):
    torch = pytest.importorskip("torch")
    A, (b, exact) = vn.generate("poisson-2d", nx=20, solution="smooth")
    csr = torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), A.shape)
    for matrix in (csr, csr.to_sparse_coo(), csr.to_dense()):
        result = vn.solve(matrix, torch.from_numpy(b), rtol=1e-10)
        assert isinstance(result.x, torch.Tensor) and result.converged
        np.testing.assert_allclose(result.x.numpy(), exact, atol=1e-8)
    out = torch.empty(400, dtype=torch.float64)
    assert vn.cg(csr, torch.from_numpy(b), out=out).x is out and abs(out.numpy() - exact).max() < 1e-6
    assert vn.verify(csr, torch.from_numpy(b), result.x).verified
    with pytest.raises(ValueError, match="detach"):
        vn.cg(csr, torch.from_numpy(b.copy()).requires_grad_())
    turned = vn.cg(csr, torch.from_numpy(b).to(torch.complex128) * 1j).x
    assert abs(turned - 1j * exact).max() < 1e-6


def test_arrays_of_jax(rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    A, b = rng.normal(size=(20, 20)) + 20 * np.eye(20), rng.normal(size=20)
    x = vn.solve(jax.numpy.asarray(A), jax.numpy.asarray(b)).x
    assert isinstance(x, jax.Array)
    np.testing.assert_allclose(np.asarray(x), np.linalg.solve(A, b), rtol=1e-10)


def test_devices_by_name():
    A, b = poisson(), np.ones(400)
    assert vn.solve(A, b, device="auto").converged
    for name in ("gpu", "cuda:", "cuda:-1", "cuda:x"):
        with pytest.raises(ValueError, match="device"):
            vn.solve(A, b, device=name)
    try:
        result = vn.solve(A, b, method="cg", device="cuda")
    except vn.NoCudaError:
        return
    assert result.converged and result.report["device"] == "cuda"


def test_a_certificate_serves_many(rng):
    A = poisson()
    certificate = vn.certify(A)
    for _ in range(3):
        b = rng.normal(size=400)
        e = vn.verify(A, b, vn.solve(A, b).x, certificate=certificate)
        assert e.verified
    with pytest.raises(ValueError, match="another matrix"):
        vn.verify(A.copy(), b, b, certificate=certificate)


class OnGPU:
    """An array that the CUDA runtime keeps, with the CUDA array interface; without a GPU one that claims to be there."""

    def __init__(self, array):
        self.facts = {"shape": array.shape, "typestr": array.dtype.str, "strides": None, "version": 3, "data": (0, False)}
        self.runtime, self.bytes = cuda_runtime(), array.nbytes
        address = ctypes.c_void_p()
        if self.runtime is not None and self.runtime.cudaMalloc(ctypes.byref(address), array.nbytes) == 0:
            self.facts["data"] = (address.value, False)
            to_device = 1
            assert self.runtime.cudaMemcpy(address, array.ctypes.data_as(ctypes.c_void_p), array.nbytes, to_device) == 0

    __cuda_array_interface__ = property(lambda self: self.facts)

    def __setitem__(self, _, value):
        assert value == 0.0
        if self.facts["data"][0]:
            assert self.runtime.cudaMemset(ctypes.c_void_p(self.facts["data"][0]), 0, self.bytes) == 0

    def back(self):
        array = np.empty(self.facts["shape"], self.facts["typestr"])
        to_host = 2
        assert self.runtime.cudaMemcpy(array.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.facts["data"][0]),
                                       array.nbytes, to_host) == 0
        return array


def cuda_runtime():
    for name in ("libcudart.so", "libcudart.so.13", "libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_arrays_on_a_gpu(offsets):
    A, (b, exact) = vn.generate("poisson-2d", nx=60, solution="smooth")
    on_gpu = types.SimpleNamespace(shape=A.shape, format="csr", indptr=OnGPU(A.indptr.astype(offsets)),
                                   indices=OnGPU(A.indices), data=OnGPU(A.data))
    x = OnGPU(np.zeros_like(b))
    try:
        result = vn.cg(on_gpu, OnGPU(b), rtol=1e-10, out=x)
    except vn.NoCudaError:
        pytest.skip("no GPU")
    assert result.converged and result.x is x and result.report["device"] == "cuda"
    np.testing.assert_allclose(x.back(), exact, atol=1e-8)


def test_wrong_arrays_on_a_gpu_are_refused():
    A, b = poisson(), np.ones(400)
    def matrix(data):
        return types.SimpleNamespace(shape=A.shape, format="csr", indptr=OnGPU(A.indptr), indices=OnGPU(A.indices), data=data)
    cases = [matrix(OnGPU(A.data.reshape(1, -1))), matrix(OnGPU(A.data))]
    for case in cases:
        with pytest.raises((ValueError, vn.NoCudaError)):
            vn.cg(case, b)  # b is not there
    with pytest.raises(ValueError, match="proof"):
        vn.cg(cases[1], OnGPU(b), verify=True)
    with pytest.raises(ValueError, match="GPU"):
        vn.verify(A, OnGPU(b), b)


@pytest.mark.parametrize("method", ["auto", "lsqr", "lsmr"])
@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_matrices_that_are_not_square(rng, method, shape):
    A = sp.csr_array(sp.random(*shape, density=0.2, random_state=rng) + sp.eye_array(*shape))
    b = rng.normal(size=shape[0])
    result = vn.solve(A, b, method=method, rtol=1e-12)
    assert result.converged and result.x.shape == (shape[1],), result.reason
    least = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
    if shape[0] > shape[1]:  # of a wide one the shortest solution takes SPQR
        np.testing.assert_allclose(result.x, least, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(b - A @ result.x), np.linalg.norm(b - A @ least), rtol=1e-8, atol=1e-9)
    assert vn.solve(A, b, method=method, out=np.empty(shape[1])).x.shape == (shape[1],)
    with pytest.raises(vn.ShapeError):
        vn.solve(A, np.ones(shape[1]), method=method)
    enclosed = vn.verify(A, b, least)
    assert enclosed.verified and enclosed.radius.shape == (shape[1],) and enclosed.max_absolute < 1e-12, enclosed.reason
    with pytest.raises(vn.ShapeError):
        vn.verify(A, b, b)
    assert vn.solve(A, b, method=method, verify=12).enclosure.digits >= 12


def test_factors_and_certificates_are_pickled_as_matrices(rng):
    A = unsymmetric(rng)
    b = rng.normal(size=A.shape[0])
    f = pickle.loads(pickle.dumps(vn.factor(A)))
    np.testing.assert_array_equal(f(b), vn.factor(A)(b))
    P = poisson(8)
    e = pickle.loads(pickle.dumps(vn.certify(P))).bound(np.ones(64), vn.solve(P, np.ones(64)).x)
    assert e.verified and pickle.loads(pickle.dumps(e)).max_absolute == e.max_absolute


def exact_solution(A, b):
    n = len(b)
    M = [[Fraction(v) for v in row] + [Fraction(r)] for row, r in zip(A.tolist(), b.tolist())]
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k] != 0), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k and M[i][k] != 0:
                f = M[i][k] / M[k][k]
                M[i] = [u - f * v for u, v in zip(M[i], M[k])]
    return [M[i][n] / M[i][i] for i in range(n)]


def test_proofs_against_fractions(rng):
    proved = 0
    for case in range(300):
        n = int(rng.integers(1, 9))
        A = rng.integers(-9, 10, (n, n)).astype(float) * 2.0 ** rng.integers(-30, 30)
        if case % 3 == 0:
            A += np.diag(np.abs(A).sum(axis=1) + 2.0**-31)
        b = rng.normal(size=n)
        x = rng.normal(size=n) if case % 5 == 0 else np.linalg.lstsq(A, b, rcond=None)[0]
        exact = exact_solution(A, b)
        for kind in (A, sp.csr_array(A)):
            e = vn.verify(kind, b, x)
            if not e.verified:
                with pytest.raises(vn.NotVerified):
                    e.raise_if_unverified()
                continue
            proved += 1
            assert exact is not None
            for low, high, value in zip(e.lower.tolist(), e.upper.tolist(), exact):
                assert Fraction(low) <= value <= Fraction(high)
    assert proved > 300


def test_proofs():
    A, (b, _) = vn.generate("poisson-2d", nx=40, solution="random")
    x = sla.spsolve(A.tocsc(), b).astype(np.float32)
    kept = x.copy()
    e = vn.verify(A, b, x)
    assert e.verified and e.digits >= 4 and (x == kept).all()
    improved = vn.verify(A, b, x, digits=12)
    assert improved.reached and improved.max_relative < 1e-12
    assert vn.verify(A, b, x, matrix_radius=1e-9).max_absolute > improved.max_absolute
    result = vn.solve(A, b, verify=True)
    assert result.enclosure.verified
    certificate = vn.certify(A)
    assert certificate.bound(b, x).verified
    A.data[3] *= 2
    with pytest.raises(vn.InputError, match="changed"):
        certificate.bound(b, x)
    with pytest.raises(TypeError):
        bool(e)
    singular = vn.verify(np.ones((2, 2)), [1.0, 1.0], [0.5, 0.5])
    assert not singular.verified and singular.reason


def test_a_proof_is_of_the_given_x():
    A, (b, exact) = vn.gallery.diffusion_2d(30, coefficient="jump", contrast=1e4, solution="smooth")
    rough, _ = sla.cg(A, b, rtol=1e-4)
    for x in (rough, exact + np.where(np.arange(900) == 7, 3.0, 0.0)):
        kept = x.copy()
        e = vn.verify(A, b, x)
        assert e.verified and (e.x == kept).all() and (x == kept).all()
        assert (abs(x - exact) <= e.radius + 1e-9).all() and e.max_absolute >= abs(x - exact).max() - 1e-9
        assert e.max_absolute <= 1.1 * abs(x - exact).max()
    z = vn.verify(A.astype(complex), b, rough + 0j)
    assert z.verified and (abs(rough - exact) <= z.radius + 1e-9).all() and (z.x == rough).all()
    T = vn.Tridiagonal(np.full((2, 5), -1.0), np.full((2, 5), 3.0), np.full((2, 5), -1.0))
    off = np.full((2, 5), 1.0)
    truth = np.linalg.solve(vn.Tridiagonal(T.dl[0], T.d[0], T.du[0]).to_sparse().toarray(), np.ones(5))
    e = vn.verify(T, np.ones((2, 5)), off)
    assert e.verified and (abs(off - truth) <= e.radius + 1e-14).all()


def test_near_nullspaces():
    n = 12
    A, (b, exact) = vn.gallery.elasticity_2d(n, solution="random")
    y, x = np.meshgrid(np.arange(n + 1), np.arange(1, n + 1), indexing="ij")
    places = np.column_stack([x.ravel(), y.ravel()])
    plain, by_coordinates = vn.cg(A, b, precond="amg"), vn.cg(A, b, coordinates=places)
    assert by_coordinates.converged and abs(by_coordinates.x - exact).max() < 1e-5
    motions = np.zeros((len(places), 2, 3))
    motions[:, 0, 0] = motions[:, 1, 1] = 1
    motions[:, 0, 2], motions[:, 1, 2] = -(places[:, 1] - n / 2), places[:, 0] - n / 2
    by_hand = vn.cg(A, b, near_nullspace=motions.reshape(-1, 3))
    assert by_hand.iterations <= plain.iterations and abs(by_hand.iterations - by_coordinates.iterations) <= 1
    for wrong in (dict(coordinates=places[:-1]), dict(coordinates=places, near_nullspace=motions.reshape(-1, 3)),
                  dict(coordinates=places, precond="jacobi"), dict(near_nullspace=np.ones((7, 1)))):
        with pytest.raises(ValueError):
            vn.cg(A, b, **wrong)


@pytest.mark.parametrize("lower, upper", [(0, 0), (1, 1), (2, 1), (0, 3), (4, 0), (5, 7)])
@pytest.mark.parametrize("kind", [float, complex])
def test_banded_systems(rng, lower, upper, kind):
    import scipy.linalg
    import vouchnum.scipy

    n = 40
    ab = rng.normal(size=(lower + upper + 1, n)) + 0.5
    ab[upper] += 4
    b = rng.normal(size=(n, 3))
    if kind is complex:
        ab = ab + 1j * rng.normal(size=ab.shape)
    for rhs in (b, b[:, 0], b[:, 0] * (1 + 2j)):
        found = vouchnum.scipy.solve_banded((lower, upper), ab, rhs)
        exact = scipy.linalg.solve_banded((lower, upper), ab, rhs)
        assert found.shape == exact.shape and found.dtype == exact.dtype
        np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError):
        vouchnum.scipy.solve_banded((lower + 1, upper), ab, b)
    ab[:] = 0
    with pytest.raises(np.linalg.LinAlgError):
        vouchnum.scipy.solve_banded((lower, upper), ab, b)


def test_wrong_input():
    A, b = poisson(), np.ones(400)
    with pytest.raises(vn.ShapeError):
        vn.solve(A, b[:-1])
    with pytest.raises(vn.ShapeError):
        vn.solve(np.ones((3, 4)), np.ones(3))
    for wrong in (b.astype(np.float16), b.astype(object), np.ma.masked_array(b, b > 2), ["a"] * 400):
        with pytest.raises(ValueError):
            vn.solve(A, wrong)
    with pytest.raises(ValueError):
        vn.solve(A.astype(np.clongdouble), b)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError):
            vn.solve(A, np.where(b > 0, bad, b))
        B = A.copy()
        B.data[5] = bad
        with pytest.raises(ValueError):
            vn.solve(B, b)
    with pytest.raises(ValueError, match="no-such"):
        vn.solve(A, b, method="no-such")
    with pytest.raises(ValueError):
        vn.solve(A, b, rtol=-1.0)
    with pytest.raises(ValueError):
        vn.solve(A, b, precond="no-such")
    with pytest.raises(ValueError):
        vn.solve(A, b, threads=-1)
    with pytest.raises(ValueError):
        vn.solve(A, b, verify=0)
    with pytest.raises(ValueError, match="there is no option omga"):
        vn.sor(A, b, omga=1.2)
    assert vn.solve(sp.csr_array((0, 0)), np.zeros(0)).converged


def test_non_canonical_matrices_are_summed(rng):
    A = sp.csr_array((np.array([-1.0, 2.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_allclose(vn.solve(A, [1.0, 1.0]).x, [1, 1])
    e = vn.verify(A, [1.0, 1.0], [0.0, 1.0])
    assert not e.verified or 1.0 <= e.upper[0]


def test_corrupt_matrices_never_crash(rng):
    base = poisson(4)
    refused = 0
    for case in range(3000):
        A = base.copy()
        A.has_canonical_format = case % 2 == 0
        for _ in range(1 + case % 3):
            which = [A.indptr, A.indices][int(rng.integers(2))]
            which[int(rng.integers(len(which)))] = rng.choice([-1, 0, 3, 15, 16, 99, 2**31 - 1, -(2**31)])
        b = np.ones(16)
        try:
            result = vn.solve(A, b, max_iterations=50)
            if result.converged:
                assert np.linalg.norm(b - A @ result.x) <= 1e-7 * 4
        except ValueError:
            refused += 1
    assert refused > 1000


@pytest.mark.parametrize("form", ["csc", "bsr", "coo", "lil", "dia"])
@pytest.mark.parametrize("wrong", [-1, 99, 2**31 - 1, -(2**31)])
def test_corrupt_matrices_of_other_formats_never_crash(form, wrong):
    for part in range(2):
        A = poisson(6).tobsr(blocksize=(2, 2)) if form == "bsr" else poisson(6).asformat(form, copy=True)
        if form in ("csc", "bsr"):
            (A.indices, A.indptr)[part][2] = wrong
        elif form == "coo":
            (A.row, A.col)[part][2] = wrong
        elif form == "lil":
            A.rows[0] = [wrong] * len(A.rows[0])
        else:
            A.offsets[1] = wrong  # a diagonal that is not in the matrix is none
        for call in (lambda: vn.solve(A, np.ones(36), max_iterations=9), lambda: vn.verify(A, np.ones(36), np.ones(36)),
                     lambda: vn.info(A), lambda: vn.scipy.spsolve(A, np.ones(36))):
            if form == "dia":
                call()
            else:
                with pytest.raises(ValueError, match="out of range|indptr"):
                    call()


def test_ctrl_c_ends_a_long_solve():
    program = """
import signal, numpy as np, vouchnum as vn
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the shell had it ignored
A = vn.generate("poisson-2d", nx=1500)
print("ready", flush=True)
try:
    vn.cg(A, np.random.default_rng(0).normal(size=A.shape[0]), precond="none", rtol=1e-15)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, _ = child.communicate(timeout=60)
    assert "interrupted" in out and time.monotonic() - begin < 20 and child.returncode == 0


def _child(queue):
    A = vn.generate("poisson-2d", nx=60)
    queue.put(vn.solve(A, np.ones(3600), threads=2).converged)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_solves():
    A = vn.generate("poisson-2d", nx=60)
    assert vn.solve(A, np.ones(3600), threads=2).converged
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) is True
    process.join(timeout=60)
    assert process.exitcode == 0


def test_threads_solve_at_once():
    A, (b, _) = vn.generate("poisson-2d", nx=60, solution="random")
    reference = vn.solve(A, b).x
    found = []
    workers = [threading.Thread(target=lambda: found.append(vn.solve(A, b).x)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 8 and all((x == reference).all() for x in found)


def test_the_interpreter_runs_on_meanwhile():
    A = vn.generate("poisson-2d", nx=700)
    b = np.random.default_rng(0).normal(size=A.shape[0])
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    begin = time.monotonic()
    vn.cg(A, b, precond="none", fixed_iterations=300, threads=1)
    took = time.monotonic() - begin
    over.set()
    other.join()
    waits = np.diff([begin, *ticks])
    assert took > 0.1 and waits.max() < 0.5 * took


@pytest.mark.parametrize("work", [
    'vn.price("put", spot=np.linspace(50, 150, 20000), strike=100.0, volatility=0.3, expiry=1.0, dividends=[(0.5, 3.0)], tolerance=1e-7)',
    'vn.implied_volatility(np.full(20000, 12.0), "put", spot=100.0, strike=100.0, expiry=1.0, rate=0.05, exercise="american")',
    'vn.factor(vn.gallery.poisson_3d(45), method="sparse-lu")(np.ones(45**3))',
])
def test_ctrl_c_ends_other_calls(work):
    program = f"""
import signal, numpy as np, vouchnum as vn
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, _ = child.communicate(timeout=60)
    assert "interrupted" in out and time.monotonic() - begin < 20 and child.returncode == 0


def test_memory_does_not_grow():
    A, b = poisson(), np.ones(400)

    def resident():
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(200):
        vn.solve(A, b)
    before = resident()
    for _ in range(1000):
        vn.solve(A, b)
    assert resident() - before < 4e6


def complex_system(n=120):
    rng = np.random.default_rng(3)
    A = sp.random_array((n, n), density=0.05, rng=rng) + 1j * sp.random_array((n, n), density=0.05, rng=rng)
    A = sp.csr_array(A + (4 + 3j) * sp.eye_array(n))
    x = rng.normal(size=n) + 1j * rng.normal(size=n)
    return A, x, A @ x


@pytest.mark.parametrize("method", ["auto", "gmres", "bicgstab", "idr", "sparse-lu"])
def test_complex_systems(method):
    A, exact, b = complex_system()
    r = vn.solve(A, b, method=method, rtol=1e-12)
    assert r.converged and r.x.dtype == np.complex128
    assert abs(r.x - np.linalg.solve(A.toarray(), b)).max() < 1e-9
    assert abs(np.linalg.norm(b - A @ r.x) / np.linalg.norm(b) - r.relative_residual) < 1e-14


def test_complex_operands_of_every_kind():
    A, exact, b = complex_system()
    H, bh = sp.csr_array(A @ A.conj().T), A @ A.conj().T @ exact
    H = sp.csr_array((H + H.conj().T) / 2)
    assert abs(vn.cg(H, H @ exact, precond="jacobi", rtol=1e-12).x - exact).max() < 1e-8
    two = vn.solve(A.toarray(), np.stack([b, 2j * b], axis=1))
    assert abs(two.x - np.stack([exact, 2j * exact], axis=1)).max() < 1e-11
    assert abs(vn.gmres(lambda v: A @ v, b, rtol=1e-12).x - exact).max() < 1e-9
    R = sp.csr_array(A.real)
    assert abs(vn.solve(R, R @ exact, rtol=1e-12).x - exact).max() < 1e-8
    F = vn.factor(A)
    assert abs(F(b) - exact).max() < 1e-12 and abs(F.as_operator() @ b - exact).max() < 1e-12
    out = np.zeros_like(b)
    assert vn.solve(A, b, out=out).x is out and abs(out - exact).max() < 1e-6
    with pytest.raises(ValueError, match="Tridiagonal|tridiagonal"):
        vn.solve(vn.Tridiagonal([0, 1], [4, 4], [1, 0]), np.array([1j, 1]))


def test_complex_proofs_hold_where_numbers_are_small():
    A = sp.csr_array(np.diag([1.0 + 0j, 2.0]))
    for tiny in (5e-324, 1e-310, 1e-200):
        x = np.array([1 + 1j, 1j])
        proof = vn.verify(A, A @ x, x + complex(tiny, tiny), matrix_radius=1e-300)
        r = proof.parts.radius.reshape(-1, 2)
        for k in range(2):
            assert Fraction(proof.radius[k]) ** 2 >= Fraction(r[k, 0]) ** 2 + Fraction(r[k, 1]) ** 2


def test_complex_operands_are_checked_as_real_ones():
    A, exact, b = complex_system(20)
    for wrong in (np.ma.masked_array(b, np.abs(b) > 1), np.array([2**53 + 1] * 20), b.astype(np.clongdouble)):
        with pytest.raises(ValueError):
            vn.solve(A, wrong)
    with pytest.raises(ValueError):
        vn.solve(sp.csr_array(A).astype(np.clongdouble), b)
    assert vn.factor(A).solve(b, out=(out := np.empty_like(b))).x is out


def test_ranks_and_inertias_are_of_the_complex_matrix():
    H = sp.csr_array(np.diag([3.0 + 0j, -1, 2, -5]))
    try:
        report = vn.solve(H, np.ones(4), method="sparse-ldlt").report
    except ValueError:
        pytest.skip("no library makes the factors")
    assert report["rank"] == 4


def test_complex_proofs_hold_moduli():
    A, exact, b = complex_system(40)
    whole = sp.csr_array((np.round(A.data * 8), A.indices, A.indptr), A.shape)
    x = np.round(exact * 8)  # whole numbers: b is exact, and so is the solution
    proof = vn.verify(whole, whole @ x, x + 1e-9j, digits=12)
    assert proof.verified and proof.reached and proof.digits >= 12 and x in proof
    assert vn.solve(whole, whole @ x, verify=True).enclosure.verified
    with pytest.raises(ValueError, match="order"):
        proof.lower
