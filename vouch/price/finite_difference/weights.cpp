#include <vouch/price/finite_difference/weights.hpp>

#include <algorithm>
#include <limits>

#include <vouch/interval/rounding.hpp>

namespace vouch {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

fd_weights make_weights(const fd_operator& L, std::size_t near) {
  const std::size_t n = L.lower.size();
  fd_weights w{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0), infinite, 0};
  w.up[near] = w.down[near] = 1;
  const auto next = [&](std::size_t from, std::size_t to, double more, double less) {
    w.up[to] = div_up(mul_up(w.up[from], more), less);
    w.down[to] = div_down(mul_down(w.down[from], more), less);
  };
  for (std::size_t i = near; i + 2 < n; ++i) next(i, i + 1, L.upper[i], L.lower[i + 1]);
  for (std::size_t i = near; i > 1; --i) next(i, i - 1, L.lower[i], L.upper[i - 1]);
  double squares = 0;
  bool fine = true;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    squares = add_up(squares, w.up[i]);
    w.up[i] = sqrt_up(w.up[i]);
    w.down[i] = sqrt_down(w.down[i]);
    fine &= w.down[i] > 0x1p-400 && w.up[i] < 0x1p400;  // NaN is not
    w.lightest = std::min(w.lightest, w.down[i]);
  }
  if (!fine) return {};
  w.of_all = sqrt_up(squares);
  return w;
}

double fd_weights::norm(const std::vector<double>& sizes) const {
  constexpr double tiny = 1e-150;  // whose square is a normal number
  double squares[8] = {};
  bool known = true;
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    known &= sizes[i] <= 1e140;
    const double part = std::max(up[i] * sizes[i], tiny);
    squares[i % 8] += part * part;
  }
  if (!known) return infinite;
  double sum = 0;
  for (const double s : squares) sum += s;
  // Every term passed fewer than 2^22 roundings.
  return sqrt_up(mul_up(sum, 1 + 0x1p-29));
}

}  // namespace vouch
