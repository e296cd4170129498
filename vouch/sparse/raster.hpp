// vouch/sparse/raster.hpp -- entries of a sparse matrix counted by cells of a coarse grid; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// height*width counts, row by row.
struct raster {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::int64_t> counts;
  double full = 0;  // the largest count

  std::int64_t count(std::int64_t y, std::int64_t x) const {
    return y < height && x < width ? counts[static_cast<std::size_t>(y * width + x)] : 0;
  }
  /// 0 for an empty cell, otherwise 1 to levels, by the square root of the density.
  int level(std::int64_t y, std::int64_t x, int levels) const {
    const auto here = static_cast<double>(count(y, x));
    return here == 0 ? 0 : std::clamp(static_cast<int>(std::ceil(levels * std::sqrt(here / full))), 1, levels);
  }
};

/// A raster of at most width cells, and cells as high as wide times 1 / squeeze.
template <real T>
raster rasterise(const device& dev, csr_view<const T> A, std::int64_t width, double squeeze) {
  raster r;
  if (A.rows == 0 || A.cols == 0) return r;
  r.width = std::min(width, A.cols);
  const double tall = static_cast<double>(A.rows) / static_cast<double>(A.cols) * static_cast<double>(r.width);
  r.height = std::clamp<std::int64_t>(std::llround(tall * squeeze), 1, std::min(3 * r.width + 1, A.rows));
  const auto cells = static_cast<std::size_t>(r.height * r.width);
  r.counts.assign(cells, 0);
  const double scale = static_cast<double>(r.width) / static_cast<double>(A.cols);
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
  {
    std::vector<std::int64_t> mine(cells);
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < A.rows; ++i) {
      std::int64_t* row = mine.data() + i * r.height / A.rows * r.width;
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        ++row[std::min(static_cast<std::int64_t>(A.col[k] * scale), r.width - 1)];
    }
#pragma omp critical(vouch_raster)
    for (std::size_t k = 0; k < cells; ++k) r.counts[k] += mine[k];
  }
  r.full = static_cast<double>(*std::max_element(r.counts.begin(), r.counts.end()));
  return r;
}

}  // namespace vouch
