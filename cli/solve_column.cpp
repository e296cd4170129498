#include "solve_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vouch/core/error.hpp>
#include <vouch/solve/async.hpp>
#include <vouch/solve/cg_many.hpp>
#include <vouch/solve/cg_mixed.hpp>
#include <vouch/solve/direct.hpp>
#include <vouch/solve/gauss_seidel.hpp>
#include <vouch/solve/jacobi.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/room.hpp>
#include <vouch/solve/sor.hpp>
#include <vouch/solve/sparse_lu.hpp>

#include "rounded.hpp"

namespace vouch::cli {
namespace {

// A preconditioner's refusal names the file.
template <real T>
std::unique_ptr<preconditioner<T>> make_for(const linear_system& system, const device& dev, csr_view<const T> A,
                                            const std::string& spec) {
  try {
    return make_preconditioner<T>(dev, A, spec);
  } catch (const value_error& e) {
    throw value_error(fmt::format("{}: {}", system.file, e.what()), e.hint());
  }
}

// The matrix in precision T where the work is done.
template <real T>
struct placed_matrix {
  csr<T> own;  // empty where the matrix as read serves
  csr_view<const T> A;
  bool rounded = false;
};

placed_matrix<double> place_double(const linear_system& system, const device& dev, solve_times& times) {
  placed_matrix<double> placed;
  placed.A = system.A.all();
  if (!dev.is_cuda()) return placed;
  timed(times.transfer, [&] { placed.own = system.A.to(dev); });
  placed.A = placed.own.all();
  return placed;
}

placed_matrix<float> place_single(const linear_system& system, const device& cpu, const device& dev,
                                  solve_times& times) {
  placed_matrix<float> placed;
  timed(times.setup, [&] {
    placed.rounded = !fits<float>(cpu, system.A.val.all(), system.file);
    placed.own = convert_values<float>(cpu, system.A.all());
  });
  if (dev.is_cuda()) timed(times.transfer, [&] { placed.own = placed.own.to(dev); });
  placed.A = placed.own.all();
  return placed;
}

// Brings the vectors to the device in precision T and back.
template <real T>
class device_solver : public column_solver {
 public:
  device_solver(const solve_request& request, const device& cpu, const device& dev)
      : request_(request), cpu_(cpu), dev_(dev) {}

  std::vector<solve_report> solve(std::int64_t columns, view<const double> b, view<double> x,
                                  const solve_goal& goal, solve_times& times) override {
    array<T> rhs, solution;
    timed(times.transfer, [&] {
      if constexpr (sizeof(T) < sizeof(double)) rounded_rhs_ = !fits<T>(cpu_, b, request_.rhs);
      rhs = rounded<T>(cpu_, b).to(dev_);
      solution = rounded<T>(cpu_, x, request_.initial).to(dev_);
    });
    const stopwatch clock;
    std::vector<solve_report> reports = run(columns, rhs, solution, goal);
    const double seconds = clock.seconds();
    double setup = 0;
    for (const solve_report& report : reports) setup += report.setup_seconds;
    times.setup += setup;
    times.solve += seconds - setup;
    timed(times.transfer, [&] {
      const array<T> back = solution.to(cpu_);
      std::copy(back.begin(), back.end(), x.data());
    });
    return reports;
  }

 protected:
  virtual std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                        const solve_goal& goal) = 0;
  const device& where() const { return dev_; }
  bool rounded_rhs() const { return rounded_rhs_; }

