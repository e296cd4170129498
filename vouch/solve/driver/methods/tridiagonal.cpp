#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/band/verdict.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/solve/driver/batch.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

tridiagonal_options options_for(tridiagonal_method kind, bool mixed, const stopping_criterion& goal) {
  tridiagonal_options options;
  options.method = kind;
  options.mixed = mixed;
  options.rtol = std::max(*goal.rtol, std::numeric_limits<double>::min());  // not its default
  options.atol = goal.atol;
  return options;
}

// All columns at once.
template <real T, tridiagonal_method kind>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting) {
    if (!setting.options.gpus.empty())
      throw value_error("one tridiagonal matrix is solved on one GPU", "several GPUs share batches");
    timed(setting.times.setup, [&] {
      const csr_view<const double> A = setting.A.sparse(setting.A.cpu());
      if constexpr (sizeof(T) < sizeof(double)) {
        const rounding_loss loss =
            loss_in<T>(setting.A.cpu(), {A.val, A.nonzeros}, setting.options.names.matrix);
        if (loss.underflows) refuse_lost_rows(setting, A);
        rounded_ = loss.rounds;
      }
      A_ = diagonals_of<T>(setting.A.cpu(), A);
    });
    if (setting.dev.is_cuda()) timed(setting.times.transfer, [&] { A_ = A_.to(setting.dev); });
  }
  std::int64_t at_once(std::int64_t columns) const override { return columns; }
  bool rounds() const override { return rounded_ || method_in<T>::rounds(); }
  bool judges_each_column() const override { return false; }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    const batch_shape one = contiguous(A_.d.size()), all = contiguous(A_.d.size(), columns);
    const tridiagonal_report report =
        vouch::solve<T>(this->where(), {A_.dl.data(), A_.d.data(), A_.du.data(), one}, {b.data(), all},
                        {x.data(), all}, options_for(kind, this->setting().mixed(), goal));
    return std::vector<solve_report>(static_cast<std::size_t>(columns), as_solve_report(report, goal));
  }

  diagonals<T> A_;
  bool rounded_ = false;
};

// Every system of a batch, in place in double where the work is done where they are; to GPUs that share it, block by
// block.
template <real T, tridiagonal_method kind>
class ready_systems final : public ready_batch {
 public:
  explicit ready_systems(const method_setting& setting) : setting_(setting) {
    const operand& A = setting.A;
    if (goes_in_blocks() && A.home().is_cuda())
      throw value_error("a batch that several GPUs share begins in host memory");
    if constexpr (sizeof(T) == sizeof(double)) {
      const auto take = [&] { A_ = A.bands(goes_in_blocks() ? A.home() : setting.dev); };
      if (is_here() || goes_in_blocks())
        take();
      else
        timed(setting.times.transfer, take);
    } else {
      timed(setting.times.setup,
            [&] { own_ = rounded_diagonals<T>(A.cpu(), A.bands(A.cpu()), setting.options.names.matrix); });
      if (setting.dev.is_cuda() && !goes_in_blocks())
        timed(setting.times.transfer, [&] { own_ = own_.to(setting.dev); });
      const tridiagonal_view<const double> wide = A.bands(A.home());
      A_ = {own_.dl.data(), own_.d.data(), own_.du.data(), wide.shape, wide.periodic};
    }
  }

  tridiagonal_report solve(const batch_view<const double>& b, const batch_view<double>& x,
                           const stopping_criterion& goal, solve_times& times,
                           detail::judgement& found) override {
    if constexpr (sizeof(T) == sizeof(double))
      if (is_here() || goes_in_blocks()) return run(b, x, goal, times, found);
    const device &home = setting_.A.home(), &cpu = setting_.A.cpu();
    const device& there = goes_in_blocks() ? cpu : setting_.dev;
    array<T> rhs, solution;
    timed(times.transfer, [&] {
      array<double> here;
      batch_view<const double> given = b;
      if (home.is_cuda()) {
        here = array<double>(cpu, b.shape.extent());
        copy_bytes(here.data(), cpu, b.data, home, static_cast<std::size_t>(here.size()) * sizeof(double));
        given.data = here.data();
      }
      rhs = rounded_elements<T>(cpu, given, setting_.options.names.rhs).to(there);
      solution = array<T>(there, x.shape.extent());
    });
    const tridiagonal_report report =
        run({rhs.data(), b.shape}, {solution.data(), x.shape}, goal, times, found);
    timed(times.transfer, [&] { put_elements<T>(cpu, solution, home, x); });
    return report;
  }
  bool rounds() const override { return sizeof(T) < sizeof(double); }

