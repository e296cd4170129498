"""What calls leave of the process that they run in: modules, threads, memory, signals."""
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import vouchnum as vn


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_import_brings_in_little():
    out = run("""
import numpy, os, sys
before = set(sys.modules)
import vouchnum
vouchnum.solve, vouchnum.price, vouchnum.interval
new = sorted(name for name in set(sys.modules) - before if not name.startswith("vouchnum"))
print(len(os.listdir("/proc/self/task")), any(os.readlink(f"/proc/self/fd/{f}").startswith("/dev/nv")
      for f in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{f}")), *new)
""").split()
    alone = run("import numpy, os; print(len(os.listdir('/proc/self/task')))").strip()
    assert out[:2] == [alone, "False"]  # no thread of ours, no GPU
    assert not {"scipy", "logging", "threading", "subprocess", "pandas"} & set(out[2:])


def test_the_module_shows_nothing_of_the_library():
    from vouchnum import _core

    module = ctypes.CDLL(_core.__file__)
    assert module.PyInit__core
    # Another copy of what was linked statically would take its place, or be taken for it.
    assert not hasattr(module, "_ZN5vouch6device3cpuEi")


def test_the_hosts_numbers_of_threads_stay():
    omp = ctypes.CDLL("libgomp.so.1").omp_get_max_threads
    try:
        blas = ctypes.CDLL("libopenblas.so.0").openblas_get_num_threads
    except OSError:
        blas = omp
    before = omp(), blas()
    A = np.eye(1100) * 4 + np.random.default_rng(0).random((1100, 1100)) / 1100
    for threads in (1, 2):
        assert vn.solve(A, np.ones(1100), method="lu", threads=threads).converged
        assert (omp(), blas()) == before
    vn.solve(A[:20, :20], np.ones(20))
    workers = [threading.Thread(target=lambda t=t: vn.solve(A, np.ones(1100), threads=t)) for t in (1, 2, 1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (omp(), blas()) == before


def test_lapack_inside_scipy_serves():
    out = run("""
import numpy as np, vouchnum as vn
from vouchnum import _core, _lapack
_core.has_lapack = lambda: False
rng = np.random.default_rng(0)
A, b = rng.normal(size=(80, 80)), rng.normal(size=80)
r = vn.solve(A, b)
H = A @ A.T + np.eye(80)
c = vn.solve(H, b, method="cholesky")
print(r.converged, c.converged, abs(A @ r.x - b).max() < 1e-10, abs(H @ c.x - b).max() < 1e-9)
""")
    assert out.split() == ["True"] * 4


def test_the_package_carries_its_licences():
    import importlib.metadata

    owners = importlib.metadata.packages_distributions().get("vouchnum")
    if not owners:
        pytest.skip("vouchnum is not installed from a wheel")
    files = importlib.metadata.files(owners[0])
    texts = {f.name: f.read_text() for f in files if "licenses" in f.parts}
    assert "Apache License" in texts["LICENSE"] and "MPFR" in texts["LICENCES.md"]
    if any("libmpfr" in f.name for f in files):
        assert "LESSER" in texts["LICENSE-LGPL-3"] and "GENERAL PUBLIC" in texts["LICENSE-GPL-3"]


def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow_in_100000_calls():
    rng = np.random.default_rng(0)
    A, b = sp.csr_array(sp.diags_array([-np.ones(9), 4 * np.ones(10), -np.ones(9)], offsets=[-1, 0, 1])), rng.normal(size=10)
    T = vn.Tridiagonal(-np.ones(10), 4 * np.ones(10), -np.ones(10))
    F, D, out, X = vn.factor(T), A.toarray(), np.empty(10), vn.interval(b)

    def refused():
        with pytest.raises(ValueError):
            vn.solve(A, b[1:])

    calls = [(30000, lambda: vn.dot(b, b)), (30000, lambda: F.solve(b, out=out)), (15000, lambda: X + X),
             (8000, lambda: vn.solve(T, b)), (5000, lambda: vn.solve(D, b)), (5000, lambda: vn.cg(A, b)),
             (4000, lambda: vn.price("put", spot=b + 100, strike=100.0, volatility=0.2, expiry=1.0)),
             (2000, lambda: vn.verify(A, b, b)), (1000, refused)]
    assert sum(count for count, _ in calls) == 100000
    for _, call in calls:
        for _ in range(100):
            call()
    before = resident()
    for count, call in calls:
        for _ in range(count):
            call()
    assert resident() - before < 2e6


@pytest.mark.parametrize("what", ["callback", "iterates", "A", "M"])
def test_exceptions_in_callbacks_come_through(what):
    A = vn.generate("poisson-2d", nx=12)
    b, calls = np.ones(144), []

    def bad(*_):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("mine")
        return _[0] if what == "M" else A @ _[0] if what == "A" else None

    told = {"callback": {"callback": bad}, "iterates": {"iterates": bad}, "M": {"precond": bad}, "A": {}}[what]
    with pytest.raises(KeyError, match="mine"):
        vn.cg(bad if what == "A" else A, b, **told)
    assert len(calls) == 3
    assert vn.solve(A, b).converged  # and all goes on


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_children_of_every_kind_solve(method, tmp_path):
    (tmp_path / "child.py").write_text(f"""
import multiprocessing, numpy as np, vouchnum as vn

def work(queue):
    A = np.eye(1100) * 4 + np.ones((1100, 1100)) / 1100
    S = vn.generate("poisson-2d", nx=40)
    queue.put(bool(vn.solve(A, np.ones(1100), threads=2).converged and vn.solve(S, np.ones(1600), threads=2).converged))

if __name__ == "__main__":
    queue = multiprocessing.get_context("{method}").Queue()
    work(queue)
    assert queue.get()
    child = multiprocessing.get_context("{method}").Process(target=work, args=(queue,))
    child.start()
    print(queue.get(timeout=60))
    child.join(timeout=60)
    print(child.exitcode)
""")
    out = subprocess.run([sys.executable, str(tmp_path / "child.py")], capture_output=True, text=True, timeout=120)
    assert out.stdout.split() == ["True", "0"], out.stderr


def test_ctrl_c_ends_what_calls_back():
    child = subprocess.Popen([sys.executable, "-c", """
import signal, numpy as np, vouchnum as vn
signal.signal(signal.SIGINT, signal.default_int_handler)
A = vn.generate("poisson-2d", nx=300)
print("ready", flush=True)
try:
    while True:
        vn.cg(lambda v: A @ v, np.ones(90000), precond=lambda v: v, iterates=lambda x: None, rtol=1e-14, threads=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert out == "interrupted\n" and child.returncode == 0


long_solve = """
import sys, numpy as np, vouchnum as vn
A = vn.generate("poisson-2d", nx=500)
with vn.progress(after=0.05, every=0.02):
    vn.cg(A, np.random.default_rng(0).normal(size=250000), precond="none", fixed_iterations=300, threads=1)
"""


def test_progress_is_shown_on_a_terminal_alone():
    master, slave = os.openpty()
    subprocess.run([sys.executable, "-c", long_solve], stderr=slave, check=True, timeout=60)
    os.close(slave)
    shown = b""
    with open(master, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(65536):
                shown += chunk
        except OSError:  # all is read
            pass
    assert b"iteration" in shown and b"residual" in shown and shown.endswith(b"\r\033[K")
    assert subprocess.run([sys.executable, "-c", long_solve], capture_output=True, check=True).stderr == b""
