// vouch/solve/driver/ready_method.hpp -- a method made ready for one matrix, and what those have in common;
// private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/driver/about_matrix.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/driver/rounding.hpp>
#include <vouch/solve/loop/device_memory_check.hpp>
#include <vouch/solve/plan.hpp>
#include <vouch/solve/result.hpp>

namespace vouch {

/// Runs work and adds the seconds that it took.
template <class Work>
void timed(double& seconds, const Work& work) {
  const stopwatch clock;
  work();
  seconds += clock.seconds();
}

/// What a method is made ready of; all of it outlives the method.
struct method_setting {
  const operand& A;
  const solve_options& options;
  const attempt& taken;
  device dev;  // where it runs
  solve_times& times;

  bool mixed() const { return taken.precision == working_precision::mixed; }
};

class ready_method {
 public:
  virtual ~ready_method() = default;
  /// How many columns of so many it is best given at once.
  virtual std::int64_t at_once(std::int64_t /*columns*/) const { return 1; }
  /// Solves for so many columns, which lie one after another in b and x, where the operand is; x holds the
  /// starts and receives the results. A report for each column.
  virtual std::vector<solve_report> solve(std::int64_t columns, view<const double> b, view<double> x,
                                          const stopping_criterion& goal, solve_times& times) = 0;
  /// Whether what was solved differs from what was given: the matrix, or the right-hand sides of the last call.
  virtual bool rounds() const = 0;
  /// Makes itself ready for the values that the operand has now, on the old pattern; false where it has to be made
  /// anew.
  virtual bool renew() { return false; }
  /// Whether the report of a column is about that column, not about the worst of all.
  virtual bool judges_each_column() const { return true; }
};

/// A matrix in precision T where the work is done.
template <real T>
struct placed_csr {
  csr<T> own;  // empty where a matrix of the operand serves
  csr_view<const T> A;
  bool rounded = false;
};
template <real T>
struct placed_matrix {
  matrix<T> own;
  matrix_view<const T> A;
  bool rounded = false;
};

/// Throws  value_error  single precision has nothing of a row of A, or no diagonal entry where A looks positive definite
void refuse_lost_rows(const method_setting& setting, csr_view<const double> A);

/// Throws  value_error  an entry overflows T, or what underflows is refused
template <real T>
placed_csr<T> place_sparse(const method_setting& setting);
template <real T>
placed_matrix<T> place_dense(const method_setting& setting);

/// What a library refuses of the matrix, with its name.
template <class Work>
auto naming_the_matrix(const method_setting& setting, const Work& work) {
  try {
    return work();
  } catch (const value_error& e) {
    throw value_error(about_matrix(setting.options, e.what()), e.hint());
  }
}

/// Throws  value_error  a preconditioner that is not symmetric was taken, and the method needs one that is
inline void require_symmetric_preconditioner(const method_setting& setting) {
  const preconditioner_choice& taken = setting.taken.preconditioner;
  if (is_symmetric(taken)) return;
  throw value_error(std::string(setting.taken.method->title) +
                        ": the preconditioner has to be symmetric, and " + taken.name + " is not",
                    "--method gmres takes it; ic0 is symmetric");
}

/// The preconditioner that was taken for A, or the caller's; get() is nullptr where there is none.
template <real T>
class chosen_preconditioner {
 public:
  chosen_preconditioner(const method_setting& setting, csr_view<const T> A) {
    if constexpr (sizeof(T) == sizeof(double)) chosen_ = setting.options.own_preconditioner;
    if (chosen_ != nullptr) return;
    timed(setting.times.setup, [&] {
      naming_the_matrix(setting,
                        [&] { made_ = make_preconditioner<T>(setting.dev, A, setting.taken.preconditioner); });
    });
    chosen_ = made_.get();
  }
  const preconditioner<T>* get() const { return chosen_; }

 private:
  std::unique_ptr<preconditioner<T>> made_;
  const preconditioner<T>* chosen_ = nullptr;
};

/// Brings vectors to where the work is done, in precision T, and back; in place where they are there.
template <real T>
class method_in : public ready_method {
 public:
  explicit method_in(const method_setting& setting) : setting_(setting) {}

