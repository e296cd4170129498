// vouch/generate/solution.hpp -- right-hand sides whose solution is known.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

enum class known_solution {
  ones,     // (1, ..., 1)
  smooth,   // 1 + sin(2 pi (i + 1/2) / n) / 2
  random,   // uniform in [-1, 1)
  integers  // from 0 to 49: A x is exact where A holds integers that are not too large
};

/// Their words, in that order.
inline constexpr std::array<std::string_view, 4> known_solution_words{"ones", "smooth", "random", "integers"};

/// n elements of a solution, on the CPU; random and integers are functions of i and seed.
array<double> make_solution(const device& dev, known_solution kind, std::int64_t n, std::uint64_t seed = 1);

/// b = A x, every element rounded once.
///
/// Shapes  A is m-by-n, x has n elements, b has m.
/// Memory  All on the CPU.
/// Result  Row sums are formed in twice the precision and rounded: b errs by at most u |b| and about
///         nnz_i u^2 (|A| |x|)_i. The same bits for any number of threads.
/// Throws  shape_error  x.size() != n
array<double> right_hand_side(const device& dev, csr_view<const double> A, view<const double> x);

}  // namespace vouch
