#include "plain_scheme.hpp"

#include <cmath>

#include <vouch/core/stopwatch.hpp>
#include <vouch/price/finite_difference/exponential.hpp>

namespace vouch::bench {
namespace {

class timed_part {
 public:
  explicit timed_part(double& seconds) : seconds_(seconds) {}
  ~timed_part() { seconds_ += clock_.seconds(); }
  timed_part(const timed_part&) = delete;
  timed_part& operator=(const timed_part&) = delete;

 private:
  double& seconds_;
  stopwatch clock_;
};

double at_end(const boundary_exponentials& terms, double share) {
  return terms[0].amount * std::exp(-terms[0].decay * share) +
         terms[1].amount * std::exp(-terms[1].decay * share);
}

}  // namespace

template <real T>
plain_run<T> plain_crank_nicolson(const contract& c, const fd_grid& grid, std::int64_t steps) {
  const std::size_t n = grid.spot.size();
  const double half = 0.5 * c.plain.expiry / static_cast<double>(steps);
  const fd_operator L = make_operator(c, grid, 0);
  std::vector<T> a(n), b(n), up(n), inverse(n), multiplier(n), rhs(n);
  plain_run<T> run;
  for (const double s : grid.spot) run.values.push_back(static_cast<T>(payoff_at(c.plain, s)));
  T before = 0;
  for (std::size_t i = 1; i + 1 < n; ++i) {  // the matrix I - half L, and I + half L beside it
    a[i] = static_cast<T>(half * L.lower[i]);
    up[i] = static_cast<T>(half * L.upper[i]);
    b[i] = static_cast<T>(half * (L.lower[i] + L.upper[i] + L.rate));
    inverse[i] = 1 / (1 + b[i] - a[i] * before);
    multiplier[i] = before = up[i] * inverse[i];
  }
  const auto first = boundary_terms(c, {}, grid.spot.front(), false),
             last = boundary_terms(c, {}, grid.spot.back(), true);
  std::vector<T>& u = run.values;
  for (std::int64_t k = 1; k <= steps; ++k) {
    {
      const timed_part time(run.seconds.right_hand_side);
      for (std::size_t i = 1; i + 1 < n; ++i) rhs[i] = a[i] * u[i - 1] + (1 - b[i]) * u[i] + up[i] * u[i + 1];
      const double share = static_cast<double>(k) / static_cast<double>(steps);
      u[0] = static_cast<T>(at_end(first, share));
      u[n - 1] = static_cast<T>(at_end(last, share));
    }
    {
      const timed_part time(run.seconds.forward);
      rhs[0] = u[0];
      for (std::size_t i = 1; i + 1 < n; ++i) rhs[i] = (rhs[i] + a[i] * rhs[i - 1]) * inverse[i];
    }
    {
      const timed_part time(run.seconds.backward);
      for (std::size_t i = n - 2; i > 0; --i) u[i] = rhs[i] + multiplier[i] * u[i + 1];
    }
  }
  return run;
}

template plain_run<float> plain_crank_nicolson<float>(const contract&, const fd_grid&, std::int64_t);
template plain_run<double> plain_crank_nicolson<double>(const contract&, const fd_grid&, std::int64_t);

}  // namespace vouch::bench
