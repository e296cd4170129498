#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/solve/stationary/dominance.hpp>

namespace vouch {
namespace {

constexpr int most_steps = 20;  // towards weights

template <real T>
std::vector<double> magnitudes_of_diagonal(const iteration_matrix<T>& A) {
  std::vector<double> d(static_cast<std::size_t>(A.rows()));
  for (std::int64_t i = 0; i < A.rows(); ++i)
    d[static_cast<std::size_t>(i)] = std::fabs(static_cast<double>(A.diagonal(i)));
  return d;
}

template <real T>
void check_diagonal_entry(std::int64_t row, double diagonal, double others) {
  const auto number = static_cast<long long>(row + 1);
  if (!std::isfinite(diagonal) || !std::isfinite(others))
    throw value_error(
        string_printf("row %lld of the matrix holds a NaN or an infinity, or its sum overflows", number));
  if (diagonal == 0)
    throw value_error(
        string_printf("the diagonal entry of row %lld is zero%s: the iteration would divide by it", number,
                      sizeof(T) == 4 ? " in single precision" : ""),
        sizeof(T) == 4 ? "exchange rows, take a direct method, or --precision double where it is only too small"
                       : "exchange rows, or take a direct method");
  constexpr double largest = std::numeric_limits<T>::max();
  constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
  if (4 / diagonal > largest)
    throw value_error(
        string_printf("the diagonal entry of row %lld is too small to divide by: %.3g", number, diagonal),
        "scale the rows, or take a direct method");
  if (!is_divisor(diagonal, others, largest, unit_roundoff))
    throw value_error(
        string_printf("the diagonal entry of row %lld is too small: %.3g beside %.3g in the rest of the row",
                      number, diagonal, others),
        "exchange rows, or take a direct method");
}

// The sums of the other entries of the rows, beside which the diagonal can be divided by.
template <real T>
std::vector<double> checked_sums(const device& dev, const iteration_matrix<T>& A,
                                 const std::vector<double>& diagonal) {
  std::vector<double> sums(diagonal.size());
  A.off_diagonal_sums(dev, nullptr, sums.data());
  for (std::size_t i = 0; i < sums.size(); ++i)
    check_diagonal_entry<T>(static_cast<std::int64_t>(i), diagonal[i], sums[i]);
  return sums;
}

struct ratio_at {
  double ratio = 0;
  std::int64_t row = 0;
};

// max a[i] / d[i], to nearest; something that is not finite where one of them is not.
double largest_to_nearest(const std::vector<double>& a, const std::vector<double>& d) {
  constexpr std::size_t width = 8;
  double largest[width] = {}, faults[width] = {};
  std::size_t i = 0;
  const auto take = [&](std::size_t l, std::size_t at) {
    const double ratio = a[at] / d[at];
    largest[l] = ratio > largest[l] ? ratio : largest[l];
    faults[l] += ratio - ratio;  // 0, or NaN
  };
  for (; i + width <= a.size(); i += width)
    for (std::size_t l = 0; l < width; ++l) take(l, i + l);
  for (; i < a.size(); ++i) take(0, i);
  double all = 0;
  for (std::size_t l = 0; l < width; ++l) all = std::max(all, largest[l]) + faults[l];
  return all;
}

// max a[i] / d[i], rounded upwards; infinite where one of them is not finite. Rounding keeps the order, so that
// only those count that are largest rounded to nearest: of a million quotients a few are rounded with care.
ratio_at largest_quotient(const std::vector<double>& a, const std::vector<double>& d) {
  const double nearest = largest_to_nearest(a, d);
  if (!std::isfinite(nearest)) return {std::numeric_limits<double>::infinity(), 0};
  ratio_at largest;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] / d[i] != nearest) continue;
    if (const double ratio = div_up(a[i], d[i]); ratio > largest.ratio)
      largest = {ratio, static_cast<std::int64_t>(i)};
  }
  return largest;
}

// max a[i] / (d[i] v[i]), rounded upwards, likewise; v may be empty for ones.
ratio_at largest_ratio(const std::vector<double>& a, const std::vector<double>& d,
                       const std::vector<double>& v) {
  if (v.empty()) return largest_quotient(a, d);
  std::vector<double> weighted(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) weighted[i] = mul_down(d[i], v[i]);
  return largest_quotient(a, weighted);
}

