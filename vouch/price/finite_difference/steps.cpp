#include <vouch/price/finite_difference/steps.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/core/simd.hpp>

namespace vouch {
namespace {

constexpr int pieces = 16;
constexpr int halves = 2;
constexpr int width = pieces / halves;

template <class T>
struct eight {
  typedef T type __attribute__((vector_size(width * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(width * sizeof(T)), aligned(sizeof(T)), may_alias));
};

// A row of all pieces: two registers, or what stands for them.
template <class T>
struct group {
  typename eight<T>::type half[halves];
};

// Copied by halves: a copy of the whole would go through the stack.
template <class T>
VOUCH_SIMD_INLINE group<T> fetch(const T* from) {
  const auto* p = reinterpret_cast<const typename eight<T>::in_memory*>(from);
  return {{p[0], p[1]}};
}
template <class T>
VOUCH_SIMD_INLINE void put(T* to, const group<T>& g) {
  auto* p = reinterpret_cast<typename eight<T>::in_memory*>(to);
  p[0] = g.half[0];
  p[1] = g.half[1];
}
template <class To, class From>
VOUCH_SIMD_INLINE group<To> convert(const group<From>& g) {
  if constexpr (sizeof(To) == sizeof(From)) {
    return g;
  } else {
    group<To> r;
    for (int h = 0; h < halves; ++h) r.half[h] = __builtin_convertvector(g.half[h], typename eight<To>::type);
    return r;
  }
}

// What one step reads and writes.
template <class T>
struct step_view {
  std::int64_t rows, forward, backward;
  double length, rate;
  double ratio;    // length over the implicit part of it
  double* values;  // row 0
  const double *curvature, *slope, *obstacle;
  const T *inverse, *lower, *upper, *from_before, *from_behind;
  T* change;
};

// In double, what is solved for is W = (I - implicit L)^-1 V, from which V + D = V + ratio (W - V): no
// right-hand side has to be formed. In single precision that difference would be lost, so D itself is solved
// for.
template <class T>
constexpr bool solves_for_change = sizeof(T) == sizeof(float);

template <class T>
VOUCH_SIMD_INLINE group<double> right_hand_side(const step_view<T>& v, std::int64_t at,
                                                const group<double>& before, const group<double>& now) {
  const group<double> next = fetch(v.values + at + pieces);
  const group<double> curvature = fetch(v.curvature + at), slope = fetch(v.slope + at);
  const double discount = v.rate * v.length;
  group<double> rhs;
  for (int h = 0; h < halves; ++h) {
    const auto up = next.half[h] - now.half[h], down = now.half[h] - before.half[h];
    rhs.half[h] =
        v.length * (curvature.half[h] * (up - down) + slope.half[h] * (up + down)) - discount * now.half[h];
  }
  return rhs;
}

// Elimination: change := the right-hand side with the lower neighbours gone, each piece from what carry holds.
// carry := the last row.
template <class T>
VOUCH_SIMD_INLINE void eliminate(const step_view<T> v, T* carry) {
  group<T> y = fetch(carry);
  group<double> before = fetch(v.values - pieces);
  for (std::int64_t j = 0; j < v.rows; ++j) {
    const std::int64_t at = j * pieces;
    const group<double> now = fetch(v.values + at);
    group<T> right;
    if constexpr (solves_for_change<T>)
      right = convert<T>(right_hand_side(v, at, before, now));
    else
      right = now;
    const group<T> inverse = fetch(v.inverse + at), lower = fetch(v.lower + at);
    for (int h = 0; h < halves; ++h) y.half[h] = inverse.half[h] * right.half[h] - lower.half[h] * y.half[h];
    put(v.change + at, y);
    before = now;
  }
  put(carry, y);
}

// V of the next time from the solution of the linear system.
template <class T>
VOUCH_SIMD_INLINE group<double> next_value(const step_view<T>& v, const group<double>& value,
                                           const group<T>& w) {
  const group<double> solution = convert<double>(w);
  group<double> next;
  for (int h = 0; h < halves; ++h)
    if constexpr (solves_for_change<T>)
      next.half[h] = value.half[h] + solution.half[h];
    else
      next.half[h] = v.ratio * solution.half[h] - (v.ratio - 1) * value.half[h];
  return next;
}

// The row of change behind elimination, with what it owes to the piece before.
template <class T>
VOUCH_SIMD_INLINE group<T> eliminated(const step_view<T>& v, std::int64_t j, const group<T>& incoming) {
  group<T> y = fetch(v.change + j * pieces);
  if (j >= v.forward) return y;
  const group<T> share = fetch(v.from_before + j * pieces);
  for (int h = 0; h < halves; ++h) y.half[h] += share.half[h] * incoming.half[h];
  return y;
}

// Substitution and the next V, each piece from zero; then what its last rows owe to the piece behind.
template <class T>
VOUCH_SIMD_INLINE void substitute(const step_view<T> v, const T* incoming, T* carry) {
  const group<T> owed = fetch(incoming);
  group<T> w = {};
  for (std::int64_t j = v.rows - 1; j >= 0; --j) {
    const std::int64_t at = j * pieces;
    const group<T> y = eliminated(v, j, owed), upper = fetch(v.upper + at);
    for (int h = 0; h < halves; ++h) w.half[h] = y.half[h] - upper.half[h] * w.half[h];
    put(v.values + at, next_value(v, fetch(v.values + at), w));
  }
  put(carry, w);
}

template <class T>
VOUCH_SIMD_INLINE void add_from_behind(const step_view<T> v, const T* incoming) {
  const group<T> owed = fetch(incoming);
  const double scale = solves_for_change<T> ? 1 : v.ratio;
  for (std::int64_t j = v.rows - v.backward; j < v.rows; ++j) {
    group<T> part = fetch(v.from_behind + j * pieces);
    for (int h = 0; h < halves; ++h) part.half[h] *= owed.half[h];
    const group<double> grown = convert<double>(part);
    group<double> value = fetch(v.values + j * pieces);
    for (int h = 0; h < halves; ++h) value.half[h] += scale * grown.half[h];
    put(v.values + j * pieces, value);
  }
}

// What the solution may not fall below in a row.
template <class T>
VOUCH_SIMD_INLINE group<T> least(const step_view<T>& v, std::int64_t at, const group<double>& value) {
  const group<double> obstacle = fetch(v.obstacle + at);
  group<double> floor;
  for (int h = 0; h < halves; ++h)
    if constexpr (solves_for_change<T>)
      floor.half[h] = obstacle.half[h] - value.half[h];
    else
      floor.half[h] = (obstacle.half[h] + (v.ratio - 1) * value.half[h]) * (1 / v.ratio);
  return convert<T>(floor);
}

// Substitution of rows count-1 to 0 under the obstacle is x -> max(a x + b, c) for what comes from behind.
template <class T>
VOUCH_SIMD_INLINE void probe(const step_view<T> v, std::int64_t count, const T* incoming, T* free, T* clipped) {
  const group<T> owed = fetch(incoming);
  group<T> b = fetch(free), c = fetch(clipped);
  for (std::int64_t j = count - 1; j >= 0; --j) {
    const std::int64_t at = j * pieces;
    const group<T> y = eliminated(v, j, owed), upper = fetch(v.upper + at),
                   floor = least(v, at, fetch(v.values + at));
    for (int h = 0; h < halves; ++h) {
      b.half[h] = y.half[h] - upper.half[h] * b.half[h];
      const auto on = y.half[h] - upper.half[h] * c.half[h];
      c.half[h] = on > floor.half[h] ? on : floor.half[h];
    }
  }
  put(free, b);
  put(clipped, c);
}

// The same from what came from behind, and the next V.
template <class T>
VOUCH_SIMD_INLINE void substitute_above(const step_view<T> v, const T* incoming, const T* behind) {
  const group<T> owed = fetch(incoming);
  group<T> w = fetch(behind);
  for (std::int64_t j = v.rows - 1; j >= 0; --j) {
    const std::int64_t at = j * pieces;
    const group<T> y = eliminated(v, j, owed), upper = fetch(v.upper + at);
    const group<double> value = fetch(v.values + at);
    const group<T> floor = least(v, at, value);
    for (int h = 0; h < halves; ++h) {
      const auto free = y.half[h] - upper.half[h] * w.half[h];
      w.half[h] = free > floor.half[h] ? free : floor.half[h];
    }
    put(v.values + at, next_value(v, value, w));
  }
}

// One clone of each loop for every instruction set and precision.
#define VOUCH_STEP_LOOPS(T)                                                                                  \
  VOUCH_SIMD_CLONES void run_eliminate(const step_view<T>& v, T* carry) { eliminate(v, carry); }             \
  VOUCH_SIMD_CLONES void run_substitute(const step_view<T>& v, const T* incoming, T* carry) {                \
    substitute(v, incoming, carry);                                                                          \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void run_add(const step_view<T>& v, const T* incoming) { add_from_behind(v, incoming); } \
  VOUCH_SIMD_CLONES void run_probe(const step_view<T>& v, std::int64_t count, const T* incoming, T* free,    \
                                   T* clipped) {                                                             \
    probe(v, count, incoming, free, clipped);                                                                \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void run_above(const step_view<T>& v, const T* incoming, const T* behind) {              \
    substitute_above(v, incoming, behind);                                                                   \
  }
VOUCH_STEP_LOOPS(float)
VOUCH_STEP_LOOPS(double)
#undef VOUCH_STEP_LOOPS

// Spikes below this are lost in any double beside them.
constexpr double negligible = 0x1p-70;

}  // namespace

template <real Solve>
fd_steps<Solve>::fd_steps(std::int64_t n) : n_(n), rows_(ceil_div<std::int64_t>(n - 1, pieces)) {
  const auto count = static_cast<std::size_t>(rows_ * pieces);
  values_.assign(count + 2 * pieces, 0.0);
  curvature_.assign(count, 0.0);
  slope_.assign(count, 0.0);
  for (auto* v : {&inverse_, &lower_, &upper_, &from_before_, &from_behind_, &change_})
    v->assign(count, Solve{});
}

template <real Solve>
void fd_steps<Solve>::factor(const fd_operator& L, double implicit) {
  rate_ = L.rate;
  implicit_ = implicit;
  double multiplier = 0;
  for (std::int64_t i = 1; i < n_ - 1; ++i) {  // node i is row i - 1
    const double a = L.lower[static_cast<std::size_t>(i)], c = L.upper[static_cast<std::size_t>(i)];
    const double pivot = 1 + implicit * (a + c + L.rate) + implicit * a * multiplier;
    const auto at = static_cast<std::size_t>(place(i - 1));
    multiplier = -implicit * c / pivot;
    curvature_[at] = 0.5 * (c + a);
    slope_[at] = 0.5 * (c - a);
    inverse_[at] = static_cast<Solve>(1 / pivot);
    lower_[at] = static_cast<Solve>(-implicit * a / pivot);
    upper_[at] = static_cast<Solve>(multiplier);
  }
  double part[pieces];
  const auto spikes = [&](std::vector<Solve>& spike, const std::vector<Solve>& multipliers, std::int64_t first,
                          std::int64_t way) {
    std::fill(part, part + pieces, 1.0);
    for (std::int64_t k = 0; k < rows_; ++k) {
      double largest = 0;
      for (int l = 0; l < pieces; ++l) {
        const auto at = static_cast<std::size_t>((first + way * k) * pieces + l);
        part[l] *= -static_cast<double>(multipliers[at]);
        spike[at] = static_cast<Solve>(part[l]);
        largest = std::max(largest, std::abs(part[l]));
      }
      if (largest < negligible) return k;
    }
    return rows_;
  };
  forward_ = spikes(from_before_, lower_, 0, 1);
  backward_ = spikes(from_behind_, upper_, rows_ - 1, -1);
}

template <real Solve>
void fd_steps<Solve>::load(const double* values) {
  for (std::int64_t i = 1; i < n_; ++i) values_[static_cast<std::size_t>(place(i - 1) + pieces)] = values[i];
  values_[0] = values[0];
}

template <real Solve>
void fd_steps<Solve>::store(double* values) const {
  for (std::int64_t i = 1; i < n_; ++i) values[i] = values_[static_cast<std::size_t>(place(i - 1) + pieces)];
  values[0] = values_[0];
}

template <real Solve>
void fd_steps<Solve>::set_obstacle(const double* obstacle) {
  american_ = obstacle != nullptr;
  if (!american_) return;
  obstacle_.resize(curvature_.size(), -1e300);
  for (std::int64_t j = 0; j < rows_; ++j) {
    double* to = obstacle_.data() + j * pieces;
    const std::int64_t there = (n_ - 2 - j + rows_ - 1) / rows_;  // pieces that have this row
    for (std::int64_t l = 0; l < std::min<std::int64_t>(there, pieces); ++l)
      to[l] = obstacle[1 + l * rows_ + j];
  }
}

template <real Solve>
void fd_steps<Solve>::advance(double length, double first, double last) {
  american_ ? step<true>(length, first, last) : step<false>(length, first, last);
}

template <real Solve>
template <bool American>
void fd_steps<Solve>::step(double length, double first, double last) {
  double* inner = values_.data() + pieces;
  const std::int64_t end = (rows_ - 1) * pieces;
  for (int l = 1; l < pieces; ++l) {  // neighbours across the pieces' borders
    values_[static_cast<std::size_t>(l)] = inner[end + l - 1];
    inner[end + pieces + l - 1] = inner[l];
  }
  const step_view<Solve> v{rows_,
                           forward_,
                           backward_,
                           length,
                           rate_,
                           length / implicit_,
                           inner,
                           curvature_.data(),
                           slope_.data(),
                           obstacle_.data(),
                           inverse_.data(),
                           lower_.data(),
                           upper_.data(),
                           from_before_.data(),
                           from_behind_.data(),
                           change_.data()};
  Solve carry[pieces] = {}, incoming[pieces] = {};
  const auto at_last = static_cast<std::size_t>(place(n_ - 2));
  const auto given = [&](double value, double change) {
    return static_cast<Solve>(solves_for_change<Solve> ? change : value + change / v.ratio);
  };
  carry[0] = given(values_[0], first);
  run_eliminate(v, carry);
  change_[at_last] = given(inner[at_last], last);
  // What leaves one piece enters the next; where spikes do not decay it goes on through all of them.
  for (int l = 1; l < pieces; ++l) {
    incoming[l] = carry[l - 1];
    if (forward_ == rows_) carry[l] += from_before_[static_cast<std::size_t>(end + l)] * incoming[l];
  }
  Solve behind[pieces] = {};
  if constexpr (American) {
    const bool decays = backward_ < rows_;
    Solve free[pieces] = {}, clipped[pieces];
    std::fill(clipped, clipped + pieces, std::numeric_limits<Solve>::lowest() / 4);
    run_probe(v, decays ? backward_ : rows_, incoming, free, clipped);
    for (int l = pieces - 1; l > 0; --l) {
      const Solve through = decays ? 0 : from_behind_[static_cast<std::size_t>(l)] * behind[l];
      behind[l - 1] = std::max(through + free[l], clipped[l]);
    }
    run_above(v, incoming, behind);
  } else {
    run_substitute(v, incoming, carry);
    for (int l = pieces - 2; l >= 0; --l) {
      behind[l] = carry[l + 1];
      if (backward_ == rows_) carry[l] += from_behind_[static_cast<std::size_t>(l)] * behind[l];
    }
    run_add(v, behind);
  }
  values_[0] += first;
}

template class fd_steps<float>;
template class fd_steps<double>;

fd_solver_steps::fd_solver_steps(std::int64_t n, tridiagonal_method method) : n_(n), method_(method) {
  for (auto* v : {&lower_, &centre_, &upper_, &values_, &rhs_, &solution_})
    v->resize(static_cast<std::size_t>(n));
}

void fd_solver_steps::factor(const fd_operator& L, double implicit) {
  implicit_ = implicit;
  centre_.front() = centre_.back() = 1;
  for (std::size_t i = 1; i + 1 < centre_.size(); ++i) {
    lower_[i] = -implicit * L.lower[i];
    upper_[i] = -implicit * L.upper[i];
    centre_[i] = 1 + implicit * (L.lower[i] + L.upper[i] + L.rate);
  }
}

void fd_solver_steps::load(const double* values) { std::copy(values, values + n_, values_.begin()); }

void fd_solver_steps::store(double* values) const { std::copy(values_.begin(), values_.end(), values); }

void fd_solver_steps::set_obstacle(const double* obstacle) {
  if (obstacle != nullptr)
    throw value_error("early exercise needs its own elimination", "leave the solver to auto");
}

// V + D = V + ratio (W - V) with (I - implicit L) W = V, as in fd_steps.
void fd_solver_steps::advance(double length, double first, double last) {
  const double ratio = length / implicit_;
  rhs_ = values_;
  rhs_.front() += first / ratio;
  rhs_.back() += last / ratio;
  const batch_shape shape = contiguous(n_);
  tridiagonal_options options;
  options.method = method_;
  options.check = false;
  solve<double>(device::cpu(1), {lower_.data(), centre_.data(), upper_.data(), shape}, {rhs_.data(), shape},
                {solution_.data(), shape}, options);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += ratio * (solution_[i] - values_[i]);
}

namespace {

// The change of one step where `exercised` nodes go to their obstacle; by Thomas's algorithm.
void solve_with_exercised(const fd_operator& L, double implicit, const std::vector<double>& rhs,
                          const std::vector<double>& floor, const std::vector<char>& exercised,
                          std::vector<double>& upper, std::vector<double>& change) {
  const std::size_t n = rhs.size();
  upper[0] = 0;
  change[0] = rhs[0];
  for (std::size_t i = 1; i < n; ++i) {
    if (i + 1 == n || exercised[i]) {
      upper[i] = 0;
      change[i] = i + 1 == n ? rhs[i] : floor[i];
      continue;
    }
    const double a = -implicit * L.lower[i], c = -implicit * L.upper[i];
    const double pivot = 1 + implicit * (L.lower[i] + L.upper[i] + L.rate) - a * upper[i - 1];
    upper[i] = c / pivot;
    change[i] = (rhs[i] - a * change[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 0;) change[i] -= upper[i] * change[i + 1];
}

}  // namespace

void policy_step(const fd_operator& L, double length, double implicit, const std::vector<double>& obstacle,
                 double first, double last, std::vector<double>& values) {
  const std::size_t n = values.size();
  std::vector<double> rhs(n), floor(n), upper(n), change(n);
  std::vector<char> exercised(n, 0);
  rhs[0] = first;
  rhs[n - 1] = last;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    rhs[i] = length * (L.lower[i] * (values[i - 1] - values[i]) + L.upper[i] * (values[i + 1] - values[i]) -
                       L.rate * values[i]);
    floor[i] = obstacle[i] - values[i];
    exercised[i] = floor[i] >= 0;  // a good start: what was exercised before
  }
  for (std::size_t iteration = 0; iteration < n; ++iteration) {
    solve_with_exercised(L, implicit, rhs, floor, exercised, upper, change);
    bool same = true;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      // Of the two equations the one with the smaller residual holds.
      const double free = change[i] +
                          implicit * (L.lower[i] * (change[i] - change[i - 1]) +
                                      L.upper[i] * (change[i] - change[i + 1]) + L.rate * change[i]) -
                          rhs[i];
      const bool now = exercised[i] ? free >= 0 : change[i] - floor[i] < 0;
      same &= now == static_cast<bool>(exercised[i]);
      exercised[i] = now;
    }
    if (same) break;
  }
  for (std::size_t i = 0; i < n; ++i) values[i] += change[i];
}

}  // namespace vouch
