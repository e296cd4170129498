#include "stationary_transposes.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/dense/transpose.hpp>

#include "interval_peers.hpp"
#include "machine_cuda.hpp"
#include "stationary_cuda.hpp"
#include "timing.hpp"

namespace vouch::bench {

transpose_table::transpose_table(const suite_options& options, suite_results& results)
    : options_(options),
      results_(results),
      published_("Bytes a second that transposes of the published sizes read and write, single precision",
                 {{"n"}, {"copy"}, {"plain"}, {"cuBLAS geam"}, {"tiled"}, {"tiled of copy"}}) {}

void transpose_table::measure(const device& gpu) {
  const std::int64_t n = options_.quick ? 2048 : 10240;
  if (options_.stop() || !results_.machine.gpu) return;
  options_.say("gpu, transposes");
  shapes<float>(gpu, {{n, n}, {n - 1, n + 1, 3}, {2 * n - 40, n / 2 + 3}, {n / 2 + 3, 2 * n - 40}});
  shapes<double>(gpu, {{n, n}, {n - 20, n / 2 + 3}});
  for (const std::int64_t size : {1000, 2000, 4000, 6000, 8000, 10000, 10240, 20480, 40960})
    if ((!options_.quick || size <= 2000) && !options_.stop() && 10 * size * size < gpu.memory_free())
      published_size(gpu, size);
}

template <class T>
void transpose_table::shapes(const device& gpu, std::initializer_list<shape> all) {
  constexpr double bar = 0.9;  // of the speed of a copy
  const double copy = results_.machine.gpu->copy;
  for (const shape& s : all) {
    const auto from = array<T>::zeros(gpu, (s.rows + s.gap) * s.cols);
    array<T> to(gpu, (s.cols + s.gap) * s.rows);
    const double seconds = best_seconds(
        0.02,
        [&] {
          transpose_into<T>(gpu, {from.data(), s.rows, s.cols, s.rows + s.gap},
                            {to.data(), s.cols, s.rows, s.cols + s.gap});
        },
        [&] { gpu.synchronize(); });
    std::string name = fmt::format("{} by {}", s.rows, s.cols);
    if (s.gap > 0) name += fmt::format(", {} more between columns", s.gap);
    bench_row row{std::move(name),
                  "gpu",
                  sizeof(T) == 4 ? "single" : "double",
                  "transpose",
                  {},
                  "B/s",
                  copy,
                  {},
                  {},
                  {},
                  {}};
    row.value = 2.0 * static_cast<double>(s.rows * s.cols * static_cast<std::int64_t>(sizeof(T))) / seconds;
    if (!options_.quick) row.bar = bar * copy;
    if (row.bar) row.pass = *row.value >= *row.bar;
    row.ratio = *row.value / copy;
    results_.rows.push_back(std::move(row));
  }
}

// Against the copy of the same matrix: a small one stays in L2.
void transpose_table::published_size(const device& gpu, std::int64_t n) {
  if constexpr (built_with_cuda) {
    const auto bytes = static_cast<std::size_t>(n * n) * sizeof(float);
    auto from = array<float>::zeros(gpu, n * n), to = array<float>::zeros(gpu, n * n);
    const matrix_view<float> A{from.data(), n, n, n}, B{to.data(), n, n, n};
    const auto speed = [&](double seconds) { return 2 * static_cast<double>(bytes) / seconds; };
    const auto speed_of = [&](const auto& body) {
      return speed(best_seconds(0.02, body, [&] { gpu.synchronize(); }));
    };
    const double copy = speed_of([&] {
      enqueue_copy(gpu, reinterpret_cast<std::byte*>(to.data()),
                   reinterpret_cast<const std::byte*>(from.data()), bytes);
    });
    const double plain = speed_of([&] { transpose_plainly(gpu, n, from.data(), to.data()); });
    const double tiled = speed_of([&] { transpose_into<float>(gpu, A, B); });
    const std::optional<double> geam_seconds = cublas_transpose_seconds<float>(gpu, n, no_geam_);
    const std::optional<double> geam = geam_seconds ? std::optional(speed(*geam_seconds)) : std::nullopt;
    const auto row = [&](const char* metric, double value, std::optional<double> peer) {
      results_.rows.push_back({fmt::format("published size, n {}", n),
                               "gpu",
                               "single",
                               metric,
                               value,
                               "B/s",
                               copy,
                               peer,
                               peer ? value / *peer : value / copy,
                               {},
                               {}});
    };
    row("transpose_plain", plain, {});
    row("transpose", tiled, geam);
    published_.add({count_text(n), rate_text(copy), rate_text(plain), rate_text(geam), rate_text(tiled),
                    percent_text(tiled / copy)});
  }
}

void transpose_table::finish() {
  if (published_.empty()) return;
  if (!no_geam_.empty()) published_.note("no geam: " + no_geam_);
  published_.note(
      "copy: of the same matrix, by the driver; plain: a thread an element, 32 rows of 8 columns a");
  published_.note("block; tiled: by vouch. The bars are set by the copy of a larger array.");
  results_.sections.push_back({"Transposes", {}, {published_}, {}});
}

}  // namespace vouch::bench
