#include <vouch/price/finite_difference/solver_steps.hpp>

#include <algorithm>

#include <vouch/core/error.hpp>

namespace vouch {

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

}  // namespace vouch
