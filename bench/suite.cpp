#include "suite.hpp"

#include <algorithm>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>

#include "suites.hpp"
#include "sweep_plots.hpp"

namespace vouch::bench {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

device open(const std::string& label, int threads) {
  if (label == "cpu1") return device::cpu(1);
  if (label == "cpu") return device::cpu(threads);
  if (label == "gpu") return device::cuda(0);
  throw value_error("unknown device '" + label + "'", "valid devices: cpu1, cpu, gpu");
}

}  // namespace

std::span<const suite> suites() {
  static constexpr suite all[] = {
      {"amg", "algebraic multigrid: iterations, set-up and solve", run_amg_suite},
      {"auto", "what auto takes, beside every method by name", run_auto_suite},
      {"cg", "conjugate gradients: the published tables, scaling, peers", run_cg_suite},
      {"classify", "fingerprints: time a stage, prints a second; files are pages", run_classify_suite},
      {"complex", "complex numbers: products and iterations beside their bytes, and cuSPARSE",
       run_complex_suite},
      {"crank-nicolson", "the Black-Scholes equation on the published grids", run_crank_nicolson_suite},
      {"direct", "sparse factorisations beside the libraries behind them", run_direct_suite},
      {"interval-blas", "intervals: axpy, dot, gemv, gemm beside Boost.Interval and plain BLAS",
       run_interval_suite},
      {"krylov", "iterations of Krylov methods beside their bytes; nonsymmetric systems", run_krylov_suite},
      {"options", "options a second, and a book of a million", run_options_suite},
      {"read", "reading matrices", run_read_suite},
      {"reduce", "sets of small matrices in text files, and batches on a GPU", run_reduce_suite},
      {"scale", "ranks and GPUs side by side; with --simulate what a model says of 10,000", run_scale_suite},
      {"stationary", "dense Jacobi and Gauss-Seidel: sweeps, time to an error, peers",
       run_stationary_suite_with_plots},
      {"sweeps", "sparse Jacobi and Gauss-Seidel: sweeps, colours, accelerations", run_sweeps_suite},
      {"tridiagonal", "tridiagonal systems: one, batches, factored once", run_tridiagonal_suite},
      {"verify", "proofs of correctness: what they cost, how sharp they are", run_verify_suite},
  };
  return all;
}

std::vector<bench_device> open_devices(const suite_options& options) {
  std::vector<std::string> labels = options.devices;
  if (labels.empty()) {
    labels = {"cpu1", "cpu"};
    if (cuda_may_be_present() && !cuda_devices().empty()) labels.push_back("gpu");
  }
  std::vector<bench_device> devices;
  for (const std::string& label : labels) {
    const bool twice =
        std::any_of(devices.begin(), devices.end(), [&](const bench_device& d) { return d.label == label; });
    if (twice) throw value_error("device '" + label + "' is named twice");
    devices.push_back({label, open(label, options.threads)});
  }
  return devices;
}

machine_facts measure_machine(const suite_options& options, const std::vector<bench_device>& devices) {
  options.say("measuring the machine's memory");
  machine_facts machine;
  const device cpu = device::cpu(options.threads);
  // Three arrays of a size no cache holds, and never more than a quarter of what is free.
  const std::int64_t wanted = (options.quick ? 64 : 512) * mebibyte;
  machine.cpu = measure_cpu(cpu, std::min(wanted, cpu.memory_free() / 12));
  for (const bench_device& d : devices)
    if (d.dev.is_cuda()) machine.gpu = measure_gpu(d.dev, std::min(1024 * mebibyte, d.dev.memory_free() / 8));
  return machine;
}

double copy_speed(const machine_facts& machine, const bench_device& d) {
  return d.dev.is_cuda()        ? machine.gpu->copy
         : d.dev.threads() == 1 ? machine.cpu.one.best()
                                : machine.cpu.all.best();
}

}  // namespace vouch::bench