 private:
  bool is_here() const { return is_same_place(setting_.dev, setting_.A.home()); }
  bool goes_in_blocks() const { return !setting_.options.gpus.empty(); }
  tridiagonal_report run(const batch_view<const T>& b, const batch_view<T>& x, const stopping_criterion& goal,
                         solve_times& times, detail::judgement& found) const {
    const tridiagonal_options options = options_for(kind, setting_.mixed(), goal);
    tridiagonal_report report;
    timed(times.solve, [&] {
      report = goes_in_blocks() ? detail::solve_and_judge<T>(group(), A_, b, x, options, found)
                                : detail::solve_and_judge<T>(setting_.dev, A_, b, x, options, found);
    });
    return report;
  }
  device_group group() const { return device_group::cuda(setting_.options.gpus, setting_.A.cpu().threads()); }

  method_setting setting_;
  diagonals<T> own_;  // empty where those of the operand serve
  tridiagonal_view<const T> A_;
};

template <class Single, class Double>
std::unique_ptr<ready_batch> make_ready_batch(const method_setting& setting) {
  if (setting.taken.precision == working_precision::single) return std::make_unique<Single>(setting);
  return std::make_unique<Double>(setting);
}

std::string refuse(const structure_facts& facts) {
  return facts.bandwidth() <= 1 ? "" : "the matrix is not tridiagonal";
}

// Conjugate gradients solve what has the constants as null space, where the right-hand side allows it.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  if (facts.form == matrix_form::dense || options.prefer_iterations) return {};
  if (facts.form == matrix_form::tridiagonal)
    return prediction{20 * static_cast<double>(facts.matrix.rows), 0, "tridiagonal", {}};
  if (!options.gpus.empty()) return {};  // which share batches alone
  if (facts.matrix.row_sums_zero && not_spd_reason(facts.matrix).empty()) return {};
  return prediction{20 * static_cast<double>(facts.matrix.rows), 0, "tridiagonal", {}};
}

device_choice choose(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "solving costs less than sending the matrix to a GPU"};
}

template <tridiagonal_method kind>
constexpr method line(const char* name) {
  return {.name = name,
          .title = name,
          .takes = {matrix_form::tridiagonal},
          .direct = true,
          .options = {method_option::several_gpus},
          .precisions = {working_precision::double_, working_precision::single, working_precision::mixed},
          .on_cuda = {false, true},
          .refuse = refuse,
          .advise =
              [](const method& self) {
                return std::string("--method ") + self.name + " solves tridiagonal systems only";
              },
          .predict = kind == tridiagonal_method::automatic ? predict : nullptr,
          .choose = choose,
          .make = make_ready<ready<float, kind>, ready<double, kind>>,
          .make_batch = make_ready_batch<ready_systems<float, kind>, ready_systems<double, kind>>};
}

}  // namespace

constinit const method tridiagonal_band = line<tridiagonal_method::automatic>("band");
constinit const method tridiagonal_thomas = line<tridiagonal_method::thomas>("thomas");
constinit const method tridiagonal_reduction = line<tridiagonal_method::cyclic_reduction>("cyclic-reduction");
constinit const method tridiagonal_pcr = line<tridiagonal_method::pcr>("pcr");
constinit const method tridiagonal_partition = line<tridiagonal_method::partition>("partition");

}  // namespace vouch