  std::vector<solve_report> solve(std::int64_t columns, view<const double> b, view<double> x,
                                  const stopping_criterion& goal, solve_times& times) override {
    if constexpr (sizeof(T) == sizeof(double))
      if (is_same_place(setting_.dev, home())) return run_timed(columns, b, x, goal, times);
    array<T> rhs, solution;
    timed(times.transfer, [&] {
      rhs = brought<T>(b, setting_.options.names.rhs, &rounded_rhs_);
      solution = brought<T>({x.data(), x.size()}, setting_.options.names.start, nullptr);
    });
    std::vector<solve_report> reports = run_timed(columns, rhs, solution, goal, times);
    timed(times.transfer, [&] { bring_back(solution, x); });
    return reports;
  }
  bool rounds() const override { return rounded_rhs_; }

 protected:
  virtual std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                        const stopping_criterion& goal) = 0;
  const method_setting& setting() const { return setting_; }
  const device& where() const { return setting_.dev; }

 private:
  const device& home() const { return setting_.A.home(); }

  std::vector<solve_report> run_timed(std::int64_t columns, view<const T> b, view<T> x,
                                      const stopping_criterion& goal, solve_times& times) {
    const stopwatch clock;
    std::vector<solve_report> reports = run(columns, b, x, goal);
    const double seconds = clock.seconds();
    double setup = 0;
    for (const solve_report& report : reports) setup += report.setup_seconds;
    times.setup += setup;
    times.solve += seconds - setup;
    return reports;
  }
  template <real To>
  array<To> brought(view<const double> from, const std::string& called, bool* rounded) const {
    const device& cpu = setting_.A.cpu();
    array<double> here;
    if (home().is_cuda()) {
      here = array<double>(cpu, from.size());
      copy_bytes(here.data(), cpu, from.data(), home(), static_cast<std::size_t>(from.size()) * sizeof(double));
      from = here;
    }
    if constexpr (sizeof(To) < sizeof(double)) {
      const bool rounds = loss_in<To>(cpu, from, called).rounds;
      if (rounded != nullptr) *rounded = rounds;
    }
    return rounded_to<To, double>(cpu, from).to(setting_.dev);
  }
  void bring_back(const array<T>& from, view<double> to) const {
    const array<double> wide = rounded_to<double, T>(setting_.A.cpu(), from.to(setting_.A.cpu()).all());
    copy_bytes(to.data(), home(), wide.data(), setting_.A.cpu(),
               static_cast<std::size_t>(to.size()) * sizeof(double));
  }

  method_setting setting_;
  bool rounded_rhs_ = false;
};

/// The method in the precision that was asked for.
template <class Single, class Double>
std::unique_ptr<ready_method> make_ready(const method_setting& setting) {
  if (setting.taken.precision == working_precision::single) return std::make_unique<Single>(setting);
  return std::make_unique<Double>(setting);
}

/// What an entry of a dense matrix of elements of so many bytes takes on a GPU, all copies counted: as sent, in
/// the form in which it is read, what the method makes besides.
constexpr std::int64_t dense_bytes_on_gpu(std::int64_t size, bool direct, bool mixed) {
  return (direct ? 3 : 2) * size + (mixed ? 8 : 0);
}

/// Throws  out_of_memory  the method does not fit the GPU it is set on, said before anything is sent there
template <real T>
void check_device_memory(const method_setting& setting, matrix_form form, bool direct) {
  if (!setting.dev.is_cuda()) return;
  const std::string where =
      string_printf("GPU %d for %s", setting.dev.index(), setting.options.names.matrix.c_str());
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t free = setting.dev.memory_free() + setting.A.bytes_on(setting.dev);
  if (form == matrix_form::dense)
    check_dense_memory(where, free, setting.A.rows(), dense_bytes_on_gpu(size, direct, setting.mixed()));
  else
    check_sparse_memory(where, free, setting.A.rows(), setting.A.facts().matrix.nonzeros,
                        2 * (size + 4) + (setting.mixed() ? 12 : 0), 16 + 10 * size);
}

}  // namespace vouch
