#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/gpu_factors.hpp>
#include <vouch/solve/direct/module_factors.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// -1 where there is none.
template <real T>
std::int64_t first_zero_row(csr_view<const T> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    if (std::all_of(A.val + A.row_ptr[i], A.val + A.row_ptr[i + 1], [](T value) { return value == 0; }))
      return i;
  return -1;
}

// The first module that takes A; nothing where none is there that `auto` may take. A module that was asked for by
// name, or all of them, may throw.
std::unique_ptr<module_factors> factorise_by_module(int kind, const std::string& asked,
                                                    csr_view<const double> A, bool complex_symmetric = false) {
  const std::vector<const vouch_backend*> all = backends_for(kind, asked, complex_symmetric);
  for (std::size_t k = 0; k < all.size(); ++k) {
    try {
      return std::make_unique<module_factors>(*all[k], kind, A, complex_symmetric);
    } catch (const value_error&) {  // the next one may take it
      if (k + 1 == all.size()) throw;
    }
  }
  return {};
}

void require_residual_goal(const method_setting& setting) {
  if (!setting.options.goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

// matrix gives it on the CPU, where it is needed.
template <real T, class Matrix>
void name_empty_row(const Matrix& matrix, std::vector<solve_report>& reports) {
  std::optional<std::int64_t> row;
  for (solve_report& report : reports) {
    if (report.status != solve_status::breakdown) continue;
    if (!row) row = first_zero_row<T>(matrix());
    if (*row >= 0) report.reason += "; row " + std::to_string(*row + 1) + " holds nothing but zeros";
  }
}

// Factors that only modules make.
template <int kind>
class ready_by_module final : public method_in<double> {
 public:
  explicit ready_by_module(const method_setting& setting)
      : method_in<double>(setting), A_(setting.A.sparse(setting.dev)) {
    timed(setting.times.setup, [&] {
      naming_the_matrix(setting, [&] {
        require_residual_goal(setting);
        const bool complex_symmetric = kind == VOUCH_FACTORS_LDLT && setting.A.facts().matrix.complex_symmetric;
        factors_ = factorise_by_module(kind, setting.options.backend, A_, complex_symmetric);
        if (!factors_) throw value_error(missing_backends(kind), "--method sparse-lu needs no library");
      });
    });
  }
  std::int64_t at_once(std::int64_t columns) const override { return columns; }
  bool renew() override {
    timed(setting().times.setup, [&] {
      naming_the_matrix(setting(), [&] {
        A_ = setting().A.sparse(setting().dev);
        factors_->factorise(A_);
      });
    });
    return true;
  }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const double> b, view<double> x,
                                const stopping_criterion& goal) override {
    return naming_the_matrix(setting(), [&] {
      std::vector<solve_report> reports =
          A_.rows == A_.cols ? factors_->solve(where(), setting().taken.method->name, A_, columns, b, x, goal)
                             : factors_->solve_least_squares(where(), A_, columns, b, x, goal);
      name_empty_row<double>([&] { return A_; }, reports);
      return reports;
    });
  }

  csr_view<const double> A_;
  std::unique_ptr<module_factors> factors_;
};

// LU: by a module, or by Vouch itself.
template <real T>
class ready_lu final : public method_in<T> {
 public:
  explicit ready_lu(const method_setting& setting) : method_in<T>(setting), placed_(place_sparse<T>(setting)) {
    const std::string& asked = setting.options.backend;
    timed(setting.times.setup, [&] {
      naming_the_matrix(setting, [&] {
        if constexpr (sizeof(T) == sizeof(double)) {
          require_residual_goal(setting);
          const bool small = placed_.A.nonzeros < least_nonzeros_of_modules;
          if (asked != "own" && !(asked == "auto" && small)) take_module(asked);
          if (module_) return;
        } else if (asked != "auto" && asked != "own") {
          throw value_error("the back ends of other libraries factorise in double precision",
                            "take --backend own");
        }
        factors_ = factorise<T>(setting.dev, placed_.A);
      });
    });
  }
  std::int64_t at_once(std::int64_t columns) const override { return module_ ? columns : 1; }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }
  bool renew() override {
    if constexpr (sizeof(T) == sizeof(double)) {
      if (!module_) return false;
      timed(this->setting().times.setup, [&] {
        naming_the_matrix(this->setting(), [&] {
          placed_.A = this->setting().A.sparse(this->setting().dev);
          module_->factorise(placed_.A);
        });
      });
      return true;
    } else {
      return false;
    }
  }

 private:
  void take_module(const std::string& asked) {
    try {
      module_ = factorise_by_module(VOUCH_FACTORS_LU, asked, placed_.A);
    } catch (const value_error&) {  // Vouch itself may
      if (asked != "auto") throw;
    }
  }
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return naming_the_matrix(this->setting(), [&] {
      std::vector<solve_report> reports = factored(columns, b, x, goal);
      name_empty_row<T>([&] { return placed_.A; }, reports);
      return reports;
    });
  }
  std::vector<solve_report> factored(std::int64_t columns, view<const T> b, view<T> x,
                                     const stopping_criterion& goal) {
    if constexpr (sizeof(T) == sizeof(double))
      if (module_) return module_->solve(this->where(), "sparse-lu", placed_.A, columns, b, x, goal);
    return {sparse_lu<T>(this->where(), placed_.A, factors_, b, x, goal)};
  }

  placed_csr<T> placed_;
  std::unique_ptr<module_factors> module_;  // in place of the own factors
  lu_factors<T> factors_;
};

