// vouch/generate/dense_problems.hpp -- dense model problems by name.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/generate/problems.hpp>

namespace VOUCH_PUBLIC vouch {

/// Parameters of a dense problem; what is not set takes the problem's own default.
struct dense_problem_options {
  std::optional<std::int64_t> n{};
  std::optional<double> dominance{};   // diagonal over the sum of the others' magnitudes, in every row
  std::optional<std::string> signs{};  // positive|random
  std::uint64_t seed = 1;
};

/// All of them:
///
///   banded-dominant  a diagonal of integers from n to n + 49; in the 0.15 n diagonals on each side of it
///                    integers from 0 to 4, unsymmetric; all else zero
///   dense-dominant   entries uniform in [0, 1), or with random signs in (-1, 1); the diagonal is dominance
///                    times the sum of the others' magnitudes
std::span<const problem_facts> dense_problems();

/// One of them.
///
/// Memory  On the CPU.
/// Result  A function of the options: the same bits for any number of threads.
/// Throws  value_error  an unknown name, an option that the problem does not take or out of range
matrix<double> generate_dense(const device& dev, std::string_view name, const dense_problem_options& options);

/// b = A x, every element rounded once from twice the precision.
///
/// Shapes  A is n-by-n, x has n elements.
/// Memory  All on the CPU.
/// Throws  shape_error  lengths that do not fit
array<double> right_hand_side(const device& dev, matrix_view<const double> A, view<const double> x);

}  // namespace vouch
