#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/cpu/lanes.hpp>
#include <vouch/band/gpu/check_cuda.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t chunk_rows = 4096;

// One segment of rows of one system.
struct segment {
  std::int64_t system, first, last;
};

// The least and the largest of numbers that are not negative, whose bits are ordered as they are.
struct extremes {
  std::int64_t least = std::bit_cast<std::int64_t>(HUGE_VAL), largest = 0;
  void see(double x) {
    least = std::min(least, std::bit_cast<std::int64_t>(x));
    largest = std::max(largest, std::bit_cast<std::int64_t>(x));
  }
};

struct inner_facts {
  extremes entries, dominance, column_dominance, row, column;
  bool symmetric, positive;
};

// Of rows that lie one after another, with rows before and behind them.
VOUCH_CLONES("avx512f", "avx2", "default")
void look_at_rows(const double* dl, const double* d, const double* du, std::int64_t count,
                  double* __restrict dominance, inner_facts& facts) {
  extremes entries, rows, columns, in_row, in_column;
  std::int64_t unlike = 0, unfit = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double a = std::fabs(dl[k]), size = std::fabs(d[k]), c = std::fabs(du[k]);
    const double row = a + c, column = std::fabs(dl[k + 1]) + std::fabs(du[k - 1]);
    dominance[k] = size / row;
    rows.see(dominance[k]);
    columns.see(size / column);
    in_row.see(size + row);
    in_column.see(size + column);
    entries.see(a);
    entries.see(size);
    entries.see(c);
    unlike |= du[k] != dl[k + 1];
    unfit |= !(d[k] > 0);
  }
  facts = {entries, rows, columns, in_row, in_column, unlike == 0, unfit == 0};
}

// As row by row; false where a row needs care: entries that are no numbers, or none but zeros.
bool check_inner_rows(const tridiagonal_view<const double>& A, std::int64_t system, std::int64_t first,
                      std::int64_t count, matrix_facts& facts) {
  double dominance[chunk_rows];
  inner_facts seen;
  const std::int64_t at = A.shape.at(system, first);
  look_at_rows(A.dl + at, A.d + at, A.du + at, count, dominance, seen);
  constexpr auto infinite = std::bit_cast<std::int64_t>(HUGE_VAL);
  if (seen.entries.largest >= infinite || seen.row.least == 0 || seen.column.least == 0) return false;
  facts.symmetric = seen.symmetric;
  facts.positive = seen.positive;
  facts.largest = std::bit_cast<double>(seen.entries.largest);
  facts.dominance = std::bit_cast<double>(seen.dominance.least);
  facts.column_dominance = std::bit_cast<double>(seen.column_dominance.least);
  facts.weakest = first + (std::find(dominance, dominance + count, facts.dominance) - dominance);
  return true;
}

template <real T>
matrix_facts check_rows(const tridiagonal_view<const T>& A, const segment& p) {
  matrix_facts facts;
  const std::int64_t n = A.shape.rows(p.system);
  const auto one_by_one = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) facts.add(facts_of_row(A, p.system, i, n));
  };
  if constexpr (std::is_same_v<T, double>) {
    const std::int64_t from = std::max<std::int64_t>(p.first, 1), to = std::min(p.last, n - 1);
    matrix_facts inner;
    if (A.shape.row_stride == 1 && from < to && check_inner_rows(A, p.system, from, to - from, inner)) {
      one_by_one(p.first, from);
      facts.add(inner);
      one_by_one(to, p.last);
      return facts;
    }
  }
  one_by_one(p.first, p.last);
  return facts;
}

// Names the first entry of a row that is no number.
template <real T>
[[noreturn]] void refuse(const device& dev, const tridiagonal_view<const T>& A, std::int64_t s,
                         std::int64_t i) {
  const std::int64_t at = A.shape.at(s, i);
  const auto entry = [&](const T* of) {
    T value;
    copy_bytes(&value, device::cpu(1), of + at, dev, sizeof value);
    return value;
  };
  const bool below = i > 0 || A.periodic;
  const char* which = "du";
  T value = entry(A.du);
  if (const T d = entry(A.d); !std::isfinite(d)) {
    which = "d";
    value = d;
  }
  if (const T dl = entry(A.dl); below && !std::isfinite(dl)) {
    which = "dl";
    value = dl;
  }
  std::string text = std::string(which) + "[" + std::to_string(i) + "]";
  if (A.shape.systems > 1) text += " of system " + std::to_string(s);
  throw value_error("tridiagonal: " + text + " is " + (std::isnan(value) ? "NaN" : "infinite"));
}

std::vector<segment> cut(const batch_shape& shape) {
  std::vector<segment> segments;
  const bool shared = shape.offsets == nullptr && shape.system_stride == 0;
  for (std::int64_t s = 0; s < (shared ? std::min<std::int64_t>(shape.systems, 1) : shape.systems); ++s)
    for (std::int64_t i = 0; i < shape.rows(s); i += chunk_rows)
      segments.push_back({s, i, std::min(i + chunk_rows, shape.rows(s))});
  return segments;
}

}  // namespace

