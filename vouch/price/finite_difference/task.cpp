#include <vouch/price/finite_difference/task.hpp>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form.hpp>

namespace vouch {

contract with_more_volatility(contract c, double amount) {
  c.plain.volatility += amount;
  for (curve_step& s : c.volatilities) s.value += amount;
  for (double& v : c.local_volatility.values) v += amount;
  return c;
}

contract with_more_rate(contract c, double amount) {
  c.plain.rate += amount;
  for (curve_step& s : c.rates) s.value += amount;
  return c;
}

bool is_stepped_to_begin(const contract& c) {
  return c.plain.barrier != barrier_kind::none && is_in(c.plain.barrier);
}

fd_task make_task(const contract& c, const fd_options& options) {
  fd_task t{c, {0, c.plain.rebate}, false, {}};
  t.knocked_out.plain.spot -= escrow(c, 0);
  if (c.plain.barrier == barrier_kind::none || !is_in(c.plain.barrier)) return t;
  if (c.exercise != exercise_style::european) {
    if (!c.dividends.empty())
      throw value_error(
          "an option that begins at a barrier and may be exercised early has no method with cash dividends",
          "a dividend yield, --dividend, is taken");
    return t;
  }
  t.in = true;
  t.payment = {c.plain.rebate, 0};
  t.knocked_out.plain.barrier = is_up(c.plain.barrier) ? barrier_kind::up_and_out : barrier_kind::down_and_out;
  contract plain = c;
  plain.plain.barrier = barrier_kind::none;
  if (plain.is_plain()) {
    t.without_barrier = closed_form(plain.plain);
  } else {
    fd_options finer = options;
    finer.tolerance *= 0.3;
    const fd_result r = finite_difference_price(plain, finer);
    t.without_barrier = r.value;
    t.error = r.error_estimate;
  }
  return t;
}

}  // namespace vouch
