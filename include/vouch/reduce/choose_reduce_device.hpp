// vouch/reduce/choose_reduce_device.hpp -- CPU or GPU for matrix sets: a measured model, not a guess.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/reduce/matrix_set.hpp>

namespace VOUCH_PUBLIC vouch {

/// What the beginning of a set shows, which decides how fast it can be parsed.
enum class set_kind { digits, integers, decimals };

/// Seconds from text in the page cache to the result, by the model.
struct reduce_model {
  double cpu = 0;
  double gpu = 0;  // without the start of CUDA
};

/// Threads parse at the rates of one core, as far as memory allows; a GPU takes what threads can copy to it.
///
/// Source  Rates of `vouch bench reduce`, bench/results/reduce-h200.json.
reduce_model reduce_seconds(std::int64_t bytes, set_kind kind, int threads);

struct reduce_device_choice {
  device dev;
  std::string why;  // one line for the log
};

/// What `--device auto` takes: the CPU where it finishes first, the start of CUDA (once a process) counted in,
/// and where the GPU does not take the work: compressed files, pipes, variances, places, products, sums of
/// decimals.
///
/// Result  The same for the same files on one machine. A GPU is looked for only where it would win.
/// Throws  file_error  what input_file throws
reduce_device_choice choose_reduce_device(std::span<const std::string> files, const reduce_options& options,
                                          int threads, bool cuda_running = false);

}  // namespace vouch
