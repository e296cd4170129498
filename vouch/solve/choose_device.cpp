#include <algorithm>
#include <cstdio>

#include <vouch/core/config.hpp>
#include <vouch/solve/choose_device.hpp>

namespace vouch {
namespace {

// A solve is taken to be this long: between the hundreds of iterations of a mesh problem and the tens of
// thousands of an ill-conditioned one.
constexpr double typical_iterations = 2000;
constexpr double cuda_start_seconds = 0.3;
constexpr double upload_bytes_a_second = 8e9;  // from pageable memory

double bytes_moved(std::int64_t rows, std::int64_t nonzeros) {
  return 12.0 * static_cast<double>(nonzeros) + 88.0 * static_cast<double>(rows);
}

}  // namespace

iteration_model cg_iteration_model(std::int64_t rows, std::int64_t nonzeros, int threads) {
  const double bytes = bytes_moved(rows, nonzeros);
  // One core works through 25 GB/s from its cache; more threads pay from some 100 KB each and end at the
  // memory's bandwidth, about 10 GB/s a thread.
  const double useful = std::clamp(bytes / 1e6, 1.0, static_cast<double>(threads));
  const double cached = bytes < 1e6 * threads ? 25e9 : 10e9;
  const double cpu = bytes / (useful * cached) + (useful > 1 ? 5e-6 : 0.2e-6);
  const bool resident = nonzeros < 1500000 && rows < 100000;
  const double gpu = resident ? 1.2e-6 + 8e-12 * static_cast<double>(nonzeros) : 8e-6 + bytes / 3.8e12;
  return {cpu, gpu};
}

device_choice choose_device(std::int64_t rows, std::int64_t nonzeros, int threads) {
  const iteration_model model = cg_iteration_model(rows, nonzeros, threads);
  const double on_cpu = typical_iterations * model.cpu;
  const double on_gpu =
      cuda_start_seconds + bytes_moved(rows, nonzeros) / upload_bytes_a_second + typical_iterations * model.gpu;
  char line[240];
  std::snprintf(line, sizeof line,
                "model: %.3g us an iteration here, %.3g us on a GPU that takes %.2g s to start and load",
                1e6 * model.cpu, 1e6 * model.gpu, on_gpu - typical_iterations * model.gpu);
  if (on_cpu <= on_gpu)
    return {device::cpu(threads), std::string("the CPU is faster for this size (") + line + ")"};
  if (!built_with_cuda) return {device::cpu(threads), "this build has no CUDA"};
  const device best = device::best();
  if (!best.is_cuda()) return {device::cpu(threads), "there is no usable GPU"};
  return {best, std::string("the GPU is faster for this size (") + line + ")"};
}

}  // namespace vouch
