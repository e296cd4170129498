// vouch/generate/grid.hpp -- a regular grid of unknowns, and matrices from what lists the entries of a row or from one
// stencil; private.
#pragma once
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Counts the entries of a row.
struct entry_counter {
  std::int64_t size = 0;
  void add(std::int64_t, double) { ++size; }
};

/// Writes them one after the other.
struct entry_writer {
  std::int32_t* col;
  double* val;
  void add(std::int64_t column, double value) {
    *col++ = static_cast<std::int32_t>(column);
    *val++ = value;
  }
};

/// The matrix whose row i is what list(i, out) gives to out.add(column, value), columns ascending.
/// list is called twice a row, by several threads, and must list the same both times.
template <class List>
csr<double> build_rows(const device& dev, std::int64_t rows, std::int64_t cols, const List& list) {
  csr<double> A{rows, cols, array<std::int64_t>(dev, rows + 1), {}, {}};
  A.row_ptr[0] = 0;
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, rows)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    entry_counter out;
    if (!stop.requested()) list(i, out);
    A.row_ptr[i + 1] = out.size;
  }
  stop.check();
  std::partial_sum(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin());
  A.col = array<std::int32_t>(dev, A.row_ptr[rows]);
  A.val = array<double>(dev, A.row_ptr[rows]);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, rows)) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    entry_writer out{A.col.data() + A.row_ptr[i], A.val.data() + A.row_ptr[i]};
    if (!stop.requested()) list(i, out);
  }
  stop.check();
  return A;
}

/// nx * ny * nz unknowns, x running fastest.
struct grid {
  std::int64_t nx = 1, ny = 1, nz = 1;

  std::int64_t size() const { return nx * ny * nz; }
  std::int64_t index(std::int64_t x, std::int64_t y, std::int64_t z) const { return x + nx * (y + ny * z); }
  bool contains(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
  }
};

/// A grid whose points can be numbered by 32-bit columns, unknowns of them at each.
/// Throws  value_error  a length below 1, or more unknowns than that
inline grid checked_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t unknowns = 1) {
  const std::string size = std::to_string(nx) + " by " + std::to_string(ny) + " by " + std::to_string(nz);
  if (nx < 1 || ny < 1 || nz < 1)
    throw value_error("a grid of " + size + " points", "give lengths of at least 1");
  const std::int64_t limit = std::numeric_limits<std::int32_t>::max() / unknowns;
  if (nx > limit || ny > limit / nx || nz > limit / (nx * ny))
    throw value_error("a grid of " + size + " points exceeds " + std::to_string(limit * unknowns) +
                      " unknowns");
  return {nx, ny, nz};
}

/// An entry of a stencil off its centre.
struct stencil_entry {
  int dx, dy, dz;
  double weight;
};

/// The matrix of a stencil whose entries are listed in the order of their columns, without the centre.
/// Entries that reach out of the grid are left out; diagonal(x, y, z, sum) gives the centre from the sum of
/// those that stay.
template <class Diagonal>
csr<double> stencil_matrix(const device& dev, const grid& g, const std::vector<stencil_entry>& entries,
                           const Diagonal& diagonal) {
  return build_rows(dev, g.size(), g.size(), [&](std::int64_t row, auto& out) {
    const std::int64_t x = row % g.nx, y = row / g.nx % g.ny, z = row / (g.nx * g.ny);
    const auto stays = [&](const stencil_entry& e) { return g.contains(x + e.dx, y + e.dy, z + e.dz); };
    double sum = 0;
    for (const stencil_entry& e : entries)
      if (stays(e)) sum += e.weight;
    bool centre_done = false;
    for (const stencil_entry& e : entries) {
      if (!stays(e)) continue;
      const std::int64_t column = g.index(x + e.dx, y + e.dy, z + e.dz);
      if (column > row && !centre_done) {
        out.add(row, diagonal(x, y, z, sum));
        centre_done = true;
      }
      out.add(column, e.weight);
    }
    if (!centre_done) out.add(row, diagonal(x, y, z, sum));
  });
}

}  // namespace vouch
