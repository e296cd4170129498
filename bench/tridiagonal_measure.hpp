// bench/tridiagonal_measure.hpp -- tridiagonal systems made on a device, and seconds of solving them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <vouch/band/tridiagonal.hpp>

#include "suite.hpp"

namespace vouch::bench {

/// What the matrices of a measurement are like; no other property matters to their speed.
enum class band_kind {
  dominant,     // off-diagonals in (-1, 1), |d| = |dl| + |du| + 1: the inverse decays within some 60 rows
  general,      // all in (-1, 1): pivoting is needed, and the inverse decays within some 400 rows
  slow,         // (-1, 2, -1): dominant, but the inverse does not decay
  general_slow  // off-diagonals of size 1, |d| < 1/16: pivoting is needed, and the inverse hardly decays
};
const char* name(band_kind kind);

/// Random systems, the same in either layout; a block of 2^24 rows repeats.
template <real T>
struct band_systems {
  batch_shape shape;
  array<T> dl, d, du, b, x;

  band_systems(const device& dev, band_kind kind, const batch_shape& of);
  tridiagonal_view<const T> matrix() const { return {dl.data(), d.data(), du.data(), shape}; }
  batch_view<const T> rhs() const { return {b.data(), shape}; }
  batch_view<T> answer() { return {x.data(), shape}; }
  std::int64_t rows() const { return shape.n * shape.systems; }
};

/// The bytes of n-row systems on a device, with what measuring them takes besides.
template <real T>
std::int64_t bytes_of_systems(std::int64_t rows) {
  return rows * static_cast<std::int64_t>(sizeof(T)) * 9;
}

/// Seconds of one call, the best of several passes; on a GPU calls follow each other without waiting.
double seconds_of(const device& dev, const suite_options& options, const std::function<void()>& call);

/// The fastest of cuSPARSE's routines for these systems, on either layout; nothing where there are none.
struct peer_time {
  double seconds = 0;
  std::string name;
};
template <real T>
std::optional<peer_time> cusparse_one(const device& gpu, band_systems<T>& systems, bool interchanges,
                                      std::string& why);
template <real T>
std::optional<peer_time> cusparse_batch(const device& gpu, band_systems<T>& contiguous_systems,
                                        band_systems<T>& interleaved_systems, std::string& why);

/// LAPACK's gtsv on one core of the CPU for one system, or for those of a contiguous batch one by one; or gttrs
/// for one, with factors made before. Nothing where LAPACK is not found.
template <real T>
std::optional<double> lapack_gtsv(const suite_options& options, const band_systems<T>& systems);
template <real T>
std::optional<double> lapack_gttrs(const suite_options& options, const band_systems<T>& systems);

}  // namespace vouch::bench
