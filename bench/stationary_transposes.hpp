// bench/stationary_transposes.hpp -- transposition on a GPU against the speed of a copy.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include <vouch/core/device.hpp>

#include "results.hpp"
#include "suite.hpp"

namespace vouch::bench {

/// A chapter of the suite of dense stationary iterations.
class transpose_table {
 public:
  /// Rows go to the results.
  transpose_table(const suite_options& options, suite_results& results);

  /// Some shapes, with their bar; then the published sizes.
  void measure(const device& gpu);
  /// Adds the chapter.
  void finish();

 private:
  // A matrix of so many rows and columns, its columns `gap` elements apart.
  struct shape {
    std::int64_t rows, cols, gap = 0;
  };
  template <class T>
  void shapes(const device& gpu, std::initializer_list<shape> all);
  void published_size(const device& gpu, std::int64_t n);

  const suite_options& options_;
  suite_results& results_;
  text_table published_;
  std::string no_geam_;  // why
};

}  // namespace vouch::bench
