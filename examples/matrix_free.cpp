// matrix_free [n] -- the 5-point Laplacian of an n by n grid as an operator that stores nothing, solved by
// conjugate gradients with a preconditioner of our own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/operator.hpp>

namespace {

// Values are 0 beyond the grid, which makes the operator positive definite.
class laplacian : public vouch::linear_operator<double> {
 public:
  explicit laplacian(std::int64_t n) : n_(n) {}
  std::int64_t rows() const override { return n_ * n_; }
  void apply(const vouch::device&, vouch::view<const double> x, vouch::view<double> y) const override {
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j) {
        const std::int64_t k = i * n_ + j;
        const double north = i > 0 ? x[k - n_] : 0;
        const double south = i + 1 < n_ ? x[k + n_] : 0;
        const double west = j > 0 ? x[k - 1] : 0;
        const double east = j + 1 < n_ ? x[k + 1] : 0;
        y[k] = 4 * x[k] - north - south - west - east;
      }
  }

 private:
  std::int64_t n_;
};

// Solves each grid line exactly (4 on the diagonal, -1 beside it) and leaves out the lines' coupling.
class line_solver : public vouch::preconditioner<double> {
 public:
  explicit line_solver(std::int64_t n) : n_(n), pivot_(static_cast<std::size_t>(n), 4.0) {
    for (std::size_t j = 1; j < pivot_.size(); ++j) pivot_[j] = 4 - 1 / pivot_[j - 1];
  }
  std::string name() const override { return "grid lines"; }
  void apply(const vouch::device&, vouch::view<const double> r, vouch::view<double> z) const override {
    for (std::int64_t first = 0; first < n_ * n_; first += n_) {
      z[first] = r[first];
      for (std::int64_t j = 1; j < n_; ++j) z[first + j] = r[first + j] + z[first + j - 1] / pivot(j - 1);
      z[first + n_ - 1] /= pivot(n_ - 1);
      for (std::int64_t j = n_ - 2; j >= 0; --j) z[first + j] = (z[first + j] + z[first + j + 1]) / pivot(j);
    }
  }

 private:
  double pivot(std::int64_t j) const { return pivot_[static_cast<std::size_t>(j)]; }
  std::int64_t n_;
  std::vector<double> pivot_;
};

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t n = count > 1 ? std::atoll(arguments[1]) : 100;
  if (n < 1) return 2;
  const vouch::device dev = vouch::device::cpu();
  const laplacian A(n);
  const line_solver M(n);
  const auto b = vouch::array<double>::from(dev, std::vector<double>(static_cast<std::size_t>(n * n), 1.0));

  vouch::solve_status worst = vouch::solve_status::converged;
  for (const vouch::preconditioner<double>* preconditioner : {static_cast<const line_solver*>(nullptr), &M}) {
    auto x = vouch::array<double>::zeros(dev, n * n);
    const vouch::solve_report report = vouch::cg<double>(dev, A, b, x, {}, preconditioner);
    std::printf("%-10s  %s, %lld iterations, ||b - Ax|| / ||b|| = %.2e\n", report.preconditioner.c_str(),
                name(report.status), static_cast<long long>(report.iterations), report.relative_true());
    if (!goal_reached(report.status)) worst = report.status;
  }
  return goal_reached(worst) ? 0 : 1;
}
