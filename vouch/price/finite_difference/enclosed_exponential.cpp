#include <vouch/price/finite_difference/enclosure.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <vouch/core/simd.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/price/finite_difference/enclosed_steps.hpp>

namespace vouch {
namespace {

using fd::difference, fd::pair, fd::product;

constexpr double coefficient_slack = 0x1p-100;  // of magnitudes: what three operations of pairs err by

// Where the coefficients, modified Bessel functions of `speed`, have fallen to exp(-75): the exponent is their
// bound by Chernoff. Only the length of the sum hangs on it.
std::size_t length_for(double speed) {
  const auto exponent = [&](double k) { return std::hypot(speed, k) - speed - k * std::asinh(k / speed); };
  double low = 0, high = 16;
  while (exponent(high) > -75) high *= 2;
  for (int halving = 0; halving < 30; ++halving) {
    const double middle = 0.5 * (low + high);
    (exponent(middle) > -75 ? low : high) = middle;
  }
  return static_cast<std::size_t>(high) + 2;
}

// 2 k / speed times b, speed = 2 time / scale; the quotient scale / time errs by 2^-104 of itself.
pair recurred(const pair& scale_by_time, std::size_t k, const pair& b) {
  return product(product(scale_by_time, {static_cast<double>(k), 0}), b);
}

// A bound of sum |D_k|, p' / speed - p = D_0 / 2 + sum D_k T_k: with b_k the coefficients (b_0 twice the first)
// and eps_k = b_{k-1} - b_{k+1} - (2 k / speed) b_k, D_{k-1} = D_{k+1} - eps_k, so that every eps_k counts at
// most (k + 1) / 2 times.
double defect(const std::vector<pair>& b, const pair& scale_by_time) {
  const auto at = [&](std::size_t k) { return k < b.size() ? b[k] : pair{}; };
  double sum = 0;
  for (std::size_t k = 1; k <= b.size(); ++k) {
    const pair turned = recurred(scale_by_time, k, at(k));
    const pair left = difference(difference(at(k - 1), at(k + 1)), turned);
    const double size = add_up(add_up(std::fabs(at(k - 1).hi), std::fabs(at(k + 1).hi)), std::fabs(turned.hi));
    const double eps = add_up(add_up(std::fabs(left.hi), std::fabs(left.lo)), mul_up(coefficient_slack, size));
    sum = add_up(sum, mul_up(0.5 * static_cast<double>(k + 1), add_up(eps, 0x1p-900)));
  }
  return sum;
}

}  // namespace

enclosed_chebyshev enclose_chebyshev(double time, double scale) {
  const double quotient = scale / time;
  const pair scale_by_time = quick_two_sum(quotient, std::fma(-quotient, time, scale) / time);
  // Backward, where the recurrence is stable, to numbers in proportion.
  std::vector<pair> b(length_for(2 * time / scale));
  b.back() = {1, 0};
  for (std::size_t k = b.size() - 1; k > 0; --k)
    b[k - 1] = recurred(scale_by_time, k, b[k]) + (k + 1 < b.size() ? b[k + 1] : pair{});
  const auto total = [&] {
    pair sum{0.5 * b[0].hi, 0.5 * b[0].lo};
    for (std::size_t k = 1; k < b.size(); ++k) sum = sum + b[k];
    return sum;
  };
  // So that p(1) is near 1.
  const pair sum = total();
  const double first = 1 / sum.hi;
  const pair rest = difference({1, 0}, product({first, 0}, sum));
  const pair part = quick_two_sum(first, first * rest.hi);
  for (pair& x : b) x = product(x, part);

  enclosed_chebyshev c;
  const double d = defect(b, scale_by_time);
  const pair missed = difference(total(), {1, 0});
  b[0] = {0.5 * b[0].hi, 0.5 * b[0].lo};
  for (const pair& x : b) c.magnitudes = add_up(c.magnitudes, add_up(std::fabs(x.hi), std::fabs(x.lo)));
  const double summed =
      mul_up(mul_up(coefficient_slack, static_cast<double>(b.size() + 1)), add_up(c.magnitudes, 1));
  c.off = add_up(d, add_up(add_up(std::fabs(missed.hi), std::fabs(missed.lo)), summed));
  c.slope_off = add_up(d, c.off);
  c.coefficient = std::move(b);
  return c;
}

namespace {

using range = interval<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double slack =
    0x1p-98;  // of the magnitudes in a sum: what the pairs of one term of a recurrence lose
constexpr double lost = 0x1p-900;  // more than underflow takes

double magnitude_up(const pair& x) { return add_up(std::fabs(x.hi), std::fabs(x.lo)); }

// Twice y = (scale L + shift) / 2, as the recurrence of Chebyshev polynomials takes it: exact pairs but for the
// diagonal's.
struct scaled_rows {
  std::size_t n;
  std::vector<double> lower_hi, lower_lo, upper_hi, upper_lo;
  pair diagonal;  // shift - scale rate
};

struct pair_values {
  std::vector<double> hi, lo;
  explicit pair_values(std::size_t n) : hi(n, 0.0), lo(n, 0.0) {}
  void set(std::size_t i, const pair& x) {
    hi[i] = x.hi;
    lo[i] = x.lo;
  }
  pair operator[](std::size_t i) const { return {hi[i], lo[i]}; }
};

// before := 2 y now - before at the inner nodes, loss[i] >= what is lost of it. The diagonal is at most 6.
VOUCH_SIMD_INLINE void recur(const scaled_rows& r, const double* now_hi, const double* now_lo,
                             double* before_hi, double* before_lo, double* loss) {
  for (std::size_t i = 1; i + 1 < r.n; ++i) {
    const pair here{now_hi[i], now_lo[i]};
    const pair below =
        product({r.lower_hi[i], r.lower_lo[i]}, difference({now_hi[i - 1], now_lo[i - 1]}, here));
    const pair above =
        product({r.upper_hi[i], r.upper_lo[i]}, difference({now_hi[i + 1], now_lo[i + 1]}, here));
    const pair next = difference((below + above) + product(r.diagonal, here), {before_hi[i], before_lo[i]});
    loss[i] =
        slack * (std::fabs(below.hi) + std::fabs(above.hi) + 8 * std::fabs(here.hi) + std::fabs(before_hi[i])) +
        lost;
    before_hi[i] = next.hi;
    before_lo[i] = next.lo;
  }
}
VOUCH_SIMD_CLONES void run_recur(const scaled_rows& r, const double* now_hi, const double* now_lo,
                                 double* before_hi, double* before_lo, double* loss) {
  recur(r, now_hi, now_lo, before_hi, before_lo, loss);
}

// What rounding adds to T_k: the sum over earlier steps j of (k - j + 1) times what was lost there, as U_m is
// at most m + 1.
struct rounding_sum {
  double steps = 0, total = 0;
  void add(double step) {
    steps = add_up(steps, step);
    total = add_up(total, steps);
  }
};

// One part of an end's value: amount T_k(y) at minus its decay.
struct end_term {
  pair twice_y;
  double twice_y_off;  // of the exact one, at most
  pair now, before;
  rounding_sum rounding;

