"""Solutions against NumPy, SciPy and exact fractions; wrong input; interrupts, forks and threads."""
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
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


def test_results():
    A = poisson()
    b = np.ones(400)
    result = vn.cg(A, b)
    x, info = result
    assert info == 0 and x is result.x
    assert result.to_dict()["residual"]["relative"] == result.relative_residual
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


def test_wrong_input():
    A, b = poisson(), np.ones(400)
    with pytest.raises(vn.ShapeError):
        vn.solve(A, b[:-1])
    with pytest.raises(vn.ShapeError):
        vn.solve(np.ones((3, 4)), np.ones(3))
    for wrong in (b + 1j, b.astype(np.float16), b.astype(object), np.ma.masked_array(b, b > 2), ["a"] * 400):
        with pytest.raises(ValueError):
            vn.solve(A, wrong)
    with pytest.raises(ValueError):
        vn.solve(A.astype(complex), b)
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
        vn.cg(A, b, precond=A * 1j)
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