 private:
  const solve_request& request_;
  device cpu_, dev_;
  bool rounded_rhs_ = false;
};

// The matrix was looked at when it was read.
cg_options checked(const solve_goal& goal) {
  cg_options options;
  options.rtol = goal.rtol;
  options.atol = goal.atol;
  options.max_iterations = goal.max_iterations;
  options.fixed_iterations = goal.fixed_iterations;
  options.stop_recurrence = goal.stop_recurrence;
  options.on_iteration = goal.on_iteration;
  options.matrix_checked = true;
  return options;
}

template <real T>
class cg_solver final : public device_solver<T> {
 public:
  cg_solver(const solve_request& request, const linear_system& system, const device& cpu, const device& dev,
            placed_matrix<T> placed, solve_times& times)
      : device_solver<T>(request, cpu, dev), placed_(std::move(placed)) {
    timed(times.setup, [&] { M_ = make_for<T>(system, dev, placed_.A, request.precondition); });
  }
  std::int64_t at_once() const override { return M_ == nullptr || M_->diagonal() != nullptr ? 8 : 1; }
  bool rounds() const override { return placed_.rounded || this->rounded_rhs(); }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const solve_goal& goal) override {
    return cg_many<T>(this->where(), placed_.A, columns, b, x, checked(goal), M_.get());
  }

  placed_matrix<T> placed_;
  std::unique_ptr<preconditioner<T>> M_;
};

// The preconditioner works in single precision.
class mixed_solver final : public device_solver<double> {
 public:
  mixed_solver(const solve_request& request, const linear_system& system, const device& cpu, const device& dev,
               solve_times& times)
      : device_solver(request, cpu, dev), placed_(place_double(system, dev, times)) {
    if (request.precondition == "none") return;
    single_ = place_single(system, cpu, dev, times);
    timed(times.setup, [&] { M_ = make_for<float>(system, dev, single_.A, request.precondition); });
  }
  std::int64_t at_once() const override { return 1; }
  bool rounds() const override { return false; }

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const solve_goal& goal) override {
    return {cg_mixed(where(), placed_.A, b, x, checked(goal), M_.get())};
  }

  placed_matrix<double> placed_;
  placed_matrix<float> single_;
  std::unique_ptr<preconditioner<float>> M_;
};

sweep_order order_of(const solve_request& request) {
  if (request.method == "ssor" || request.sweep == "symmetric") return sweep_order::symmetric;
  return request.sweep == "backward" ? sweep_order::backward : sweep_order::forward;
}

// Sweeps over a sparse or a dense matrix, or its factorisation.
template <real T>
class matrix_solver final : public device_solver<T> {
 public:
  matrix_solver(const solve_request& request, const linear_system& system, const device& cpu, const device& dev,
                solve_times& times)
      : device_solver<T>(request, cpu, dev), request_(request), system_(system) {
    if (dev.is_cuda()) check_room(dev);
    if (system.dense)
      place_entries(cpu, times);
    else if constexpr (sizeof(T) == 4)
      sparse_ = place_single(system, cpu, dev, times);
    else
      sparse_ = place_double(system, dev, times);
    if (request.method == "sparse-lu") timed(times.setup, [&] { factors_ = factorise<T>(dev, sparse_.A); });
  }
  std::int64_t at_once() const override { return 1; }
  bool rounds() const override { return sparse_.rounded || this->rounded_rhs(); }

 private:
  void check_room(const device& gpu) const {
    const std::string where = fmt::format("GPU {} for {}", gpu.index(), system_.file);
    const bool mixed = request_.common.precision == "mixed";
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (system_.dense)
      check_dense_room(where, gpu.memory_free(), system_.rows(), dense_bytes_on_gpu(request_));
    else
      check_sparse_room(where, gpu.memory_free(), system_.rows(), system_.facts.nonzeros,
                        2 * (size + 4) + (mixed ? 12 : 0), 16 + 10 * size);
  }

