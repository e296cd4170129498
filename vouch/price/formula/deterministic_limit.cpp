// Any option on an underlying that follows one path, as nothing is random.
#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/price.hpp>

namespace vouch {
namespace {

// The underlying while the rate holds and nothing is paid. Times count from the beginning of the stretch.
struct stretch {
  double from, length, rate, yield;
  double discount;      // of what is paid at its beginning
  double begin, slope;  // the underlying at its beginning, and its derivative by today's spot

  double underlying(double s) const { return begin * std::exp((rate - yield) * s); }
  double change(double s) const { return (rate - yield) * underlying(s); }
  double slope_at(double s) const { return slope * std::exp((rate - yield) * s); }
  double discount_at(double s) const { return discount * std::exp(-rate * s); }
  /// When an underlying that only rises or only falls between two times reaches a level, to the last bit.
  double time_at(double level, double early, double late) const {
    const bool rises = underlying(late) > underlying(early);
    for (double middle = 0.5 * (early + late); middle > early && middle < late; middle = 0.5 * (early + late))
      ((underlying(middle) >= level) == rises ? late : early) = middle;
    return late;
  }
  /// When exercise of a call or put for so much pays most or least, discounted; NaN or infinite for never.
  double best_time(double strike) const { return std::log(rate * strike / (yield * begin)) / (rate - yield); }
};

class deterministic_limit {
 public:
  explicit deterministic_limit(const contract& c)
      : c_(c),
        o_(c.plain),
        american_(c.exercise == exercise_style::american),
        awaits_(o_.barrier != barrier_kind::none),
        exists_(!awaits_ || !is_in(o_.barrier)),
        underlying_(o_.spot) {}

  valuation price() {
    follow();
    valuation v{best_, delta_, 0, 0, 0, 0};
    if (!(moment_ > 0)) return v;
    const double rate = value_at(c_.rates, o_.rate, 0);
    v.theta = rate * best_ - (rate - o_.dividend) * o_.spot * delta_;
    return v;
  }

 private:
  bool is_at(double time, double other) const { return std::abs(time - other) <= 1e-12 * o_.expiry; }
  bool is_date(double time) const {
    return c_.exercise == exercise_style::bermudan &&
           std::any_of(c_.exercise_dates.begin(), c_.exercise_dates.end(),
                       [&](double date) { return is_at(date, time); });
  }

  // The ends of all stretches.
  std::vector<double> ends() const {
    std::vector<double> all;
    for (const cash_dividend& d : c_.dividends) all.push_back(d.time);
    if (c_.exercise == exercise_style::bermudan)
      all.insert(all.end(), c_.exercise_dates.begin(), c_.exercise_dates.end());
    for (std::size_t k = 0; k + 1 < c_.rates.size(); ++k) all.push_back(c_.rates[k].until);
    std::sort(all.begin(), all.end());
    std::vector<double> kept;
    for (const double time : all)
      if (time > 0 && time < o_.expiry && !is_at(time, kept.empty() ? 0 : kept.back()) &&
          !is_at(time, o_.expiry))
        kept.push_back(time);
    kept.push_back(o_.expiry);
    return kept;
  }

  stretch make_stretch(double from, double to) const {
    return {from,
            to - from,
            value_at(c_.rates, o_.rate, 0.5 * (from + to)),
            o_.dividend,
            std::exp(-integral_to(c_.rates, o_.rate, from)),
            underlying_,
            slope_};
  }

  void follow() {
    double from = 0;
    if (exists_ && is_date(0)) exercise(make_stretch(0, 0), 0, false);
    for (const double to : ends()) {
      const stretch p = make_stretch(from, to);
      if (!pass(p)) return;
      if (to == o_.expiry) return expire(p);
      if (exists_ && is_date(to)) {
        refuse_edge(p.underlying(p.length));
        exercise(p, p.length, false);
      }
      underlying_ = p.underlying(p.length);
      slope_ = p.slope_at(p.length);
      if (!fall(p)) return;
      from = to;
    }
  }

  // False where it is knocked out on the way.
  bool pass(const stretch& p) {
    double first = 0;
    if (awaits_ && is_hit(p.underlying(p.length))) {
      const double hit = p.time_at(o_.barrier_level, 0, p.length);
      if (exists_) {
        if (american_) exercise_between(p, 0, hit);
        take(p, hit, o_.rebate, delta_at_level(p, hit, o_.rebate));
        return false;
      }
      begin();
      first = hit;
    }
    if (american_ && exists_) exercise_between(p, first, p.length);
    return true;
  }

