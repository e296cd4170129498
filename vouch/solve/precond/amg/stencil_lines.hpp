// vouch/solve/precond/amg/stencil_lines.hpp -- elements of products with stencils and their interpolation; private, CPU
// and GPU.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg/combination.hpp>

namespace vouch::multigrid {

/// Element i of a combination whose product with W is known.
VOUCH_HOST_DEVICE inline float combined(const combination& t, std::int64_t i, float product) {
  const float of_v = t.v != nullptr ? t.b * t.v[i] + t.c * product : t.c * product;
  return t.u != nullptr ? t.a * t.u[i] + of_v : of_v;
}

/// Weights of steps along a line of coarse points, and the line of a vector that they meet: of fine points for
/// restriction, of coarse ones for interpolation.
struct line_terms {
  const float* back = nullptr;  // steps of -1 and 1: where the line is halved
  const float* here = nullptr;
  const float* ahead = nullptr;
  const float* vector = nullptr;
};

/// Coarse point i of a line that is halved, from nx fine ones.
VOUCH_HOST_DEVICE inline void add_restricted(float& sum, const line_terms& line, std::int64_t i,
                                             std::int64_t nx) {
  const float* const v = line.vector + 2 * i;
  if (i > 0) sum += line.back[i] * v[-1];
  sum += line.here[i] * v[0];
  if (2 * i + 1 < nx) sum += line.ahead[i] * v[1];
}

/// The fine points at coarse point i, of n, of a line that is halved, and behind it.
VOUCH_HOST_DEVICE inline void add_prolongated(float& even, float& odd, const line_terms& line, std::int64_t i,
                                              std::int64_t n) {
  even += line.here[i] * line.vector[i];
  odd += line.ahead[i] * line.vector[i];
  if (i + 1 < n) odd += line.back[i + 1] * line.vector[i + 1];
}

/// Point i of a line that is not halved, either way.
VOUCH_HOST_DEVICE inline void add_plain(float& sum, const line_terms& line, std::int64_t i) {
  sum += line.here[i] * line.vector[i];
}

/// An entry of D^-1/2 A D^-1/2.
VOUCH_HOST_DEVICE inline float scaled_coupling(double value, double one, double other) {
  return static_cast<float>(value / std::sqrt(one * other));
}
/// A weight of D_fine^1/2 P D_coarse^-1/2.
VOUCH_HOST_DEVICE inline float scaled_weight(double weight, double fine, double coarse) {
  return static_cast<float>(weight * std::sqrt(fine / coarse));
}

}  // namespace vouch::multigrid