void detail::require_shape(const char* who, const batch_shape& shape) {
  if (shape.n < 0 || shape.systems < 0 || shape.row_stride < 0 || shape.system_stride < 0)
    throw value_error(std::string(who) + ": a size or stride is negative");
  for (std::int64_t s = 0; shape.offsets != nullptr && s < shape.systems; ++s)
    if ((s == 0 && shape.offsets[0] != 0) || shape.rows(s) < 0 || shape.rows(s) > shape.n)
      throw value_error(std::string(who) + ": system " + std::to_string(s) + " has rows " +
                            std::to_string(shape.offsets[s]) + " to " +
                            std::to_string(shape.offsets[s + 1] - 1),
                        "offsets ascend from 0, by at most as much as the shape has rows: ragged() makes such");
}

void detail::require_apart(const char* who, const batch_shape& shape) {
  require_shape(who, shape);
  if (shape.offsets != nullptr || shape.n == 0 || shape.systems == 0) return;
  const std::int64_t row = shape.row_stride, system = shape.system_stride, common = std::gcd(row, system);
  const bool apart = common == 0 ? shape.n == 1 && shape.systems == 1
                                 : system / common >= shape.n || row / common >= shape.systems;
  if (!apart) throw value_error(std::string(who) + ": several elements of x lie in one place");
}

batch_shape ragged(std::span<const std::int64_t> offsets) {
  if (offsets.empty() || offsets.front() != 0) throw value_error("ragged: offsets do not begin with 0");
  std::int64_t longest = 0;
  for (std::size_t s = 1; s < offsets.size(); ++s) {
    if (offsets[s] < offsets[s - 1])
      throw value_error("ragged: offset " + std::to_string(s) + " is below the one before it");
    longest = std::max(longest, offsets[s] - offsets[s - 1]);
  }
  return {longest, static_cast<std::int64_t>(offsets.size()) - 1, 1, 0, offsets.data()};
}

template <real T>
tridiagonal<T>::tridiagonal(const device& dev, batch_shape of) : shape(of) {
  require_shape("tridiagonal", of);
  if (of.offsets != nullptr) throw value_error("tridiagonal: systems of different lengths are not owned");
  for (array<T>* diagonal : {&dl, &d, &du}) *diagonal = array<T>(dev, of.extent());
}

template <real T>
tridiagonal<T> tridiagonal<T>::from(const device& dev, std::span<const T> lower, std::span<const T> diagonal,
                                    std::span<const T> upper) {
  if (lower.size() != diagonal.size() || upper.size() != diagonal.size())
    throw shape_error("tridiagonal: dl, d and du have " + std::to_string(lower.size()) + ", " +
                      std::to_string(diagonal.size()) + " and " + std::to_string(upper.size()) + " elements");
  tridiagonal A;
  A.shape = contiguous(static_cast<std::int64_t>(diagonal.size()));
  A.dl = array<T>::from(dev, lower);
  A.d = array<T>::from(dev, diagonal);
  A.du = array<T>::from(dev, upper);
  return A;
}

template <real T>
tridiagonal<T> tridiagonal<T>::constant(const device& dev, T lower, T diagonal, T upper, std::int64_t n,
                                        std::int64_t systems) {
  if (n < 0 || systems < 0) throw value_error("tridiagonal: a negative size");
  tridiagonal A =
      from(dev, std::span<const T>(&lower, 1), std::span<const T>(&diagonal, 1), std::span<const T>(&upper, 1));
  A.shape = {n, systems, 0, 0, nullptr};
  return A;
}

template <real T>
tridiagonal_facts examine(const device& dev, tridiagonal_view<const T> A) {
  const ieee_environment here;
  require_shape("examine", A.shape);
  std::vector<matrix_facts> found;
  std::vector<std::int64_t> system;  // of every element of found
  if (dev.is_cuda()) {
    if constexpr (built_with_cuda) found = examine_cuda(dev, A);
    for (std::size_t s = 0; s < found.size(); ++s) system.push_back(static_cast<std::int64_t>(s));
  } else {
    const std::vector<segment> segments = cut(A.shape);
    const auto count = static_cast<std::int64_t>(segments.size());
    found.resize(segments.size());
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (count > 1)
    for (std::int64_t p = 0; p < count; ++p)
      found[static_cast<std::size_t>(p)] = check_rows(A, segments[static_cast<std::size_t>(p)]);
    for (const segment& p : segments) system.push_back(p.system);
  }
  matrix_facts all;
  std::int64_t weakest_system = 0;
  for (std::size_t p = 0; p < found.size(); ++p) {
    if (found[p].bad >= 0) refuse(dev, A, system[p], found[p].bad);
    if (found[p].dominance < all.dominance) weakest_system = system[p];
    all.add(found[p]);
  }
  return {all.symmetric != 0, all.positive != 0,    all.dominance, weakest_system,
          all.weakest,        all.column_dominance, all.largest};
}

template struct tridiagonal<float>;
template struct tridiagonal<double>;
template VOUCH_PUBLIC tridiagonal_facts examine(const device&, tridiagonal_view<const float>);
template VOUCH_PUBLIC tridiagonal_facts examine(const device&, tridiagonal_view<const double>);

}  // namespace vouch
