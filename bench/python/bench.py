"""vouchnum beside its peers, in one process, one thread, interleaved; the least of several rounds of processor seconds.

    python bench/python/bench.py [-o FILE.json]

Needs vouchnum, NumPy and SciPy; pyamg, QuantLib and python-flint are peers where they are installed. A ratio is the peer's
time over vouchnum's.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import scipy.io  # noqa: E402
import scipy.linalg  # noqa: E402
import scipy.sparse.linalg as sla  # noqa: E402
import vouchnum as vn  # noqa: E402
import vouchnum.scipy  # noqa: E402
from scipy.special import ndtr  # noqa: E402

rows = []


def least(jobs, rounds=5):
    """Processor seconds of each job, interleaved."""
    best = {name: np.inf for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def row(what, ours, peer, seconds, bar):
    ratio = seconds[peer] / seconds[ours]
    rows.append({"what": what, "vouchnum_s": seconds[ours], "peer": peer, "peer_s": seconds[peer], "ratio": ratio, "bar": bar,
                 "pass": bool(ratio >= bar)})
    print(f"{what:58} {seconds[ours] * 1e3:9.2f} ms  {peer:22} {seconds[peer] * 1e3:9.2f} ms  {ratio:6.2f} (bar {bar})")


def solves():
    A = vn.generate("poisson-3d", nx=64)
    M = A.tocsr()
    b = np.ones(A.shape[0])
    jobs = {"vouchnum": lambda: vn.cg(A, b, precond="none", threads=1), "scipy": lambda: sla.cg(M, b, rtol=1e-8),
            "amg": lambda: vn.cg(A, b, precond="amg", threads=1)}
    try:
        import pyamg

        jobs["pyamg"] = lambda: pyamg.smoothed_aggregation_solver(M).solve(b, tol=1e-8, accel="cg")
    except ImportError:
        pass
    s = least(jobs, 3)
    row("cg, 7-point 64^3, to 1e-8, checked", "vouchnum", "scipy", s, 1.5)
    row("cg with multigrid, set-up included", "amg", "scipy", s, 10)
    if "pyamg" in s:
        row("cg, 7-point 64^3, to 1e-8, checked", "vouchnum", "pyamg", s, 3)
    x, _ = sla.cg(M, b, rtol=1e-10)
    s = least({"vouchnum": lambda: vn.verify(A, b, x, threads=1), "scipy": lambda: sla.cg(M, b, rtol=1e-8)}, 3)
    row("proof of SciPy's x, against SciPy's cg", "vouchnum", "scipy", s, 1)


def bands():
    n = 10**6
    rng = np.random.default_rng(1)
    ab = np.stack([rng.normal(size=n), 5 + rng.random(n), rng.normal(size=n)])
    b = rng.normal(size=n)
    T = vn.Tridiagonal.from_banded(ab)
    s = least({"vouchnum": lambda: vn.solve(T, b, threads=1), "solve_banded": lambda: scipy.linalg.solve_banded((1, 1), ab, b)})
    row("tridiagonal, 10^6 rows, dominant, checked", "vouchnum", "solve_banded", s, 1)
    F = vn.factor(T, threads=1)
    out = np.empty(n)
    s = least({"vouchnum": lambda: F.solve(b, out=out),
               "solve_banded": lambda: scipy.linalg.solve_banded((1, 1), ab, b)})
    row("the same, matrix known before, checked", "vouchnum", "solve_banded", s, 1)
    with vn.threads(1):
        s = least({"vouchnum": lambda: vn.scipy.solve_banded((1, 1), ab, b),
                   "solve_banded": lambda: scipy.linalg.solve_banded((1, 1), ab, b)})
    row("vouchnum.scipy.solve_banded, from ab", "vouchnum", "solve_banded", s, 1)


def files():
    A = vn.generate("elasticity-3d", nx=24)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.mtx")
        A.data = A.data * (1 + 1e-3 * np.random.default_rng(0).random(len(A.data)))
        scipy.io.mmwrite(path, A, precision=17)
        with vn.threads(1):
            s = least({"vouchnum": lambda: vn.read_matrix(path), "scipy": lambda: scipy.io.mmread(path).tocsr()})
            row(f"mmread to CSR, 17 digits, {os.path.getsize(path) / 1e6:.0f} MB", "vouchnum", "scipy", s, 2)
            s = least({"vouchnum": lambda: vn.scipy.mmread(path), "scipy": lambda: scipy.io.mmread(path)})
            row("vouchnum.scipy.mmread", "vouchnum", "scipy", s, 2)
            P = vn.generate("poisson-3d", nx=70)
            plain = os.path.join(folder, "p.mtx")
            for kind in ("general", "symmetric"):
                scipy.io.mmwrite(plain, P, symmetry=kind)
                megabytes = os.path.getsize(plain) / 1e6
                s = least({"vouchnum": lambda: vn.read_matrix(plain), "scipy": lambda: scipy.io.mmread(plain).tocsr()})
                row(f"mmread to CSR, short numbers, {kind}, {megabytes:.0f} MB", "vouchnum", "scipy", s, 2)
                s = least({"vouchnum": lambda: vn.scipy.mmread(plain), "scipy": lambda: scipy.io.mmread(plain)})
                row(f"vouchnum.scipy.mmread, {kind}", "vouchnum", "scipy", s, 2)
            out = os.path.join(folder, "b.mtx")
            s = least({"vouchnum": lambda: vn.write_matrix(out, A), "scipy": lambda: scipy.io.mmwrite(out, A, precision=17)})
            row("mmwrite", "vouchnum", "scipy", s, 2)


def prices():
    rng = np.random.default_rng(2)
    n = 10**6
    o = dict(spot=100 * np.exp(0.3 * rng.normal(size=n)), strike=np.full(n, 100.0), volatility=0.1 + 0.5 * rng.random(n),
             expiry=0.1 + 2 * rng.random(n), rate=0.1 * rng.random(n), dividend=0.05 * rng.random(n))

    def numpy_price():
        root = o["volatility"] * np.sqrt(o["expiry"])
        d1 = (np.log(o["spot"] / o["strike"]) + (o["rate"] - o["dividend"]) * o["expiry"]) / root + root / 2
        return (o["strike"] * np.exp(-o["rate"] * o["expiry"]) * ndtr(root - d1)
                - o["spot"] * np.exp(-o["dividend"] * o["expiry"]) * ndtr(-d1))

    s = least({"vouchnum": lambda: vn.price("put", **o, threads=1), "NumPy, price alone": numpy_price}, 3)
    row("10^6 European puts with five Greeks", "vouchnum", "NumPy, price alone", s, 1)
    without = {name: column for name, column in o.items() if name != "volatility"}
    prices = numpy_price()
    s = least({"vouchnum": lambda: vn.implied_volatility(prices, "put", **without, threads=1)}, 1)
    print(f"{'10^6 implied volatilities':58} {s['vouchnum'] * 1e3:9.2f} ms")
    american_puts()


def american_puts(n=10000):
    try:
        import QuantLib as ql
    except ImportError:
        return
    rng = np.random.default_rng(3)
    o = dict(spot=80 + 40 * rng.random(n), strike=np.full(n, 100.0), volatility=0.1 + 0.4 * rng.random(n),
             expiry=np.round(30 + 700 * rng.random(n)) / 365, rate=0.01 + 0.07 * rng.random(n), dividend=0.05 * rng.random(n))
    today = ql.Date(1, 1, 2026)
    ql.Settings.instance().evaluationDate = today
    day = ql.Actual365Fixed()

    def quantlib(scheme):
        found = np.empty(n)
        for i in range(n):
            flat = lambda x: ql.YieldTermStructureHandle(ql.FlatForward(today, float(x), day))
            process = ql.BlackScholesMertonProcess(
                ql.QuoteHandle(ql.SimpleQuote(float(o["spot"][i]))), flat(o["dividend"][i]), flat(o["rate"][i]),
                ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), float(o["volatility"][i]), day)))
            option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, 100.0),
                                      ql.AmericanExercise(today, today + int(round(o["expiry"][i] * 365))))
            option.setPricingEngine(ql.QdFpAmericanEngine(process, scheme))
            found[i] = option.NPV()
        return found

    exact = vn.price("put", **o, exercise="american", tolerance=1e-9, greeks=False).price
    accurate = ql.QdFpAmericanEngine.accurateScheme()
    ours = vn.price("put", **o, exercise="american", tolerance=1e-4, greeks=False).price
    errors = abs(ours - exact).max(), abs(quantlib(accurate) - exact).max()
    print("errors: vouchnum {:.1e}, QdFp accurate {:.1e}".format(*errors))
    s = least({"vouchnum": lambda: vn.price("put", **o, exercise="american", tolerance=1e-4, greeks=False, threads=1),
               "QuantLib QdFp, accurate": lambda: quantlib(accurate)}, 3)
    row(f"{n} American puts to 1e-4", "vouchnum", "QuantLib QdFp, accurate", s, 3)
    rows[-1].update(vouchnum_error=errors[0], peer_error=errors[1])
    rows[-1]["pass"] &= bool(errors[0] <= errors[1])


def intervals(n=100):
    try:
        import flint
    except ImportError:
        return
    rng = np.random.default_rng(4)
    lo, rad = rng.normal(size=(n, n)), 1e-10 * rng.random((n, n))
    A = vn.interval(lo, rad=rad)
    F = flint.arb_mat([[flint.arb(m, r) for m, r in zip(*line)] for line in zip(lo.tolist(), rad.tolist())])
    s = least({"vouchnum": lambda: vn.matmul(A, A, threads=1), "python-flint": lambda: F * F})
    row("product of interval matrices, n = 100", "vouchnum", "python-flint", s, 1)


def limit(what, value, bar, unit):
    """A row of what has a bar by itself; value and bar in seconds or bytes."""
    rows.append({"what": what, "value": value, "bar": bar, "unit": unit, "pass": bool(value <= bar)})
    shown = {"s": (1e6, "us"), "bytes": (1e-6, "MB")}[unit]
    print(f"{what:58} {value * shown[0]:9.2f} {shown[1]}  (bar {bar * shown[0]:g})")


def microseconds(call, many=2000, rounds=5):
    """Processor seconds of one call, the least of several rounds."""
    best = np.inf
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(many):
            call()
        best = min(best, (time.process_time() - begin) / many)
    return best


def overheads():
    """What is Python's of a call: the whole, less what the library says that it took or what its binding takes alone."""
    from vouchnum import _core

    n = 10
    b = np.ones(n)
    tridiagonal = vn.Tridiagonal(-np.ones(n), 4 * np.ones(n), -np.ones(n))
    dense = np.eye(n) * 4 + np.ones((n, n))
    sparse = scipy.sparse.csr_array(dense)

    def inside(result):
        return sum(result.timings[part] for part in ("setup", "transfer", "solve"))

    for name, A in (("dense", dense), ("tridiagonal", tridiagonal), ("sparse", sparse)):
        whole = microseconds(lambda: vn.solve(A, b, threads=1))
        took = float(np.median([inside(vn.solve(A, b, threads=1)) for _ in range(2000)]))
        print(f"{'one call, n = 10: solve, ' + name:58} {whole * 1e6:9.2f} us")
        limit(f"overhead of solve, {name}", whole - took, 30e-6, "s")
    print(f"{'one call, n = 10: numpy.linalg.solve':58} {microseconds(lambda: np.linalg.solve(dense, b)) * 1e6:9.2f} us")
    with vn.threads(1):
        pairs = vn.interval(b)._pairs()
        columns = np.asfortranarray(b.reshape(n, 1))
        F, out = vn.factor(tridiagonal), np.empty(n)
        target = np.empty((n, 1), order="F")
        X = vn.interval(b)
        for name, call, bound in (
                ("dot", lambda: vn.dot(b, b), lambda: _core.rounded_dot(b, b, 1)),
                ("fsum", lambda: vn.fsum(b), lambda: _core.rounded_sum(b, 1)),
                ("interval +", lambda: X + X, lambda: _core.interval_binary("add", pairs, pairs)),
                ("Factor.solve with out", lambda: F.solve(b, out=out), lambda: F._system.core.solve(columns, target, None, None))):
            limit(f"overhead of {name}", microseconds(call) - microseconds(bound), 2e-6, "s")