  void place_entries(const device& cpu, solve_times& times) {
    const std::int64_t n = system_.rows();
    const std::int64_t ld = std::max<std::int64_t>(1, n);
    if constexpr (sizeof(T) == 8) {
      dense_ = system_.entries();
      if (this->where().is_cuda())
        timed(times.transfer, [&] { entries_ = system_.dense->values.to(this->where()); });
    } else {
      const view<const double> all = system_.dense->values;
      timed(times.setup, [&] {
        sparse_.rounded = !fits<T>(cpu, all, system_.file);
        entries_ = rounded<T>(cpu, all);
      });
      if (this->where().is_cuda()) timed(times.transfer, [&] { entries_ = entries_.to(this->where()); });
    }
    if (entries_.size() > 0) dense_ = {entries_.data(), n, n, ld};
  }

  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x, const solve_goal& goal) override {
    try {
      if (request_.method == "lu") return {lu<T>(this->where(), transpose::no, dense_, b, x, goal)};
      if (request_.method == "cholesky") return {cholesky_or_lu(b, x, goal)};
      if (request_.method == "sparse-lu") return {sparse_lu<T>(this->where(), sparse_.A, factors_, b, x, goal)};
      return {system_.dense ? sweep(b, x, goal, transpose::no, dense_) : sweep(b, x, goal, sparse_.A)};
    } catch (const value_error& e) {
      throw value_error(fmt::format("{}: {}", system_.file, e.what()), e.hint());
    }
  }
  // A matrix that only looked positive definite has another factorisation, unless this one was asked for.
  solve_report cholesky_or_lu(view<const T> b, view<T> x, const solve_goal& goal) {
    solve_report report = cholesky<T>(this->where(), dense_, b, x, goal);
    if (request_.method_why.empty() || report.status != solve_status::not_spd) return report;
    solve_report settled = lu<T>(this->where(), transpose::no, dense_, b, x, goal);
    settled.setup_seconds += report.setup_seconds;
    settled.warnings.insert(settled.warnings.begin(),
                            fmt::format("cholesky ended, {}: went on with lu", report.reason));
    return settled;
  }
  // A is one argument (sparse) or two (dense).
  template <class... Matrix>
  solve_report sweep(view<const T> b, view<T> x, const solve_goal& goal, Matrix... A) {
    const acceleration accelerate{request_.anderson, request_.chebyshev};
    const double omega = request_.omega.value_or(1);
    const auto ordering =
        request_.ordering == "multicolor" ? sweep_ordering::multicolor : sweep_ordering::natural;
    const bool mixed = request_.common.precision == "mixed";
    if (request_.method == "async") return async_relaxation<T>(this->where(), A..., b, x, {goal, omega, mixed});
    if (request_.method == "jacobi")
      return jacobi<T>(this->where(), A..., b, x, {goal, omega, accelerate, mixed});
    if (request_.method == "gauss-seidel")
      return gauss_seidel<T>(this->where(), A..., b, x,
                             {goal, order_of(request_), accelerate, ordering, mixed});
    return sor<T>(this->where(), A..., b, x,
                  {goal, omega, order_of(request_), accelerate, ordering, mixed, request_.omega_auto});
  }

  const solve_request& request_;
  const linear_system& system_;
  placed_matrix<T> sparse_;
  lu_factors<T> factors_;  // of sparse-lu
  array<T> entries_;       // of a dense matrix: in single precision, or on the GPU
  matrix_view<const T> dense_;
};

}  // namespace

std::int64_t dense_bytes_on_gpu(const solve_request& request) {
  const std::int64_t size = request.common.precision == "single" ? 4 : 8;
  return (request.is_direct() ? 3 : 2) * size + (request.common.precision == "mixed" ? 8 : 0);
}

std::unique_ptr<column_solver> make_column_solver(const solve_request& request, const linear_system& system,
                                                  const device& cpu, const device& dev, solve_times& times) {
  if (request.is_stationary() || request.is_direct()) {
    if (request.common.precision == "single")
      return std::make_unique<matrix_solver<float>>(request, system, cpu, dev, times);
    return std::make_unique<matrix_solver<double>>(request, system, cpu, dev, times);
  }
  if (request.common.precision == "mixed")
    return std::make_unique<mixed_solver>(request, system, cpu, dev, times);
  if (request.common.precision == "single")
    return std::make_unique<cg_solver<float>>(request, system, cpu, dev, place_single(system, cpu, dev, times),
                                              times);
  return std::make_unique<cg_solver<double>>(request, system, cpu, dev, place_double(system, dev, times),
                                             times);
}

}  // namespace vouch::cli
