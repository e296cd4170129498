#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/direct/module_factors.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// Smaller matrices are factorised before a library has ordered them.
constexpr std::int64_t least_nonzeros_of_modules = std::int64_t{1} << 14;

// The modules to try, the best first; none where the own factors are to serve.
std::vector<const vouch_backend*> backends_for(const structure_facts& A, const std::string& asked) {
  require_backend(asked);
  if (asked == "own") return {};
  if (asked != "auto") {
    const vouch_backend* const b = find_backend(asked);
    if (const std::string reason = not_spd_reason(A); needs_definite(*b) && !reason.empty())
      throw value_error(reason + ", and " + asked + " needs a symmetric positive definite matrix",
                        "--backend auto takes what suits");
    return {b};
  }
  std::vector<const vouch_backend*> found;
  if (A.nonzeros < least_nonzeros_of_modules) return found;
  for (const char* name : {"cholmod", "umfpack"})
    if (const vouch_backend* const b = find_backend(name);
        b != nullptr && (!needs_definite(*b) || not_spd_reason(A).empty()))
      found.push_back(b);
  return found;
}

// -1 where there is none.
template <real T>
std::int64_t first_zero_row(csr_view<const T> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    if (std::all_of(A.val + A.row_ptr[i], A.val + A.row_ptr[i + 1], [](T value) { return value == 0; }))
      return i;
  return -1;
}

template <real T>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting), placed_(place_sparse<T>(setting)) {
    const structure_facts& facts = setting.A.facts().matrix;
    timed(setting.times.setup, [&] {
      if constexpr (sizeof(T) == sizeof(double)) {
        if (!setting.options.goal.by_residual())
          throw value_error("a direct method ends by the residual alone");
        const bool any = setting.options.backend == "auto";
        for (const vouch_backend* backend : backends_for(facts, setting.options.backend)) {
          try {
            module_.emplace(*backend, placed_.A);
          } catch (const value_error&) {  // the next one may take it
            if (!any) throw;
            continue;
          }
          if (module_->failed() == 0 || !module_->needs_definite() || !any) return;
          module_.reset();
        }
      } else if (setting.options.backend != "auto" && setting.options.backend != "own") {
        throw value_error("the back ends of other libraries factorise in double precision",
                          "take --backend own");
      }
      factors_ = factorise<T>(setting.dev, placed_.A);
    });
  }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return naming_the_matrix(this->setting(), [&]() -> std::vector<solve_report> {
      solve_report report = factored(b, x, goal);
      if (report.status == solve_status::breakdown)
        if (const std::int64_t row = first_zero_row(placed_.A); row >= 0)
          report.reason += "; row " + std::to_string(row + 1) + " holds nothing but zeros";
      return {std::move(report)};
    });
  }
  solve_report factored(view<const T> b, view<T> x, const stopping_criterion& goal) {
    if constexpr (sizeof(T) == sizeof(double))
      if (module_) return module_->solve(this->where(), placed_.A, b, x, goal);
    return sparse_lu<T>(this->where(), placed_.A, factors_, b, x, goal);
  }

  placed_csr<T> placed_;
  std::optional<module_factors> module_;  // in place of the own factors
  lu_factors<T> factors_;
};

std::string reason(const system_facts& facts, bool looks_definite) {
  if (facts.form == matrix_form::dense) return "dense";
  if (looks_definite && facts.elimination)
    return "sparse, elimination is predicted to be faster than iterations";
  return facts.matrix.symmetric ? "sparse, not positive definite" : "sparse, not symmetric";
}

// Last where its work is not known, or where conjugate gradients cope with a null space.
std::optional<prediction> predict(const system_facts& facts, const solve_options&) {
  const structure_facts& A = facts.matrix;
  const bool dense = facts.form == matrix_form::dense, looks_definite = not_spd_reason(A).empty();
  if (dense && facts.dense_factors) return {};
  double work = std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(A.rows);
  if (dense)
    work = elimination_work({n * n, 2 * n * n * n / 3}, A.nonzeros);
  else if (facts.elimination && !(looks_definite && A.row_sums_zero))
    work = elimination_work(*facts.elimination, A.nonzeros);
  return prediction{work, 0, reason(facts, looks_definite), {}};
}

device_choice choose(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "sparse factorisations run there"};
}

}  // namespace

constinit const method sparse_elimination{.name = "sparse-lu",
                                          .title = "sparse-lu",
                                          .takes = {matrix_form::sparse},
                                          .direct = true,
                                          .options = {method_option::backend},
                                          .precisions = {working_precision::double_, working_precision::single},
                                          .on_cuda = {false},
                                          .refuse = nullptr,
                                          .advise = nullptr,
                                          .predict = predict,
                                          .choose = choose,
                                          .make = make_ready<ready<float>, ready<double>>};

}  // namespace vouch