// v := the mean of v and D^-1 |R| v tends to the weights for which the largest ratio is smallest; half a step a
// time, since patterns of two colours would swing for ever.
template <real T>
bool find_weights(const device& dev, const iteration_matrix<T>& A, std::vector<double> sums,
                  dominance_proof& proof) {
  const std::vector<double>& d = proof.diagonal;
  std::vector<double> v(d.size(), 1.0);
  const cancellation_probe stop;
  for (int step = 0; step < most_steps; ++step) {
    stop.check();
    double largest = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = 0.5 * (v[i] + sums[i] / d[i]);
      largest = std::max(largest, v[i]);
    }
    if (!std::isfinite(largest)) return false;
    for (double& weight : v) weight = std::max(weight / largest, 1e-100);
    A.off_diagonal_sums(dev, v.data(), sums.data());
    const ratio_at now = largest_ratio(sums, d, v);
    if (!(now.ratio < 1)) continue;
    proof.kind = dominance_kind::scaled;
    proof.ratio = now.ratio;
    proof.weights = std::move(v);
    return true;
  }
  return false;
}

}  // namespace

double dominance_proof::proved_omega() const {
  return kind == dominance_kind::none ? 0 : div_down(2.0, add_up(1.0, ratio));
}

template <real T>
void check_diagonal(const device& dev, const iteration_matrix<T>& A) {
  const ieee_environment here;
  checked_sums(dev, A, magnitudes_of_diagonal(A));
}

template <real T>
dominance_proof prove_dominance(const device& dev, const iteration_matrix<T>& A) {
  const ieee_environment here;
  dominance_proof proof{dominance_kind::rows};
  proof.matrix = &A;
  if (const std::optional<row_dominance> judged = A.judge_rows(dev)) {
    if (judged->refused >= 0) check_diagonal_entry<T>(judged->refused, judged->diagonal, judged->others);
    proof.ratio = proof.row_ratio = judged->ratio;
    proof.worst_row = judged->row;
    if (judged->ratio < 1) return proof;
  }
  proof.diagonal = magnitudes_of_diagonal(A);
  const std::vector<double>& d = proof.diagonal;
  std::vector<double> sums = checked_sums(dev, A, d);
  const ratio_at rows = largest_ratio(sums, d, {});
  proof.ratio = proof.row_ratio = rows.ratio;
  proof.worst_row = rows.row;
  if (rows.ratio < 1) return proof;

  std::vector<double> column_sums(d.size());
  A.off_diagonal_column_sums(dev, column_sums.data());
  const ratio_at columns = largest_ratio(column_sums, d, {});
  if (columns.ratio < 1) {
    proof.kind = dominance_kind::columns;
    proof.ratio = columns.ratio;
  } else if (!find_weights(dev, A, std::move(sums), proof)) {
    proof.kind = dominance_kind::none;
  }
  return proof;
}

template <real T>
std::optional<double> dominance_error_bound(const device& dev, const iteration_matrix<T>& A,
                                            const dominance_proof& proof, view<const T> b, view<const T> x) {
  const ieee_environment here;
  if (proof.matrix != &A) throw value_error("dominance_error_bound: the proof is for another matrix");
  if (proof.kind == dominance_kind::none) return {};
  const double gap = sub_down(1.0, proof.ratio);
  if (proof.kind == dominance_kind::rows)
    if (const std::optional<double> quotient = A.residual_quotient(dev)) {
      const double bound = div_up(*quotient, gap);
      return std::isfinite(bound) ? std::optional(bound) : std::nullopt;
    }
  const std::vector<double>& d = proof.diagonal;
  std::vector<double> r(d.size());
  A.residual_bound(dev, b, x, {r.data(), A.rows()});
  double bound = 0;
  if (proof.kind == dominance_kind::columns) {
    // A D^-1 = I + K with ||K||_1 <= q: ||D (x - exact)||_1 <= ||b - A x||_1 / (1 - q).
    double norm = 0;
    for (const double r_i : r) norm = add_up(norm, r_i);
    const double smallest = d.empty() ? 1 : *std::min_element(d.begin(), d.end());
    bound = div_up(div_up(norm, gap), smallest);
  } else {
    // In the norm max |e_i| / v_i the Jacobi matrix is at most q; the weights are at most 1.
    bound = div_up(largest_ratio(r, d, proof.weights).ratio, gap);
  }
  if (!std::isfinite(bound)) return {};
  return bound;
}

template VOUCH_PUBLIC void check_diagonal(const device&, const iteration_matrix<float>&);
template VOUCH_PUBLIC void check_diagonal(const device&, const iteration_matrix<double>&);
template VOUCH_PUBLIC dominance_proof prove_dominance(const device&, const iteration_matrix<float>&);
template VOUCH_PUBLIC dominance_proof prove_dominance(const device&, const iteration_matrix<double>&);
template VOUCH_PUBLIC std::optional<double> dominance_error_bound(const device&, const iteration_matrix<float>&,
                                                                  const dominance_proof&, view<const float>,
                                                                  view<const float>);
template VOUCH_PUBLIC std::optional<double> dominance_error_bound(const device&,
                                                                  const iteration_matrix<double>&,
                                                                  const dominance_proof&, view<const double>,
                                                                  view<const double>);

}  // namespace vouch
