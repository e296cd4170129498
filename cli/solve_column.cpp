#include "solve_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vouch/core/error.hpp>
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

template <real T>
class cg_solver final : public column_solver {
 public:
  cg_solver(const solve_request& request, const linear_system& system, const device& cpu, const device& dev,
            solve_times& times)
      : request_(request), cpu_(cpu), dev_(dev), A_{} {
    place(system, times);
    timed(times.setup, [&] { M_ = make_for<T>(system, dev_, A_, request.precondition); });
  }

  solve_report solve(view<const double> b, view<double> x, const cg_options& options,
                     solve_times& times) override {
    array<T> rhs, solution;
    timed(times.transfer, [&] {
      rhs = rounded<T>(cpu_, b, request_.rhs).to(dev_);
      solution = rounded<T>(cpu_, x, request_.initial).to(dev_);
    });
    const stopwatch clock;
    const solve_report report = cg<T>(dev_, A_, rhs, solution, options, M_.get());
    times.setup += report.setup_seconds;
    times.solve += clock.seconds() - report.setup_seconds;
    timed(times.transfer, [&] {
      const array<T> back = solution.to(cpu_);
      std::copy(back.begin(), back.end(), x.data());
    });
    return report;
  }
  bool rounds_matrix() const override { return rounds_; }

 private:
  void place(const linear_system& system, solve_times& times) {
    if constexpr (std::same_as<T, double>) {
      if (dev_.is_cuda()) timed(times.transfer, [&] { own_ = system.A.to(dev_); });
      A_ = dev_.is_cuda() ? own_.all() : system.A.all();
    } else {
      timed(times.setup, [&] {
        rounds_ = !fits<T>(system.A.val.all(), system.file);
        own_ = convert_values<T>(cpu_, system.A.all());
      });
      if (dev_.is_cuda()) timed(times.transfer, [&] { own_ = own_.to(dev_); });
      A_ = own_.all();
    }
  }

  const solve_request& request_;
  device cpu_, dev_;
  csr<T> own_;  // empty where the matrix as read serves
  csr_view<const T> A_;
  bool rounds_ = false;
  std::unique_ptr<preconditioner<T>> M_;
};

}  // namespace

std::unique_ptr<column_solver> make_column_solver(const solve_request& request, const linear_system& system,
                                                  const device& cpu, const device& dev, solve_times& times) {
  if (request.common.precision == "single")
    return std::make_unique<cg_solver<float>>(request, system, cpu, dev, times);
  return std::make_unique<cg_solver<double>>(request, system, cpu, dev, times);
}

}  // namespace vouch::cli
