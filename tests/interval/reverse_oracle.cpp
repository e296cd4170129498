#include "interval/reverse_oracle.hpp"

#include <memory>

#include <vouch/interval/relations.hpp>

#include "interval/oracle.hpp"

namespace vouch::testing {
namespace {

constexpr mpfr_prec_t many = 300;
constexpr mpfr_prec_t all_turns = 1600;

// The exact value of a function: what MPFR rounded it to and to which side.
class value {
 public:
  template <class Call>
  explicit value(Call call) : number_(std::make_unique<big>(many)), above_(call(number_->get())) {}

  // -1, 0, 1 as the exact value is below, at or above x.
  int compared(double x) const {
    const int sign = mpfr_cmp_d(number_->get(), x);
    return sign != 0 ? sign : above_ > 0 ? -1 : above_ < 0 ? 1 : 0;
  }
  // Where it is a limit, one that is not reached: 0 is a little above 0, infinity below infinity.
  value open() && {
    if (mpfr_zero_p(number_->get())) above_ = -1;
    if (mpfr_inf_p(number_->get())) above_ = 1;
    return std::move(*this);
  }

 private:
  std::unique_ptr<big> number_;
  int above_;
};

bool reaches_below(real_set c, std::initializer_list<const value*> values) {
  return std::any_of(values.begin(), values.end(), [c](const value* v) { return v->compared(c.hi()) < 0; });
}
bool reaches_above(real_set c, std::initializer_list<const value*> values) {
  return std::any_of(values.begin(), values.end(), [c](const value* v) { return v->compared(c.lo()) > 0; });
}

using function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

value at(function f, double t) {
  return value([f, t](mpfr_ptr r) { return f(r, big(t).get(), MPFR_RNDN); });
}

// The number of k <= t / pi - shift, and whether that is odd.
struct turns {
  big count{all_turns};
  turns(double t, double shift) {
    big pi(all_turns);
    mpfr_const_pi(pi.get(), MPFR_RNDN);
    mpfr_d_div(count.get(), t, pi.get(), MPFR_RNDN);
    mpfr_sub_d(count.get(), count.get(), shift, MPFR_RNDN);
    mpfr_floor(count.get(), count.get());
  }
  bool is_odd() {
    big half(all_turns);
    mpfr_div_2ui(half.get(), count.get(), 1, MPFR_RNDN);
    return mpfr_integer_p(half.get()) == 0;
  }
  // How many lie between, 2 for any more.
  int until(turns& later) {
    big passed(all_turns);
    mpfr_sub(passed.get(), later.count.get(), count.get(), MPFR_RNDN);
    return mpfr_cmp_ui(passed.get(), 2) > 0 ? 2 : static_cast<int>(mpfr_get_si(passed.get(), MPFR_RNDN));
  }
};

// Sine and cosine: extremes at the k pi + shift pi, 1 for even k. No number but 0 is such a place.
oracle wave(function f, double shift, real_set c) {
  return {[=](double t) { return at(f, t).compared(c.lo()) >= 0 && at(f, t).compared(c.hi()) <= 0; },
          [=](double u, double v) {
            if (!std::isfinite(u) || !std::isfinite(v)) return c.lo() <= 1 && c.hi() >= -1;
            turns before(u, shift);
            turns after(v, shift);
            if (shift == 0 && v == 0) mpfr_sub_ui(after.count.get(), after.count.get(), 1, MPFR_RNDN);
            const int extremes = before.until(after);
            const bool greatest = extremes > 1 || (extremes == 1 && before.is_odd());
            const bool least = extremes > 1 || (extremes == 1 && !before.is_odd());
            value low = at(f, u);
            value high = at(f, v);
            return (least ? c.hi() >= -1 : reaches_below(c, {&low, &high})) &&
                   (greatest ? c.lo() <= 1 : reaches_above(c, {&low, &high}));
          }};
}

// A function that falls to its least value at 0 and rises from there.
template <class Function>
oracle valley(Function f, double least, real_set c) {
  return {[=](double t) { return f(t).compared(c.lo()) >= 0 && f(t).compared(c.hi()) <= 0; },
          [=](double u, double v) {
            value low = f(u);
            value high = f(v);
            return (u < 0 && v > 0 ? c.hi() >= least : reaches_below(c, {&low, &high})) &&
                   reaches_above(c, {&low, &high});
          }};
}

value power(double t, int n) {
  return value([t, n](mpfr_ptr r) { return mpfr_pow_si(r, big(t).get(), n, MPFR_RNDN); });
}

value product(double t, double b) {
  return value([t, b](mpfr_ptr r) {
    if (t == 0 || b == 0) return mpfr_set_ui(r, 0, MPFR_RNDN);
    return mpfr_mul(r, big(t).get(), big(b).get(), MPFR_RNDN);
  });
}

value general_power(double t, double y) {
  return value([t, y](mpfr_ptr r) { return mpfr_pow(r, big(t + 0.0).get(), big(y + 0.0).get(), MPFR_RNDN); })
      .open();
}

// The angle of (x, y); 0 and pi are limits that are not reached but for y = 0, pi/2 stands for the origin.
value angle_of(double y, double x) {
  return value([y, x](mpfr_ptr r) {
           return mpfr_atan2(r, big(y == 0 && x == 0 ? 1.0 : y + 0.0).get(), big(x + 0.0).get(), MPFR_RNDN);
         })
      .open();
}

bool has_pi(real_set c) {
  const value pi([](mpfr_ptr r) { return mpfr_const_pi(r, MPFR_RNDN); });
  return pi.compared(c.lo()) > 0 && pi.compared(c.hi()) < 0;
}

// Whether points of the open or closed box with y > 0 have an angle in c; no limit and no corner is a number.
bool angles_meet(double y_low, double y_high, double x_low, double x_high, real_set c) {
  if (!(y_high > 0)) return false;
  y_low = std::max(y_low, 0.0);
  const value p[] = {angle_of(y_low, x_low), angle_of(y_low, x_high), angle_of(y_high, x_low),
                     angle_of(y_high, x_high)};
  return reaches_below(c, {p, p + 1, p + 2, p + 3}) && reaches_above(c, {p, p + 1, p + 2, p + 3});
}

bool box_meets(double y_low, double y_high, double x_low, double x_high, real_set c) {
  return angles_meet(y_low, y_high, x_low, x_high, c) || angles_meet(-y_high, -y_low, x_low, x_high, -c);
}

}  // namespace

oracle sine_oracle(real_set c) { return wave(mpfr_sin, 0.5, c); }
oracle cosine_oracle(real_set c) { return wave(mpfr_cos, 0, c); }
oracle cosh_oracle(real_set c) {
  return valley([](double t) { return at(mpfr_cosh, t); }, 1, c);
}
oracle magnitude_oracle(real_set c) {
  return valley([](double t) { return product(std::fabs(t), 1); }, 0, c);
}

oracle tangent_oracle(real_set c) {
  return {
      [=](double t) { return at(mpfr_tan, t).compared(c.lo()) >= 0 && at(mpfr_tan, t).compared(c.hi()) <= 0; },
      [=](double u, double v) {
        if (!std::isfinite(u) || !std::isfinite(v)) return true;
        turns before(u, 0.5);
        turns after(v, 0.5);
        const int poles = before.until(after);
        value low = at(mpfr_tan, u);
        value high = at(mpfr_tan, v);
        if (poles == 0) return reaches_below(c, {&low}) && reaches_above(c, {&high});
        return poles > 1 || reaches_below(c, {&low}) || reaches_above(c, {&high});
      }};
}

oracle power_oracle(int n, real_set c) {
  if (n > 0 && n % 2 == 0) return valley([n](double t) { return power(t, n); }, 0, c);
  return {[=](double t) {
            return (n > 0 || t != 0) && power(t, n).compared(c.lo()) >= 0 && power(t, n).compared(c.hi()) <= 0;
          },
          [=](double u, double v) {
            value low = power(u + 0.0, n);             // of 0 from above
            value high = power(v == 0 ? -0.0 : v, n);  // from below
            if (n < 0 && u < 0 && v > 0)               // a pole inside
              return n % 2 == 0 ? reaches_below(c, {&low, &high})
                                : reaches_above(c, {&low}) || reaches_below(c, {&high});
            return reaches_below(c, {&low, &high}) && reaches_above(c, {&low, &high});
          }};
}

oracle product_oracle(real_set b, real_set c) {
  const auto zero = [](real_set s) { return is_member(0.0, s); };
  return {[=](double t) {
            value low = product(t, t < 0 ? b.hi() : b.lo());
            value high = product(t, t < 0 ? b.lo() : b.hi());
            return low.compared(c.hi()) <= 0 && high.compared(c.lo()) >= 0;
          },
          [=](double u, double v) {
            if (zero(b) && zero(c)) return true;
            value p[] = {product(u, b.lo()), product(u, b.hi()), product(v, b.lo()), product(v, b.hi())};
            return reaches_below(c, {p, p + 1, p + 2, p + 3}) && reaches_above(c, {p, p + 1, p + 2, p + 3});
          }};
}

oracle base_oracle(real_set y, real_set c) {
  return {[=](double t) {
            if (t < 0) return false;
            if (t == 0) return y.hi() > 0 && is_member(0.0, c);
            value low = general_power(t, t < 1 ? y.hi() : y.lo());
            value high = general_power(t, t < 1 ? y.lo() : y.hi());
            return low.compared(c.hi()) <= 0 && high.compared(c.lo()) >= 0;
          },
          [=](double u, double v) {
            if (u < 0 && v > 0 && y.hi() > 0 && is_member(0.0, c)) return true;
            if (v <= 0) return false;
            if (is_member(0.0, y) && is_member(1.0, c)) return true;
            u = std::max(u, 0.0);
            value p[] = {general_power(u, y.lo()), general_power(u, y.hi()), general_power(v, y.lo()),
                         general_power(v, y.hi())};
            return reaches_below(c, {p, p + 1, p + 2, p + 3}) && reaches_above(c, {p, p + 1, p + 2, p + 3});
          }};
}

oracle exponent_oracle(real_set x, real_set c) {
  const double least = std::max(x.lo(), 0.0);
  const double most = x.hi();
  return {[=](double t) {
            if (t > 0 && is_member(0.0, x) && is_member(0.0, c)) return true;
            if (most <= 0) return false;
            value low = general_power(t < 0 ? most : least, t);
            value high = general_power(t < 0 ? least : most, t);
            return low.compared(c.hi()) <= 0 && high.compared(c.lo()) >= 0;
          },
          [=](double u, double v) {
            if (v > 0 && is_member(0.0, x) && is_member(0.0, c)) return true;
            if (most <= 0) return false;
            if ((is_member(1.0, x) || (u < 0 && v > 0)) && is_member(1.0, c)) return true;
            value p[] = {general_power(least, u), general_power(least, v), general_power(most, u),
                         general_power(most, v)};
            return reaches_below(c, {p, p + 1, p + 2, p + 3}) && reaches_above(c, {p, p + 1, p + 2, p + 3});
          }};
}

oracle ordinate_oracle(real_set x, real_set c) {
  const bool level = (is_member(0.0, c) && x.hi() > 0) || (has_pi(c) && x.lo() < 0);
  return {[=](double t) { return t == 0 ? level : box_meets(t, t, x.lo(), x.hi(), c); },
          [=](double u, double v) { return (u < 0 && v > 0 && level) || box_meets(u, v, x.lo(), x.hi(), c); }};
}

oracle abscissa_oracle(real_set y, real_set c) {
  const bool right = is_member(0.0, y) && is_member(0.0, c);
  const bool left = is_member(0.0, y) && has_pi(c);
  return {[=](double t) { return (t > 0 && right) || (t < 0 && left) || box_meets(y.lo(), y.hi(), t, t, c); },
          [=](double u, double v) {
            return (v > 0 && right) || (u < 0 && left) || box_meets(y.lo(), y.hi(), u, v, c);
          }};
}

}  // namespace vouch::testing
