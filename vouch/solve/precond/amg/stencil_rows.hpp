// vouch/solve/precond/amg/stencil_rows.hpp -- what the coarsening of stencils does for points that stand side by side on
// a line: one, as a thread of a GPU takes it, or as many as a vector of a CPU has; private. Products are rounded, so
// that everybody gets the same bits.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <vouch/core/simd.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg/stencil_coarsening.hpp>
#include <vouch/sparse/residual_row.hpp>

namespace vouch::multigrid {

// Numbers of every stride-th point.
template <int stride>
VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE void load_points(double& v, const double* from) {
  v = *from;
}
VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE double product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

#ifndef __CUDACC__
template <int stride>
VOUCH_SIMD_INLINE void load_points(lanes<double>& v, const double* from) {
  load<double>(v, from);
  if constexpr (stride == 2) {
    lanes<double> beyond;
    load<double>(beyond, from + simd<double>::width);
    v = __builtin_shufflevector(v, beyond, 0, 2, 4, 6, 8, 10, 12, 14);
  }
}
VOUCH_SIMD_INLINE lanes<double> product(const lanes<double>& a, const lanes<double>& b) { return a * b; }
#endif

// ---- what decides how a stencil is coarsened

/// Of points' couplings to their neighbours.
template <class V>
struct coupling_sums {
  V sizes{}, all{}, along[3]{};  // of absolute values; of all; of those out of line for a direction

  /// Of the points from i on; there(w): whether they have the neighbours ways[w], but for the ends of lines.
  template <class There>
  VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE void add(const coupling_list& ways, const step_view<const double>& A,
                                               std::int64_t i, const There& there) {
    for (std::size_t w = 0; w < ways.count; ++w) {
      if (!there(w)) continue;
      V v;
      load_points<1>(v, A.of(ways[w].diagonal) + i + ways[w].shift);
      sizes += v < 0.0 ? -v : v;
      all += v;
      for (std::size_t a = 0; a < 3; ++a)
        if (ways[w].to[a] != 0) along[a] += v;
    }
  }
};

/// Of many points. Strengths are sums of integers, which have the same value in any order.
struct coupling_facts {
  std::int64_t strength[3] = {};      // of the couplings in a direction over the diagonal, in units
  double row_sum = 0, remainder = 0;  // the largest of |a_ij| and of a row's sum, over the diagonal

  /// How many units make one, for sums over so many points that are below 2^62.
  static double unit(std::int64_t points) { return std::ldexp(1.0, 59 - std::ilogb(points)); }

  VOUCH_HOST_DEVICE void add(double units, double diagonal, double sizes, double all,
                             const double (&along)[3]) {
    constexpr double most = 4;  // nothing counts for more
    for (std::size_t a = 0; a < 3; ++a) {
      const double of_point = -along[a] / diagonal;
      if (of_point > 0) strength[a] += static_cast<std::int64_t>(units * (of_point < most ? of_point : most));
    }
    row_sum = vouch::detail::max_or_nan(row_sum, sizes / diagonal);
    remainder = vouch::detail::max_or_nan(remainder, std::fabs(all + diagonal) / diagonal);
  }
  void merge(const coupling_facts& other) {
    for (std::size_t a = 0; a < 3; ++a) strength[a] += other.strength[a];
    row_sum = vouch::detail::max_or_nan(row_sum, other.row_sum);
    remainder = vouch::detail::max_or_nan(remainder, other.remainder);
  }
};

// ---- interpolation

/// How the weights of interpolation follow from a matrix. For each step d the entries of the rows there that count, by
/// where they go in the directions of d: nowhere, or back to the coarse point; the latter, in groups, have the weight
/// of another step.
struct interpolation_plan {
  struct group {
    std::int16_t first, last;  // of ways
    std::int16_t weight;       // the step whose weight it has
  };
  std::array<std::int16_t, most_steps + 1> groups_begin{};  // of a step: what goes nowhere first
  std::array<group, 8 * most_steps> groups{};
  std::array<std::int8_t, most_steps * most_steps> listed{};
  coupling_list ways{};  // of a row, and its diagonal