  // The dividends at the end of a stretch are paid; false where that ends the option.
  bool fall(const stretch& p) {
    for (const cash_dividend& d : c_.dividends)
      if (is_at(d.time, p.from + p.length)) underlying_ -= d.amount;
    if (underlying_ < 0) underlying_ = slope_ = 0;
    if (!awaits_ || !is_hit(underlying_)) return true;
    if (exists_) take(p, p.length, o_.rebate, 0);
    if (exists_) return false;
    begin();
    return true;
  }

  void expire(const stretch& p) {
    if (!exists_) return take(p, p.length, o_.rebate, 0);
    if (!is_edge(p.underlying(p.length))) return exercise(p, p.length, false);
    const bool cash = o_.payoff == payoff_kind::cash_digital;  // half of it, as the European one
    take(p, p.length, 0.5 * (cash ? o_.cash : o_.strike),
         cash ? 0 : 0.5 * p.discount_at(p.length) * p.slope_at(p.length));
  }

  // At any of these times; where they do not begin or end with the stretch the underlying is at a barrier then.
  void exercise_between(const stretch& p, double early, double late) {
    exercise(p, early, early > 0);
    exercise(p, late, late < p.length);
    if (o_.payoff != payoff_kind::vanilla) return exercise_at_strike(p, early, late);
    const double best = p.best_time(o_.strike);
    if (best > early && best < late) exercise(p, best, false);
  }

  // A digital option pays most at an end, or where its underlying comes into or goes out of the money.
  void exercise_at_strike(const stretch& p, double early, double late) {
    if (late > early && is_edge(p.underlying(early))) refuse_edge(p.underlying(late));
    const auto pays = [&](double s) { return sign_of(o_.type) * (p.underlying(s) - o_.strike) > 0; };
    if (pays(early) == pays(late)) return;
    const double s = p.time_at(o_.strike, early, late),
                 paid = o_.payoff == payoff_kind::cash_digital ? o_.cash : o_.strike;
    take(p, s, paid, delta_at_level(p, s, paid));
  }

  void exercise(const stretch& p, double s, bool at_level) {
    const double paid = payoff_at(o_, p.underlying(s));
    const double gain = o_.payoff == payoff_kind::vanilla         ? sign_of(o_.type)
                        : o_.payoff == payoff_kind::asset_digital ? 1
                                                                  : 0;
    take(p, s, paid, at_level ? delta_at_level(p, s, paid) : p.discount_at(s) * gain * p.slope_at(s));
  }

  // Of what is paid when the underlying reaches a level: the moment moves with the spot.
  static double delta_at_level(const stretch& p, double s, double paid) {
    return p.rate * p.discount_at(s) * paid * p.slope_at(s) / p.change(s);
  }

  void take(const stretch& p, double s, double paid, double delta) {
    const double value = p.discount_at(s) * paid;
    if (std::isnan(value))
      throw value_error("its value is beyond the range of numbers", "check rate, dividend and expiry");
    if (value <= best_) return;
    best_ = value;
    delta_ = delta;
    moment_ = p.from + s;
  }

  bool is_hit(double underlying) const {
    return is_up(o_.barrier) ? underlying >= o_.barrier_level : underlying <= o_.barrier_level;
  }
  void begin() {
    awaits_ = false;
    exists_ = true;
  }

  bool is_edge(double underlying) const { return o_.payoff != payoff_kind::vanilla && underlying == o_.strike; }
  void refuse_edge(double underlying) const {
    if (is_edge(underlying))
      throw value_error("without volatility a digital option whose share is at the strike has no limit",
                        "move the strike, or give a volatility");
  }

  const contract& c_;
  const plain_option& o_;
  bool american_, awaits_, exists_;  // awaits_: its barrier has yet to be hit
  double underlying_, slope_ = 1;
  double best_ = 0, delta_ = 0, moment_ = 0;
};

}  // namespace

// Without randomness it makes no difference whether dividends are in escrow.
valuation deterministic_limit_price(const contract& c) {
  const ieee_environment here;
  return deterministic_limit(c).price();
}

}  // namespace vouch
