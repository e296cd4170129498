// vouch/solve/precond/amg/aggregation.hpp -- strong couplings and aggregates, by integers alone but for the comparisons
// of couplings: the same on every device; private. `on` is where it runs: executor_cpu.hpp, executor_cuda.cuh.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/random.hpp>
#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::multigrid {

/// Neighbours by strong couplings: those of i are col[row_ptr[i]] and on; without i itself.
struct strong_graph {
  array<std::int64_t> row_ptr;
  array<std::int32_t> col;
};

struct aggregation {
  array<std::int32_t> of_row;  // -1: none
  std::int64_t count = 0;
};

/// Whether a coupling of two rows is strong, whose largest couplings are so large.
VOUCH_HOST_DEVICE inline bool is_strong(double strength, double coupling, double largest,
                                        double other_largest) {
  const double least = strength * (largest < other_largest ? largest : other_largest);
  return coupling > 0 && coupling >= least;
}

/// largest[i] := max |a_ij|, j != i
template <class On>
array<double> largest_couplings(const On& on, csr_view<const double> A) {
  array<double> largest(on.where(), A.rows);
  double* const out = largest.data();
  on.for_each("largest_couplings", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    double most = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] != i && std::fabs(A.val[k]) > most) most = std::fabs(A.val[k]);
    out[i] = most;
  });
  return largest;
}

/// The entries of A that keep(i, k) says, k the place of an entry of row i.
template <class On, class Keep>
array<std::int64_t> kept_rows(const On& on, csr_view<const double> A, Keep keep) {
  array<std::int64_t> row_ptr(on.where(), A.rows + 1);
  std::int64_t* const out = row_ptr.data();
  on.for_each("count_kept", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    std::int64_t count = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) count += keep(i, k);
    out[i + 1] = count;
    if (i == 0) out[0] = 0;
  });
  on.scan(row_ptr);
  return row_ptr;
}

template <class On>
strong_graph strong_couplings(const On& on, csr_view<const double> A, const array<double>& largest,
                              double strength) {
  const double* const most = largest.data();
  const auto keep = [=] VOUCH_HOST_DEVICE(std::int64_t i, std::int64_t k) {
    return A.col[k] != i && is_strong(strength, std::fabs(A.val[k]), most[i], most[A.col[k]]);
  };
  strong_graph G{kept_rows(on, A, keep), {}};
  G.col = array<std::int32_t>(on.where(), on.last(G.row_ptr));
  const std::int64_t* const row_ptr = G.row_ptr.data();
  std::int32_t* const col = G.col.data();
  on.for_each("list_couplings", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    std::int64_t at = row_ptr[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (keep(i, k)) col[at++] = A.col[k];
  });
  return G;
}

// The states of a vertex: its place in the order while it is undecided.
inline constexpr std::uint64_t is_root = 0, is_covered = std::numeric_limits<std::uint64_t>::max();

/// The first vertices in a hashed order no two of which are closer than three edges: is_root for them, is_covered for
/// all others. What a sequential pass in that order would choose, whatever the number of threads.
template <class On>
array<std::uint64_t> independent_set(const On& on, const strong_graph& G, std::uint64_t seed) {
  const std::int64_t n = G.row_ptr.size() - 1;
  array<std::uint64_t> states(on.where(), n), firsts(on.where(), n);
  array<std::int32_t> undecided(on.where(), 1);
  std::uint64_t* const state = states.data();
  std::uint64_t* const first = firsts.data();
  std::int32_t* const left = undecided.data();
  const std::int64_t* const row_ptr = G.row_ptr.data();
  const std::int32_t* const col = G.col.data();
  on.for_each("order_vertices", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    std::uint64_t hash = random_bits(seed, static_cast<std::uint64_t>(i)) >> 32;
    hash = hash < 1 ? 1 : hash > 0xfffffffeU ? 0xfffffffeU : hash;
    state[i] = hash << 32 | static_cast<std::uint64_t>(i);
    first[i] = 0;
  });
  const cancellation_probe stop;
  for (bool some = n > 0; some;) {
    stop.check();
    on.set(left, 0);
    // The first undecided vertex among neighbours and itself; next to a root all are covered.
    on.for_each("find_firsts", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
      if (first[i] == is_covered) return;
      std::uint64_t least = state[i];
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && least != is_root; ++k)
        if (state[col[k]] < least) least = state[col[k]];
      first[i] = least == is_root ? is_covered : least;
    });
    on.for_each("decide", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
      if (state[i] == is_root || state[i] == is_covered) return;
      bool covered = first[i] == is_covered, foremost = first[i] >= state[i];
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && !covered; ++k) {
        const std::uint64_t theirs = first[col[k]];
        covered = theirs == is_covered;
        foremost = foremost && theirs >= state[i];
      }
      if (covered)
        state[i] = is_covered;
      else if (foremost)
        state[i] = is_root;
      else
        On::raise(left);
    });
    some = on.get(left) != 0;
  }
  return states;
}