  /// The weights of coarse points for the fine ones a step k away, the first of which is `from`, the number of the coarse
  /// point `at`; there(w): whether the fine points have the neighbours ways[w], but for the ends of lines. Those of
  /// steps with fewer parts are known.
  template <int stride, class V, class There>
  VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE void weights(V& weight, std::size_t k, const step_view<const double>& A,
                                                   std::int64_t from, const There& there,
                                                   const step_view<double>& P, std::int64_t at) const {
    V own{}, all{}, diagonal, known;
    add_entries<stride>(own, groups[static_cast<std::size_t>(groups_begin[k])], A, from, there);
    for (std::int16_t g = groups_begin[k] + 1; g < groups_begin[k + 1]; ++g) {
      const group& towards = groups[static_cast<std::size_t>(g)];
      V others{};
      add_entries<stride>(others, towards, A, from, there);
      load_points<1>(known, P.of(static_cast<std::size_t>(towards.weight)) + at);
      all += product(others, known);
    }
    load_points<stride>(diagonal, A.of(0) + from);
    constexpr double least = 1e-10;  // next to nothing of the diagonal
    const auto is_left = own > least * diagonal;
    const V one = V{} + 1.0;
    weight = is_left ? -all / (is_left ? own : one) : V{};
  }

 private:
  template <int stride, class V, class There>
  VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE void add_entries(V& sum, const group& of,
                                                       const step_view<const double>& A, std::int64_t from,
                                                       const There& there) const {
    for (std::int16_t l = of.first; l < of.last; ++l) {
      const auto w = static_cast<std::size_t>(listed[static_cast<std::size_t>(l)]);
      if (!there(w)) continue;
      V v;
      load_points<stride>(v, A.of(ways[w].diagonal) + from + ways[w].shift);
      sum += v;
    }
  }
};
/// For interpolation by these steps of a matrix with those.
interpolation_plan plan_interpolation(const stencil_matrix& A, const std::vector<step>& steps);

// ---- the coarse matrix

/// What couples coarse points I and I + D: paths from a fine point a step d from I by an entry to one a step e from
/// I + D.
struct galerkin_plan {
  static constexpr std::size_t most_couplings = 14, most_paths = 1270, most_of_coupling = 343;
  struct path {
    std::int8_t way, weight;  // the entry, e
  };
  std::array<std::array<std::int16_t, most_steps + 1>, most_couplings>
      begin{};  // of the paths of a coupling and d
  std::array<path, most_paths> paths{};
  coupling_list ways{};  // of a fine row, and its diagonal

  /// sum += of(d)[I] (a_1 of(e_1)[I + D] + a_2 of(e_2)[I + D] + ...) over the paths first to last - 1, which begin with
  /// step d, `weight` being of(d)[I]. factors(p, a, w) says where the factors of path p are, or false where it leaves the
  /// lines that there are.
  template <class V, class Factors>
  VOUCH_HOST_DEVICE VOUCH_SIMD_INLINE static void add_paths(V& sum, const V& weight, std::int16_t first,
                                                            std::int16_t last, const Factors& factors) {
    V part{}, a, w;
    for (std::int16_t p = first; p < last; ++p) {
      const double *entries, *weights;
      if (!factors(p, entries, weights)) continue;
      load_points<1>(a, entries);
      load_points<1>(w, weights);
      part += product(a, w);
    }
    sum += product(weight, part);
  }
};
/// For P^T A P, and the steps that it has.
galerkin_plan plan_galerkin(const stencil_matrix& A, const step_values<double>& P, const coarsening& by,
                            std::vector<step>& steps);

/// Whether something is left of a diagonal entry on the coarse level.
VOUCH_HOST_DEVICE inline bool keeps_energy(double coarse, double fine) {
  constexpr double nothing = 1e-12;
  return coarse > nothing * fine;
}

/// The fine line that a coarse one is.
VOUCH_HOST_DEVICE inline line_place fine_line(const line_place& coarse, const coarsening& by) {
  return {by[1] * coarse.y, by[2] * coarse.z};
}

/// How many parts of a step are not 0.
inline int parts_of(const step& s) { return (s[0] != 0 ? 1 : 0) + (s[1] != 0 ? 1 : 0) + (s[2] != 0 ? 1 : 0); }

// The CUDA sides of stencil_coarsening.cpp.
coupling_facts examine_cuda(const device& dev, const stencil_matrix& A, const coupling_list& ways,
                            double units);
void interpolate_cuda(const device& dev, const stencil_matrix& A, const interpolation_plan& plan,
                      const coarsening& by, step_values<double>& P);
void galerkin_cuda(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                   const galerkin_plan& plan, const coarsening& by, stencil_matrix& C);
bool is_positive_cuda(const device& dev, const stencil_matrix& coarse, const stencil_matrix& fine,
                      const coarsening& by);

}  // namespace vouch::multigrid
