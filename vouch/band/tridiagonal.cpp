#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/error.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk_rows = 4096;

// One piece of rows of one system.
struct piece {
  std::int64_t system, first, last;
};

struct piece_facts {
  bool symmetric = true, positive = true;
  double dominance = std::numeric_limits<double>::infinity();
  double column_dominance = std::numeric_limits<double>::infinity();
  double largest = 0;
  std::int64_t weakest = 0;
  std::int64_t bad = -1;  // row of the first entry that is no number
};

double over(double a, double b) { return b > 0 ? a / b : std::numeric_limits<double>::infinity(); }

template <real T>
piece_facts look(tridiagonal_view<const T> A, const piece& p) {
  piece_facts facts;
  const std::int64_t n = A.shape.rows(p.system);
  const auto entry = [&](const T* of, std::int64_t i) {
    return static_cast<double>(of[A.shape.at(p.system, i)]);
  };
  const auto below = [&](std::int64_t i) { return i > 0 || A.periodic ? entry(A.dl, i) : 0.0; };
  const auto above = [&](std::int64_t i) { return i + 1 < n || A.periodic ? entry(A.du, i) : 0.0; };
  for (std::int64_t i = p.first; i < p.last; ++i) {
    const double a = below(i), d = entry(A.d, i), c = above(i);
    if (!std::isfinite(a) || !std::isfinite(d) || !std::isfinite(c)) {
      if (facts.bad < 0) facts.bad = i;
      continue;
    }
    facts.positive = facts.positive && d > 0;
    facts.largest = std::max({facts.largest, std::fabs(a), std::fabs(d), std::fabs(c)});
    const double row = over(std::fabs(d), std::fabs(a) + std::fabs(c));
    if (row < facts.dominance) {
      facts.dominance = row;
      facts.weakest = i;
    }
    const std::int64_t next = i + 1 < n ? i + 1 : 0, last = i > 0 ? i - 1 : n - 1;
    const double a_next = next > 0 || A.periodic ? entry(A.dl, next) : 0.0;
    const double c_last = i > 0 || A.periodic ? entry(A.du, last) : 0.0;
    facts.symmetric = facts.symmetric && c == a_next;
    facts.column_dominance =
        std::min(facts.column_dominance, over(std::fabs(d), std::fabs(a_next) + std::fabs(c_last)));
  }
  return facts;
}

// Names the first entry of a row that is no number.
template <real T>
[[noreturn]] void refuse(tridiagonal_view<const T> A, std::int64_t s, std::int64_t i) {
  const std::int64_t at = A.shape.at(s, i);
  const bool below = i > 0 || A.periodic;
  const char* which = below && !std::isfinite(A.dl[at]) ? "dl" : !std::isfinite(A.d[at]) ? "d" : "du";
  const T value = which[1] == 'l' ? A.dl[at] : which[1] == 'u' ? A.du[at] : A.d[at];
  std::string text = std::string(which) + "[" + std::to_string(i) + "]";
  if (A.shape.systems > 1) text += " of system " + std::to_string(s);
  throw value_error("tridiagonal: " + text + " is " + (std::isnan(value) ? "NaN" : "infinite"));
}

std::vector<piece> cut(const batch_shape& shape) {
  std::vector<piece> pieces;
  const bool shared = shape.offsets == nullptr && shape.system_stride == 0;
  for (std::int64_t s = 0; s < (shared ? std::min<std::int64_t>(shape.systems, 1) : shape.systems); ++s)
    for (std::int64_t i = 0; i < shape.rows(s); i += chunk_rows)
      pieces.push_back({s, i, std::min(i + chunk_rows, shape.rows(s))});
  return pieces;
}

}  // namespace

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
  if (of.n < 0 || of.systems < 0 || of.offsets != nullptr)
    throw value_error("tridiagonal: needs a size of 0 or more and no offsets");
  const bool empty = of.n == 0 || of.systems == 0;
  const std::int64_t size = empty ? 0 : of.at(of.systems - 1, of.n - 1) + 1;
  dl = array<T>(dev, size);
  d = array<T>(dev, size);
  du = array<T>(dev, size);
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
  const std::vector<piece> pieces = cut(A.shape);
  const auto count = static_cast<std::int64_t>(pieces.size());
  std::vector<piece_facts> found(pieces.size());
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (count > 1)
  for (std::int64_t p = 0; p < count; ++p)
    found[static_cast<std::size_t>(p)] = look(A, pieces[static_cast<std::size_t>(p)]);
  tridiagonal_facts facts;
  facts.dominance = facts.column_dominance = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < found.size(); ++p) {
    if (found[p].bad >= 0) refuse(A, pieces[p].system, found[p].bad);
    facts.symmetric = facts.symmetric && found[p].symmetric;
    facts.positive_diagonal = facts.positive_diagonal && found[p].positive;
    facts.column_dominance = std::min(facts.column_dominance, found[p].column_dominance);
    facts.largest = std::max(facts.largest, found[p].largest);
    if (found[p].dominance < facts.dominance) {
      facts.dominance = found[p].dominance;
      facts.weakest_system = pieces[p].system;
      facts.weakest_row = found[p].weakest;
    }
  }
  return facts;
}

template struct tridiagonal<float>;
template struct tridiagonal<double>;
template tridiagonal_facts examine(const device&, tridiagonal_view<const float>);
template tridiagonal_facts examine(const device&, tridiagonal_view<const double>);

}  // namespace vouch