cudss::kind kind_on_gpu(int kind, const structure_facts& A) {
  if (kind == VOUCH_FACTORS_CHOLESKY) return cudss::kind::cholesky;
  if (kind == VOUCH_FACTORS_LDLT) return A.symmetric ? cudss::kind::ldlh : cudss::kind::ldlt;
  return cudss::kind::lu;
}

// Factors in precision F of a matrix in precision T, by cuDSS; made when it is known how many columns there are.
template <int kind, real T, real F>
class ready_on_gpu final : public method_in<T> {
 public:
  explicit ready_on_gpu(const method_setting& setting)
      : method_in<T>(setting), placed_(place_sparse<T>(setting)) {
    naming_the_matrix(setting, [&] { require_residual_goal(setting); });
  }
  std::int64_t at_once(std::int64_t columns) const override { return columns; }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }
  bool renew() override {
    if constexpr (sizeof(T) == sizeof(double)) {
      const method_setting& setting = this->setting();
      placed_ = place_sparse<T>(setting);
      timed(setting.times.setup, [&] {
        naming_the_matrix(setting, [&] {
          if (factors_) factors_->factorise(placed_.A);
        });
      });
      return true;
    } else {
      return false;
    }
  }

 private:
  // Up to that many columns have the same bits on every run, and are solved for one after another. Factors for many of
  // them that are used for a few later stay.
  void make_for(std::int64_t columns) {
    constexpr std::int64_t few = 7;
    const bool same_bits = columns <= few;
    if (factors_ && (same_bits || factors_->takes_columns())) return;
    const method_setting& setting = this->setting();
    factors_.reset();
    factors_.emplace(setting.dev, kind_on_gpu(kind, setting.A.facts().matrix), placed_.A,
                     cudss::working{setting.A.cpu().threads(), same_bits});
  }
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    const method_setting& setting = this->setting();
    return naming_the_matrix(setting, [&] {
      double seconds = 0;
      timed(seconds, [&] { make_for(columns); });
      std::vector<solve_report> reports =
          factors_->solve(setting.taken.method->name, placed_.A, columns, b, x, goal);
      reports.front().setup_seconds += seconds;
      name_empty_row<double>([&] { return setting.A.sparse(setting.A.cpu()); }, reports);
      return reports;
    });
  }

  placed_csr<T> placed_;
  std::optional<gpu_factors<T, F>> factors_;
};

