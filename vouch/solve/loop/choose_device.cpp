#include <algorithm>
#include <string_view>

#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/solve/loop/choose_device.hpp>

namespace vouch {
namespace {

// A solve is taken to be this long: between the hundreds of iterations of a mesh problem and the tens of
// thousands of an ill-conditioned one.
constexpr double typical_iterations = 2000;
constexpr double cuda_start_seconds = 0.3;
constexpr double upload_bytes_a_second = 8e9;  // from pageable memory

// The CPU unless the seconds on a GPU are less and there is one with so many free bytes.
device_choice faster(double on_cpu, double on_gpu, std::int64_t bytes, int threads, const std::string& model) {
  if (on_cpu <= on_gpu) return {device::cpu(threads), "the CPU is faster for this size (" + model + ")"};
  if (!built_with_cuda) return {device::cpu(threads), "this build has no CUDA"};
  const device best = device::best();
  if (!best.is_cuda()) return {device::cpu(threads), "there is no usable GPU"};
  if (bytes > best.memory_free()) return {device::cpu(threads), "the GPU has no room for the matrix"};
  return {best, "the GPU is faster for this size (" + model + ")"};
}

double bytes_moved(std::int64_t rows, std::int64_t nonzeros) {
  return 12.0 * static_cast<double>(nonzeros) + 88.0 * static_cast<double>(rows);
}

}  // namespace

iteration_model cg_iteration_model(std::int64_t rows, std::int64_t nonzeros, int threads) {
  const double n = static_cast<double>(rows), entries = static_cast<double>(nonzeros);
  const double bytes = bytes_moved(rows, nonzeros);
  // In its caches one core needs 1.2 us, 0.6 ns a row and 0.13 ns an entry; more threads pay from about 1 MB
  // each, and all together end at the memory's bandwidth, some 12 GB/s a thread.
  const double useful = std::clamp(bytes / 1e6, 1.0, static_cast<double>(threads));
  const double in_cache = 1.2e-6 + (0.6e-9 * n + 0.13e-9 * entries) / useful + (useful > 1 ? 5e-6 : 0.0);
  const double from_memory = bytes / (12e9 * useful);
  const double cpu = bytes < 2e6 * threads ? in_cache : std::max(in_cache, from_memory);
  double gpu = 8e-6 + bytes / 3.8e12;
  if (nonzeros <= 150000)
    gpu = 1.3e-6 + 1.4e-11 * entries;
  else if (nonzeros < 1500000 && rows < 100000)
    gpu = 2.7e-6 + 1.8e-12 * entries;
  return {cpu, gpu};
}

device_choice choose_device(std::int64_t rows, std::int64_t nonzeros, int threads, bool cuda_running) {
  const iteration_model model = cg_iteration_model(rows, nonzeros, threads);
  const double on_cpu = typical_iterations * model.cpu;
  const double start = cuda_running ? 0 : cuda_start_seconds;
  const double on_gpu =
      start + bytes_moved(rows, nonzeros) / upload_bytes_a_second + typical_iterations * model.gpu;
  return faster(
      on_cpu, on_gpu, 0, threads,
      string_printf("model: %.3g us an iteration here, %.3g us on a GPU that takes %.2g s to start and load",
                    1e6 * model.cpu, 1e6 * model.gpu, on_gpu - typical_iterations * model.gpu));
}

int gpus_that_pay(std::int64_t rows, std::int64_t nonzeros, int there) {
  constexpr double exchange = 20e-6, slab_bytes_a_second = 1.8e11, another_start_seconds = 0.15;
  constexpr double careful = 4;  // many a system takes a quarter of the typical iterations
  const double alone = typical_iterations * cg_iteration_model(rows, nonzeros, 1).gpu;
  const auto saved = [&](int gpus) {
    return alone - typical_iterations * (exchange + bytes_moved(rows, nonzeros) / (3.8e12 * gpus));
  };
  const auto spent = [&](int gpus) {
    return another_start_seconds * (gpus - 1) + bytes_moved(rows, nonzeros) / slab_bytes_a_second;
  };
  int best = 1;
  for (int gpus = 2; gpus <= std::min(there, most_gpus); ++gpus)
    if (saved(gpus) > careful * spent(gpus) &&
        saved(gpus) - spent(gpus) > (best == 1 ? 0 : saved(best) - spent(best)))
      best = gpus;
  return best;
}

std::vector<int> choose_gpus(const device& dev, std::int64_t rows, std::int64_t nonzeros) {
  if constexpr (built_with_cuda) {
    if (!dev.is_cuda() || gpus_that_pay(rows, nonzeros, most_gpus) == 1) return {};
    std::vector<int> there{dev.index()};
    const cuda_device_facts kind = cuda_facts(dev.index());
    for (const cuda_device_facts& gpu : cuda_devices()) {
      const auto reads = [&](int other) {
        return cuda_can_share(gpu.index, other) && cuda_can_share(other, gpu.index);
      };
      if (gpu.index != dev.index() && gpu.name == kind.name && gpu.processors == kind.processors &&
          std::all_of(there.begin(), there.end(), reads))
        there.push_back(gpu.index);
    }
    there.resize(static_cast<std::size_t>(gpus_that_pay(rows, nonzeros, static_cast<int>(there.size()))));
    const auto has_room = [&](int gpu) {
      return static_cast<double>(device::cuda(gpu).memory_free()) > bytes_moved(rows, nonzeros);
    };
    if (there.size() > 1 && std::all_of(there.begin(), there.end(), has_room)) return there;
  }
  return {};
}

device_choice choose_device(const dense_factorisation& job, int threads) {
  const double n = static_cast<double>(job.rows), team = threads;
  // A proof takes some ten times the work of the factors.
  const double work = (job.verified ? 11 : 1) * 2 * n * n * n / 3, bytes = (job.single ? 4 : 8) * n * n;
  // OpenBLAS does 45 GFLOP/s a thread, half of that at 250 rows a thread; the reference LAPACK has one.
  const bool tuned = std::string_view(lapack::name()).starts_with("libopenblas");
  const double rate = (job.single ? 2 : 1) * (tuned ? 45e9 * team * n / (n + 250 * team) : 2.5e9);
  const double on_cpu = work / rate;
  // cuSOLVER has to be started as CUDA has.
  const double on_gpu = 2 * cuda_start_seconds + bytes / upload_bytes_a_second + work / 30e12;
  device_choice choice =
      faster(on_cpu, on_gpu, job.rows * job.rows * job.bytes_an_entry, threads,
             string_printf("model: %.2g s here, %.2g s on a GPU, its start counted", on_cpu, on_gpu));
  if (choice.dev.is_cuda() && !cusolver::present())
    return {device::cpu(threads), "there is no cuSOLVER for the GPU"};
  return choice;
}

}  // namespace vouch