/// Rows joined to the aggregate with which their couplings are strongest; equally strong ones to the smaller, then to
/// the first. Rows with more entries than `most` compare single couplings. Returns whether some row was joined.
template <class On>
bool join_neighbours(const On& on, csr_view<const double> A, const array<double>& largest, double strength,
                     const array<std::int32_t>& sizes, const array<std::int32_t>& from,
                     array<std::int32_t>& to) {
  constexpr std::int64_t most = 64;
  array<std::int32_t> joined(on.where(), 1);
  const double* const of_row = largest.data();
  const std::int32_t* const size = sizes.data();
  const std::int32_t* const old = from.data();
  std::int32_t* const out = to.data();
  std::int32_t* const some = joined.data();
  on.set(some, 0);
  on.for_each("join_neighbours", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    out[i] = old[i];
    if (old[i] >= 0) return;
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    const auto strong = [&](std::int64_t k) {
      return A.col[k] != i && is_strong(strength, std::fabs(A.val[k]), of_row[i], of_row[A.col[k]]);
    };
    double best = 0;
    std::int32_t chosen = -1;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t g = old[A.col[k]];
      if (g < 0 || g == chosen || !strong(k)) continue;
      double sum = 0;
      if (end - begin > most)
        sum = std::fabs(A.val[k]);
      else
        for (std::int64_t other = begin; other < end; ++other)
          if (old[A.col[other]] == g && strong(other)) sum += std::fabs(A.val[other]);
      const bool same = sum == best && chosen >= 0;
      if (sum > best || (same && (size[g] < size[chosen] || (size[g] == size[chosen] && g < chosen)))) {
        best = sum;
        chosen = g;
      }
    }
    out[i] = chosen;
    if (chosen >= 0) On::raise(some);
  });
  return on.get(some) != 0;
}

/// Aggregates: each root with its neighbours; rows at distance two join where they are coupled most. A row without
/// strong couplings has none.
template <class On>
aggregation aggregate(const On& on, csr_view<const double> A, double strength, std::uint64_t seed) {
  const std::int64_t n = A.rows;
  const array<double> largest = largest_couplings(on, A);
  const strong_graph G = strong_couplings(on, A, largest, strength);
  const array<std::uint64_t> states = independent_set(on, G, seed);
  const std::uint64_t* const state = states.data();
  const std::int64_t* const row_ptr = G.row_ptr.data();
  const std::int32_t* const col = G.col.data();

  array<std::int64_t> numbers(on.where(), n + 1);
  std::int64_t* const number = numbers.data();
  on.for_each("mark_roots", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    number[i + 1] = state[i] == is_root && row_ptr[i] < row_ptr[i + 1];
    if (i == 0) number[0] = 0;
  });
  on.scan(numbers);
  aggregation made{array<std::int32_t>(on.where(), n), n > 0 ? on.last(numbers) : 0};

  array<std::int32_t> sizes = array<std::int32_t>::zeros(on.where(), made.count);
  std::int32_t* const out = made.of_row.data();
  std::int32_t* const size = sizes.data();
  on.for_each("join_roots", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    std::int32_t g = -1;
    if (number[i] < number[i + 1]) g = static_cast<std::int32_t>(number[i]);
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && g < 0; ++k)
      if (number[col[k]] < number[col[k] + 1]) g = static_cast<std::int32_t>(number[col[k]]);
    out[i] = g;
    if (g >= 0) On::increment(size + g);
  });
  // Where couplings are not strong both ways it may take more than once.
  constexpr int passes = 3;
  for (int pass = 0; pass < passes; ++pass) {
    array<std::int32_t> joined(on.where(), n);
    const bool some = join_neighbours(on, A, largest, strength, sizes, made.of_row, joined);
    made.of_row = std::move(joined);
    if (!some) break;
  }
  return made;
}

}  // namespace vouch::multigrid