template <int kind>
std::unique_ptr<ready_method> make_on_gpu(const method_setting& setting) {
  if (setting.mixed()) return std::make_unique<ready_on_gpu<kind, double, float>>(setting);
  return make_ready<ready_on_gpu<kind, float, float>, ready_on_gpu<kind, double, double>>(setting);
}

std::string reason(const system_facts& facts, bool looks_definite) {
  if (facts.form == matrix_form::dense) return "dense";
  if (looks_definite && facts.elimination)
    return "sparse, elimination is predicted to be faster than iterations";
  if (looks_definite) return "sparse, symmetric with a positive diagonal";
  return facts.matrix.symmetric ? "sparse, not positive definite" : "sparse, not symmetric";
}

// Last where its work is not known, or where conjugate gradients cope with a null space.
std::optional<prediction> predict_lu(const system_facts& facts, const solve_options&) {
  const structure_facts& A = facts.matrix;
  const bool dense = facts.form == matrix_form::dense, looks_definite = not_spd_reason(A).empty();
  if (dense && facts.dense_factors) return {};
  double work = std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(A.rows);
  if (dense)
    work = elimination_work({n * n, 2 * n * n * n / 3}, A.nonzeros);
  else if (!(looks_definite && A.row_sums_zero))
    work = elimination_work(facts);
  return prediction{work, 0, reason(facts, looks_definite), {}};
}

// Complex symmetric matrices have no symmetric real form.
std::string refuse_ldlt(const structure_facts& A) {
  return A.complex_symmetric ? std::string() : not_symmetric_reason(A);
}

// As LU, which comes after them in the table and so in a plan.
std::optional<prediction> predict_cholesky(const system_facts& facts, const solve_options& options) {
  const bool there = facts.libraries.has(sparse_factors::cholesky) && facts.form == matrix_form::sparse;
  return there ? predict_lu(facts, options) : std::nullopt;
}

std::optional<prediction> predict_ldlt(const system_facts& facts, const solve_options& options) {
  const bool there = facts.libraries.has(sparse_factors::ldlt) && facts.form == matrix_form::sparse &&
                     !not_spd_reason(facts.matrix).empty();
  return there ? predict_lu(facts, options) : std::nullopt;
}

// Nor where the library that was asked for makes other factors of such a matrix.
std::optional<prediction> predict_any_lu(const system_facts& facts, const solve_options& options) {
  const bool asked = options.backend != "auto" && options.backend != "own" && facts.form == matrix_form::sparse;
  const set_of<sparse_factors>& libraries = facts.libraries;
  const bool other = (libraries.has(sparse_factors::cholesky) && not_spd_reason(facts.matrix).empty()) ||
                     (libraries.has(sparse_factors::ldlt) && refuse_ldlt(facts.matrix).empty());
  if (asked && other && !libraries.has(sparse_factors::lu)) return {};
  return predict_lu(facts, options);
}

// The last resort of square systems, singular ones that have a solution. What has more columns than rows first, as
// iterations do not find its shortest solution, unless the factors may be too large to try.
std::optional<prediction> predict_qr(const system_facts& facts, const solve_options&) {
  constexpr std::int64_t many_nonzeros = std::int64_t{1} << 22;
  const structure_facts& A = facts.matrix;
  if (!facts.libraries.has(sparse_factors::qr) || (A.square && facts.form != matrix_form::sparse)) return {};
  double work = std::numeric_limits<double>::infinity();
  if (A.cols > A.rows && A.nonzeros <= many_nonzeros)
    work = 0;
  else if (!A.square && facts.elimination)
    work = elimination_work(*facts.elimination, A.nonzeros, eliminator::library);
  return prediction{work, 0, A.square ? "sparse, of any rank" : "not square", {}};
}

device_choice choose_cpu(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "sparse factorisations run there"};
}

// cuDSS where it was asked for.
device_choice choose(const system_facts& facts, const solve_options& options, int threads) {
  if (!facts.factorised_on_gpu) return choose_cpu(facts, options, threads);
  const device best = device::best();
  if (!best.is_cuda())
    throw no_cuda_error(
        std::string("the back end ") + cudss::backend_name + " factorises on a GPU, and there is none",
        "--backend auto takes what the CPU has");
  return {best, "cuDSS factorises there"};
}

