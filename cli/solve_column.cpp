#include "solve_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vouch/core/error.hpp>
#include <vouch/solve/cg_many.hpp>
#include <vouch/solve/cg_mixed.hpp>
#include <vouch/solve/precond/make.hpp>

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

// Whether all values are numbers of type T already; what is finite must stay so.
template <real T>
bool fits(view<const double> values, const std::string& from) {
  bool exactly = true;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto rounded = static_cast<T>(values[i]);
    if (!std::isfinite(rounded))
      throw value_error(fmt::format("{}: {:.9g} overflows single precision", from, values[i]),
                        "take --precision double");
    exactly = exactly && rounded == values[i];
  }
  return exactly;
}

template <real T>
array<T> rounded(const device& cpu, view<const double> values, const std::string& from) {
  fits<T>(values, from);
  array<T> result(cpu, values.size());
  for (std::int64_t i = 0; i < values.size(); ++i) result[i] = static_cast<T>(values[i]);
  return result;
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
    placed.rounded = !fits<float>(system.A.val.all(), system.file);
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
                                  const cg_options& options, solve_times& times) override {
    array<T> rhs, solution;
    timed(times.transfer, [&] {
      rhs = rounded<T>(cpu_, b, request_.rhs).to(dev_);
      solution = rounded<T>(cpu_, x, request_.initial).to(dev_);
    });
    const stopwatch clock;
    std::vector<solve_report> reports = run(columns, rhs, solution, options);
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
                                        const cg_options& options) = 0;
  const device& where() const { return dev_; }

 private:
  const solve_request& request_;
  device cpu_, dev_;
};

template <real T>
class cg_solver final : public device_solver<T> {
 public:
  cg_solver(const solve_request& request, const linear_system& system, const device& cpu, const device& dev,
            placed_matrix<T> placed, solve_times& times)
      : device_solver<T>(request, cpu, dev), placed_(std::move(placed)) {
    timed(times.setup, [&] { M_ = make_for<T>(system, dev, placed_.A, request.precondition); });
  }
  std::int64_t at_once() const override { return M_ == nullptr || M_->diagonal() != nullptr ? 8 : 1; }
  bool rounds_matrix() const override { return placed_.rounded; }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const cg_options& options) override {
    return cg_many<T>(this->where(), placed_.A, columns, b, x, options, M_.get());
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
  bool rounds_matrix() const override { return false; }

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const cg_options& options) override {
    return {cg_mixed(where(), placed_.A, b, x, options, M_.get())};
  }

  placed_matrix<double> placed_;
  placed_matrix<float> single_;
  std::unique_ptr<preconditioner<float>> M_;
};

}  // namespace

std::unique_ptr<column_solver> make_column_solver(const solve_request& request, const linear_system& system,
                                                  const device& cpu, const device& dev, solve_times& times) {
  if (request.common.precision == "mixed")
    return std::make_unique<mixed_solver>(request, system, cpu, dev, times);
  if (request.common.precision == "single")
    return std::make_unique<cg_solver<float>>(request, system, cpu, dev, place_single(system, cpu, dev, times),
                                              times);
  return std::make_unique<cg_solver<double>>(request, system, cpu, dev, place_double(system, dev, times),
                                             times);
}

}  // namespace vouch::cli
