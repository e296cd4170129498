// vouch/solve/loop/choose_device.hpp -- CPU or GPU for one system, by a measured model, not a guess and not a race.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Seconds that one CG iteration takes in double, by the model.
struct iteration_model {
  double cpu = 0;
  double gpu = 0;
};

/// The model: the CPU as one core in cache or all threads against memory, whichever is faster for the size; the
/// GPU as the resident kernel or the looping graph.
///
/// Source  Fitted to `vouch bench cg` on one H200 with 16 cores of its host (bench/results).
iteration_model cg_iteration_model(std::int64_t rows, std::int64_t nonzeros, int threads);

struct device_choice {
  device dev;
  std::string why;          // one line for the log
  std::vector<int> gpus{};  // that share the work, dev's first; empty: dev alone
};

/// What `--device auto` takes for CG on a system of this size: the CPU where it finishes first, the start of
/// CUDA (once a process) and the transfer of the matrix counted in.
///
/// Result  The same for the same size on one machine. A GPU is looked for only where it would win.
///         cuda_running says that this process has started CUDA already, which leaves the transfer.
device_choice choose_device(std::int64_t rows, std::int64_t nonzeros, int threads, bool cuda_running = false);

/// How many of `there` GPUs of a kind are worth sharing CG on a system of this size, which CUDA has yet to be started on
/// but for the first: 1 where what they save is less than four times what their start and the slabs take.
int gpus_that_pay(std::int64_t rows, std::int64_t nonzeros, int there);

/// As many GPUs of dev's kind, dev's first, that read each other's memory and have room; empty where dev alone is as good.
std::vector<int> choose_gpus(const device& dev, std::int64_t rows, std::int64_t nonzeros);

struct dense_factorisation {
  std::int64_t rows = 0;
  bool single = false;              // precision, else double
  bool verified = false;            // the solution is to be proved
  std::int64_t bytes_an_entry = 0;  // of a GPU's memory
};

/// The same for a dense matrix. A GPU that has no room for it is not taken.
///
/// Source  `vouch solve --method lu|cholesky`, 1,000 to 16,000 rows, on an H200 and 2 to 16 cores of its host.
device_choice choose_device(const dense_factorisation& job, int threads);

}  // namespace vouch