  void recur(bool is_first) {
    pair next = difference(product(twice_y, now), before);
    if (is_first) next = {0.5 * next.hi, 0.5 * next.lo};
    rounding.add(add_up(mul_up(add_up(twice_y_off, 4 * slack), magnitude_up(now)),
                        add_up(mul_up(slack, magnitude_up(before)), lost)));
    before = now;
    now = next;
  }
};

class chebyshev_sum {
 public:
  chebyshev_sum(const exponential_problem& p, std::size_t near)
      : p_(p), n_(p.start.size()), weights_(make_weights(p.L, near)), now_(n_), before_(n_), loss_(n_, 0.0) {
    for (std::size_t i = 1; i + 1 < n_; ++i) now_.hi[i] = p.start[i];
    proves_ = weights_.exist() && scale();
  }

  std::vector<range> nodes(std::size_t from, std::size_t count) {
    if (!proves_) return std::vector<range>(count, range::entire());
    const enclosed_chebyshev c = enclose_chebyshev(p_.time, scale_);
    const double truncated = truncation(c);
    std::vector<pair> sum(count);
    std::vector<double> sizes(count, 0.0);
    for (std::size_t k = 0; k < c.coefficient.size(); ++k) {
      if (k > 0) recur(k == 1);
      for (std::size_t j = 0; j < count; ++j) {
        const pair term = product(c.coefficient[k], now_[from + j]);
        sum[j] = sum[j] + term;
        sizes[j] = add_up(sizes[j], std::fabs(term.hi));
      }
    }
    const double off = add_up(truncated, mul_up(c.magnitudes, rounding_.total));
    const double terms = static_cast<double>(c.coefficient.size() + 1);
    const range growth =
        top_ > 0 ? exp(range(p_.time) * (range(2.0) - range(shift_)) / range(scale_)) : range(1.0);
    std::vector<range> result(count);
    for (std::size_t j = 0; j < count; ++j)
      result[j] = growth * (range(sum[j].hi) + around(add_up(add_up(std::fabs(sum[j].lo), lost),
                                                             add_up(mul_up(mul_up(slack, terms), sizes[j]),
                                                                    div_up(off, weights_.down[from + j])))));
    return result;
  }