def small_calls():
    command = "import numpy; import time; a = time.process_time(); import vouchnum; {}; print(time.process_time() - a)"
    for what in ("vouchnum", "vouchnum.solve"):
        took = min(float(subprocess.run([sys.executable, "-c", command.format(what)], capture_output=True, text=True,
                                        check=True).stdout) for _ in range(5))
        limit("import, and " + what, took, 0.015, "s")
    overheads()


def memory():
    A, b = vn.generate("poisson-2d", nx=20), np.ones(400)

    def resident():
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(1000):
        vn.solve(A, b, threads=1)
    before = resident()
    for _ in range(100000):
        vn.solve(A, b, threads=1)
    limit("memory that 100,000 calls of solve() leave behind", resident() - before, 2e6, "bytes")


interrupted = """
import os, signal, threading, time, numpy as np, vouchnum as vn
signal.signal(signal.SIGINT, signal.default_int_handler)
b = lambda n: np.random.default_rng(0).normal(size=n)
{prepare}
sent = []
def press():
    time.sleep({delay})
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    {call}
    print("nan")
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""


def interrupts():
    for name, prepare, call in (
            ("cg", "A = vn.gallery.poisson_2d(1500); y = b(2250000)", "vn.cg(A, y, precond='none', rtol=1e-15)"),
            ("cg with multigrid", "A = vn.gallery.poisson_3d(100); y = b(10**6)", "vn.cg(A, y, precond='amg')"),
            ("gmres", "A = vn.gallery.convection_diffusion_2d(700); y = b(490000)", "vn.gmres(A, y, precond='none', rtol=1e-14)"),
            ("sparse-lu", "A = vn.gallery.poisson_3d(45); y = b(45**3)", "vn.factor(A, method='sparse-lu')(y)"),
            ("lu, n = 4000", "A = np.eye(4000) * 4 + b((4000, 4000)); y = b(4000)", "vn.solve(A, y)"),
            ("verify, sparse", "A = vn.gallery.poisson_3d(110); y = b(110**3)", "vn.verify(A, y, y)"),
            ("verify, dense", "A = np.eye(3000) * 9 + b((3000, 3000)); y = b(3000)", "vn.verify(A, y, y)"),
            ("product of interval matrices", "A = vn.interval(b((3000, 3000)))", "vn.matmul(A, A, mode='tight')"),
            ("generate", "", "vn.generate('elasticity-3d', nx=100)"),
            ("prices", "", "vn.price('put', spot=np.linspace(50, 150, 20000), strike=100.0, volatility=0.3, expiry=1.0, "
                           "dividends=[(0.5, 3.0)], tolerance=1e-7)"),
            ("implied volatilities", "", "vn.implied_volatility(np.full(20000, 12.0), 'put', spot=100.0, strike=100.0, "
                                         "expiry=1.0, rate=0.05, exercise='american')"),
            ("exact sum", "x = np.ones(3 * 10**8)", "vn.fsum(x, threads=1)")):
        took = [float(subprocess.run([sys.executable, "-c", interrupted.format(prepare=prepare, call=call, delay=delay)],
                                     capture_output=True, text=True, check=True).stdout) for delay in (0.1, 0.3)]
        limit(f"Ctrl-C to its exception, {name}", float(np.nanmax(took)), 0.2, "s")  # of what was not done before


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("-o", "--output", help="JSON with all rows and the machine's facts")
    output = arguments.parse_args().output
    for job in (small_calls, memory, interrupts, solves, bands, files, prices, intervals):
        job()
    if output:
        with open("/proc/cpuinfo") as stream:
            cpu = next(line.split(":")[1].strip() for line in stream if line.startswith("model name"))
        facts = {"schema": "vouch.bench.python/1", "cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(),
                 "numpy": np.__version__, "scipy": scipy.__version__, "vouchnum": vn.__version__, "rows": rows}
        with open(output, "w") as stream:
            json.dump(facts, stream, indent=1)


if __name__ == "__main__":
    main()
