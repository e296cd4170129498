// What the solver of stationary iterations needs of a dense matrix on a GPU. Residual, sums of magnitudes and
// bounds come from one pass.
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/aligned_rows.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/stationary/dense_engines.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {
namespace {

template <real T>
class dense_matrix_on_gpu final : public iteration_matrix<T> {
 public:
  dense_matrix_on_gpu(const device& dev, const detail::square_matrix<T>& A)
      : rows_(detail::align_rows(dev, A)),
        work_(detail::make_workspace(dev, rows_)),
        others_(dev, A.n),
        bound_(dev, A.n),
        sums_(dev, A.n),
        start_residual_(dev, A.n),
        diagonal_(detail::diagonal_of(dev, rows_)) {}

  std::int64_t rows() const override { return rows_.n; }
  T diagonal(std::int64_t i) const override {
    if (diagonal_on_host_.empty()) diagonal_on_host_ = diagonal_.to_vector();
    return diagonal_on_host_[static_cast<std::size_t>(i)];
  }

  std::optional<row_dominance> judge_rows(const device& dev) const override {
    if (announced_.x == nullptr) return {};
    start_ = pass(dev, announced_.b, std::exchange(announced_.x, nullptr), nullptr, start_residual_.data());
    return dominance_of_rows<T>(dev, rows_.n, diagonal_.data(), others_.data(), up(), 0);
  }
  std::optional<double> residual_quotient(const device& dev) const override {
    return largest_quotient<T>(dev, rows_.n, bound_.data(), diagonal_.data());
  }
  void off_diagonal_sums(const device& dev, const double* v, double* sums) const override {
    detail::magnitude_sums(dev, rows_, v, false, sums_.data());
    take_rounded_up(dev, v != nullptr ? underflow : 0, sums);
  }
  void off_diagonal_column_sums(const device& dev, double* sums) const override {
    detail::magnitude_sums(dev, rows_, nullptr, true, sums_.data());
    take_rounded_up(dev, 0, sums);
  }
  void announce(view<const T> b, const T* x) const override { announced_ = {b.data(), x}; }
  residual_facts residual(const device& dev, view<const T> b, const T* x, const T* x_lo, T* r) const override {
    const std::optional<residual_facts> start = std::exchange(start_, {});
    if (!start) return pass(dev, b.data(), x, x_lo, r);
    copy<T, T>(dev, start_residual_.all(), {r, rows_.n});
    return *start;
  }
  void residual_bound(const device& dev, view<const T>, view<const T>, view<double> bound) const override {
    copy_bytes(bound.data(), device::cpu(1), bound_.data(), dev,
               static_cast<std::size_t>(rows_.n) * sizeof(double));
  }
  std::unique_ptr<inner_solver<T>> make_engine(const device& dev, const sweep_rule& rule, bool by_residual,
                                               const acceleration& accelerate) const override {
    if (rule.ordering == sweep_ordering::multicolor)
      throw value_error("no two rows of a dense matrix are independent: there is no multicolor ordering",
                        "take the natural one");
    if (rule.asynchronous || (rule.simultaneous && accelerate.chebyshev))
      return dense_plain_sweeps_cuda(dev, rows_, rule, by_residual, accelerate);
    if (accelerate.chebyshev)
      throw value_error("on a GPU Chebyshev's method accelerates Jacobi sweeps of dense matrices only",
                        "take jacobi, or the CPU");
    if (rule.simultaneous) return dense_jacobi_cuda(dev, rows_, rule, by_residual, accelerate);
    return dense_seidel_cuda(dev, rows_, rule, by_residual, accelerate);
  }
  std::unique_ptr<inner_solver<float>> make_rounded_engine(const device& dev, entry_precision precision,
                                                           const sweep_rule& rule,
                                                           const acceleration& accelerate) const override {
    const bool plain_jacobi = rule.simultaneous && !rule.asynchronous && !accelerate.chebyshev;
    if constexpr (std::same_as<T, double>)
      if (plain_jacobi && precision != entry_precision::single)
        return dense_jacobi_rounded_cuda(dev, rows_, precision, rule, accelerate);
    return nullptr;
  }

 private:
  // Leaves the sums of magnitudes in others_, the bound of the residual in bound_.
  residual_facts pass(const device& dev, const T* b, const T* x, const T* x_lo, T* r) const {
    const auto n = static_cast<double>(rows_.n);
    return detail::residual_pass(dev, rows_, b, x, x_lo, {r, others_.data(), bound_.data()}, work_)
        .facts(n * n + n);
  }
  // Sums of n numbers that are not negative err by at most n units of the last place, rounded to nearest.
  double up() const { return 1 + static_cast<double>(rows_.n + 8) * 0x1p-51; }
  static constexpr double underflow = 0x1p-1000;  // more than products with weights lose
  void take_rounded_up(const device& dev, double least, double* sums) const {
    copy_bytes(sums, device::cpu(1), sums_.data(), dev, static_cast<std::size_t>(rows_.n) * sizeof(double));
    for (std::int64_t i = 0; i < rows_.n; ++i) sums[i] = sums[i] * up() + least;
  }

  struct system_ahead {
    const T *b = nullptr, *x = nullptr;
  };

  detail::aligned_rows<T> rows_;
  mutable detail::pass_workspace work_;
  mutable array<double> others_, bound_;  // of the last pass for a residual
  mutable array<double> sums_;
  mutable system_ahead announced_;
  mutable array<T> start_residual_;
  mutable std::optional<residual_facts> start_;  // of the system that was announced, until it is asked for
  array<T> diagonal_;
  mutable std::vector<T> diagonal_on_host_;  // once it is asked for
};

}  // namespace

template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix_cuda(const device& dev, transpose op,
                                                                matrix_view<const T> A) {
  return std::make_unique<dense_matrix_on_gpu<T>>(dev, detail::make_square(op, A));
}

template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<float>> make_iteration_matrix_cuda(
    const device&, transpose, matrix_view<const float>);
template VOUCH_PUBLIC std::unique_ptr<iteration_matrix<double>> make_iteration_matrix_cuda(
    const device&, transpose, matrix_view<const double>);

}  // namespace vouch