 private:
  static range around(double radius) {
    return radius < infinite ? range::unchecked(-radius, radius) : range::entire();
  }
  template <class Visit>
  void visit_ends(Visit visit) const {
    for (const auto& [terms, node] : {std::pair{&p_.first, std::size_t{1}}, std::pair{&p_.last, n_ - 2}})
      for (const exponential_term& t : *terms)
        if (t.amount != 0) visit(t, node);
  }
  // So that y lies between -1 and 1 for all eigenvalues, which Gershgorin has between -rate - 2 (lower + upper)
  // and -rate, and for minus all decays. False where that cannot be.
  bool scale() {
    double span = p_.L.rate, largest = 0;
    top_ = std::max(0.0, -p_.L.rate);
    bool fine = p_.time > 1e-100 && p_.time < 1e100;
    for (std::size_t i = 1; i + 1 < n_; ++i) {
      largest = std::max(largest, add_up(p_.L.lower[i], p_.L.upper[i]));
      fine &= p_.L.lower[i] >= 0 && p_.L.upper[i] >= 0 && std::fabs(p_.start[i]) <= 0x1p100;
    }
    span = add_up(span, 2 * largest);
    visit_ends([&](const exponential_term& t, std::size_t) {
      span = std::max(span, div_up(t.decay, p_.time));
      top_ = std::max(top_, div_up(-t.decay, p_.time));
      fine &= std::fabs(t.amount) <= 0x1p100;
    });
    scale_ = 4 / (span + top_) * (1 - 0x1p-40);
    shift_ = sub_down(2.0, mul_up(scale_, top_));
    fine &= scale_ > 1e-100 && scale_ < 1e100 && p_.time / scale_ < 1e12 && top_ * p_.time < 700;
    if (!fine || !(sub_down(shift_, mul_up(scale_, span)) >= -2)) return false;
    set_rows();
    set_ends();
    return true;
  }
  void set_rows() {
    const std::vector<double> none(n_, 0.0);
    rows_ = {n_, none, none, none, none, difference({shift_, 0}, two_prod(scale_, p_.L.rate))};
    for (std::size_t i = 1; i + 1 < n_; ++i) {
      const pair a = two_prod(scale_, p_.L.lower[i]), c = two_prod(scale_, p_.L.upper[i]);
      rows_.lower_hi[i] = a.hi;
      rows_.lower_lo[i] = a.lo;
      rows_.upper_hi[i] = c.hi;
      rows_.upper_lo[i] = c.lo;
    }
  }
  // 2 y = shift - scale decay / time: the quotient errs by u^2 of itself, its product with decay by 8 u^2.
  void set_ends() {
    const double quotient = scale_ / p_.time;
    const pair by_time = quick_two_sum(quotient, std::fma(-quotient, p_.time, scale_) / p_.time);
    const auto term_of = [&](const exponential_term& t) {
      const pair part = product(by_time, {t.decay, 0});
      const double off = add_up(mul_up(slack, add_up(2.0, std::fabs(part.hi))), lost);
      return end_term{difference({shift_, 0}, part), off, {t.amount, 0}, {}, {}};
    };
    for (std::size_t k = 0; k < 2; ++k) {
      first_[k] = term_of(p_.first[k]);
      last_[k] = term_of(p_.last[k]);
    }
    put_ends();
  }
  void put_ends() {
    now_.set(0, first_[0].now + first_[1].now);
    now_.set(n_ - 1, last_[0].now + last_[1].now);
  }
  // T_k V, from T_{k-1} V and T_{k-2} V.
  void recur(bool is_first) {
    run_recur(rows_, now_.hi.data(), now_.lo.data(), before_.hi.data(), before_.lo.data(), loss_.data());
    // The ends' own errors come in by their neighbours' rows.
    const auto owed = [](double row, const std::array<end_term, 2>& ends) {
      const double sizes = add_up(magnitude_up(ends[0].now), magnitude_up(ends[1].now));
      const double off = add_up(add_up(ends[0].rounding.total, ends[1].rounding.total), mul_up(slack, sizes));
      return mul_up(mul_up(row, 1 + 0x1p-50), off);
    };
    loss_[1] = add_up(loss_[1], owed(rows_.lower_hi[1], first_));
    loss_[n_ - 2] = add_up(loss_[n_ - 2], owed(rows_.upper_hi[n_ - 2], last_));
    rounding_.add(weights_.norm(loss_));
    if (is_first)
      for (std::size_t i = 1; i + 1 < n_; ++i) before_.set(i, {0.5 * before_.hi[i], 0.5 * before_.lo[i]});
    std::swap(now_, before_);
    for (auto* terms : {&first_, &last_})
      for (end_term& t : *terms) t.recur(is_first);
    put_ends();
  }
  // Of exp(time L) applied to the start and, by divided differences of the polynomial's distance from it, to
  // what comes in from the ends.
  double truncation(const enclosed_chebyshev& c) const {
    std::vector<double> sizes(n_);
    for (std::size_t i = 1; i + 1 < n_; ++i) sizes[i] = std::fabs(p_.start[i]);
    double sum = mul_up(c.off, weights_.norm(sizes));
    visit_ends([&](const exponential_term& t, std::size_t node) {
      const double row = mul_up(node == 1 ? p_.L.lower[1] : p_.L.upper[n_ - 2], weights_.up[node]);
      sum = add_up(sum, mul_up(mul_up(mul_up(p_.time, c.slope_off), row), std::fabs(t.amount)));
    });
    return sum;
  }

  const exponential_problem& p_;
  std::size_t n_;
  fd_weights weights_;
  double scale_ = 0, shift_ = 0, top_ = 0;
  scaled_rows rows_;
  pair_values now_, before_;
  std::vector<double> loss_;
  std::array<end_term, 2> first_{}, last_{};
  rounding_sum rounding_;
  bool proves_ = false;
};

// Of a node at an end.
range end_value(const boundary_exponentials& terms) {
  range sum(0.0);
  for (const exponential_term& t : terms)
    if (t.amount != 0) sum = sum + range(t.amount) * (t.decay == 0 ? range(1.0) : exp(-range(t.decay)));
  return sum;
}

}  // namespace

std::vector<range> enclose_exponential(const exponential_problem& p, std::size_t from, std::size_t count) {
  const std::size_t n = p.start.size(), middle = std::clamp<std::size_t>(from + count / 2, 1, n - 2);
  const std::size_t first = std::max<std::size_t>(from, 1), last = std::min(from + count, n - 1);
  std::vector<range> inner = chebyshev_sum(p, middle).nodes(first, last - first);
  if (from == 0) inner.insert(inner.begin(), end_value(p.first));
  if (from + count == n) inner.push_back(end_value(p.last));
  return inner;
}

}  // namespace vouch