// And where it is not asked for, if it is there: worth says whether to start CUDA for it.
device_choice choose_unasked(const system_facts& facts, const solve_options& options, int threads, bool worth,
                             const char* why) {
  if (facts.factorised_on_gpu || options.backend != "auto" || !worth || !cuda_may_be_present() ||
      !cudss::is_installed())
    return choose(facts, options, threads);
  const device best = device::best();
  if (!best.is_cuda()) return choose_cpu(facts, options, threads);
  return {best, why};
}

device_choice choose_for_symmetric(const system_facts& facts, const solve_options& options, int threads) {
  return choose_unasked(facts, options, threads, !is_backend_there(VOUCH_FACTORS_LDLT),
                        "cuDSS alone makes such factors");
}

// Where CHOLMOD would take longer than cuDSS with the start of CUDA, a second. Where there are no square roots it pivots
// within blocks alone, and replaces pivots that are too small: not without being asked.
device_choice choose_for_definite(const system_facts& facts, const solve_options& options, int threads) {
  constexpr std::int64_t many_nonzeros = std::int64_t{1} << 20;
  constexpr double many_operations = 1e10;
  const bool large =
      facts.elimination ? facts.elimination->flops >= many_operations : facts.matrix.nonzeros >= many_nonzeros;
  return choose_unasked(facts, options, threads, large, "cuDSS is faster for this size");
}

std::string advise(const method&) { return "--method sparse-lu takes any square matrix"; }

// Of what sparse matrices are made into.
constexpr method line(const char* name, sparse_factors makes, decltype(method::predict) predict,
                      decltype(method::make) make) {
  return {.name = name,
          .title = name,
          .takes = {matrix_form::sparse},
          .direct = true,
          .options = {method_option::backend},
          .precisions = {working_precision::double_},
          .on_cuda = {false, true},
          .refuse = nullptr,
          .advise = advise,
          .predict = predict,
          .choose = choose,
          .make = make,
          .makes = makes,
          .more_on_cuda = {working_precision::single, working_precision::mixed}};
}

template <int kind>
std::unique_ptr<ready_method> make_by_library(const method_setting& setting) {
  if constexpr (kind != VOUCH_FACTORS_QR)
    if (setting.dev.is_cuda()) return make_on_gpu<kind>(setting);
  if constexpr (kind == VOUCH_FACTORS_LU)
    return make_ready<ready_lu<float>, ready_lu<double>>(setting);
  else
    return std::make_unique<ready_by_module<kind>>(setting);
}

constexpr method line_of_cholesky() {
  method m = line("sparse-cholesky", sparse_factors::cholesky, predict_cholesky,
                  make_by_library<VOUCH_FACTORS_CHOLESKY>);
  m.refuse = not_spd_reason;
  m.choose = choose_for_definite;
  return m;
}

constexpr method line_of_ldlt() {
  method m = line("sparse-ldlt", sparse_factors::ldlt, predict_ldlt, make_by_library<VOUCH_FACTORS_LDLT>);
  m.refuse = refuse_ldlt;
  m.choose = choose_for_symmetric;
  return m;
}

constexpr method line_of_lu() {
  method m = line("sparse-lu", sparse_factors::lu, predict_any_lu, make_by_library<VOUCH_FACTORS_LU>);
  m.precisions = {working_precision::double_, working_precision::single};
  return m;
}

constexpr method line_of_qr() {
  method m = line("sparse-qr", sparse_factors::qr, predict_qr, make_by_library<VOUCH_FACTORS_QR>);
  m.any_shape = true;
  m.on_cuda = {false};
  m.more_on_cuda = {};
  m.choose = choose_cpu;
  return m;
}

}  // namespace

constinit const method sparse_cholesky = line_of_cholesky();
constinit const method sparse_ldlt = line_of_ldlt();
constinit const method sparse_elimination = line_of_lu();
constinit const method sparse_orthogonalisation = line_of_qr();

}  // namespace vouch
