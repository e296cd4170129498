#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/reduce/choose_reduce_device.hpp>
#include <vouch/reduce/set_scan.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

constexpr double cuda_start_seconds = 0.35;  // the pinned memory included
constexpr double memory_bytes_a_second = 100e9;
constexpr double pcie_bytes_a_second = 48e9;
constexpr double copied_bytes_a_second = 6e9;  // from the page cache to pinned memory, by one thread

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of the matrices that the first bytes show; the count on the first line does not matter.
set_kind kind_of(std::string_view text) {
  text.remove_prefix(std::min(text.find('*'), text.size()));
  if (text.find('.') != text.npos) return set_kind::decimals;
  for (std::size_t k = 1; k < text.size(); ++k)
    if (text[k] == '-' || (is_digit(text[k]) && is_digit(text[k - 1]))) return set_kind::integers;
  return set_kind::digits;
}

double parsed_bytes_a_second(set_kind kind) {
  // Integers and decimals by each kind of instructions.
  constexpr double rates[][2] = {{0.6e9, 0.6e9}, {2.6e9, 1.7e9}};
  const auto vectors = static_cast<std::size_t>(best_instructions());
  switch (kind) {
    case set_kind::digits:
      return 10e9;
    case set_kind::integers:
      return rates[vectors][0];
    default:
      return rates[vectors][1];
  }
}

// Why the GPU is out of the question; empty where it is not.
std::string against_gpu(const reduce_options& options, set_kind kind, bool plain_files) {
  const reduce_needs needs(options.operations, options.rigorous);
  if (!plain_files) return "compressed files and pipes are parsed by the CPU";
  if (!needs.simple()) return "variances, norm2, places and products are the CPU's";
  if (kind == set_kind::decimals && (needs.sum || needs.magnitudes)) return "sums of decimals are the CPU's";
  return built_with_cuda ? "" : "this build has no CUDA";
}

}  // namespace

reduce_model reduce_seconds(std::int64_t bytes, set_kind kind, int threads) {
  const auto size = static_cast<double>(bytes);
  return {size / std::min(threads * parsed_bytes_a_second(kind), memory_bytes_a_second),
          size / std::min(threads * copied_bytes_a_second, pcie_bytes_a_second)};
}

reduce_device_choice choose_reduce_device(std::span<const std::string> files, const reduce_options& options,
                                          int threads, bool cuda_running) {
  constexpr std::size_t looked_at = 16384;
  std::int64_t bytes = 0;
  set_kind kind = set_kind::digits;
  bool plain = true;
  for (const std::string& path : files) {
    if (path == "/dev/stdin") {  // what is read from it is gone
      plain = false;
      continue;
    }
    const input_file file(path);
    plain &= file.random_access();
    if (!file.random_access()) continue;
    char text[looked_at];
    kind = std::max(kind, kind_of({text, file.read_at(0, text, looked_at)}));
    bytes += file.most_bytes();
  }
  const device cpu = device::cpu(threads);
  if (const std::string why = against_gpu(options, kind, plain); !why.empty()) return {cpu, why};
  const reduce_model model = reduce_seconds(bytes, kind, cpu.threads());
  const double gpu = model.gpu + (cuda_running ? 0 : cuda_start_seconds);
  const std::string model_says = string_printf(
      "model: %.3g s by %d threads, %.3g s on a GPU, its start included", model.cpu, cpu.threads(), gpu);
  if (model.cpu <= gpu) return {cpu, "the CPU is faster for this text (" + model_says + ")"};
  const device best = device::best();
  if (!best.is_cuda()) return {cpu, "there is no usable GPU"};
  return {best, "the GPU is faster for this text (" + model_says + ")"};
}

}  // namespace vouch
