#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
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
                                                    csr_view<const double> A) {
  const std::vector<const vouch_backend*> all = backends_for(kind, asked);
  for (std::size_t k = 0; k < all.size(); ++k) {
    try {
      return std::make_unique<module_factors>(*all[k], kind, A);
    } catch (const value_error&) {  // the next one may take it
      if (k + 1 == all.size()) throw;
    }
  }
  return {};
}

void require_residual_goal(const method_setting& setting) {
  if (!setting.options.goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

template <real T>
void name_empty_row(csr_view<const T> A, std::vector<solve_report>& reports) {
  std::optional<std::int64_t> row;
  for (solve_report& report : reports) {
    if (report.status != solve_status::breakdown) continue;
    if (!row) row = first_zero_row(A);
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
        factors_ = factorise_by_module(kind, setting.options.backend, A_);
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
      name_empty_row<double>(A_, reports);
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
      name_empty_row<T>(placed_.A, reports);
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
  else if (facts.elimination && !(looks_definite && A.row_sums_zero))
    work = elimination_work(*facts.elimination, A.nonzeros, has_library_to_eliminate(facts));
  return prediction{work, 0, reason(facts, looks_definite), {}};
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
                     (libraries.has(sparse_factors::ldlt) && facts.matrix.symmetric);
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
    work = elimination_work(*facts.elimination, A.nonzeros, true);
  return prediction{work, 0, A.square ? "sparse, of any rank" : "not square", {}};
}

device_choice choose(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "sparse factorisations run there"};
}

std::string advise(const method&) { return "--method sparse-lu takes any square matrix"; }

constexpr method line(const char* name, const char* title, decltype(method::predict) predict,
                      decltype(method::make) make) {
  return {.name = name,
          .title = title,
          .takes = {matrix_form::sparse},
          .direct = true,
          .options = {method_option::backend},
          .precisions = {working_precision::double_},
          .on_cuda = {false},
          .refuse = nullptr,
          .advise = advise,
          .predict = predict,
          .choose = choose,
          .make = make};
}

template <int kind>
constexpr method line_by_module(const char* name, decltype(method::predict) predict,
                                decltype(method::refuse) refuse) {
  method m = line(name, name, predict, [](const method_setting& setting) {
    return std::unique_ptr<ready_method>(std::make_unique<ready_by_module<kind>>(setting));
  });
  m.refuse = refuse;
  return m;
}

constexpr method line_of_lu() {
  method m = line("sparse-lu", "sparse-lu", predict_any_lu, make_ready<ready_lu<float>, ready_lu<double>>);
  m.precisions = {working_precision::double_, working_precision::single};
  return m;
}

constexpr method line_of_qr() {
  method m = line_by_module<VOUCH_FACTORS_QR>("sparse-qr", predict_qr, nullptr);
  m.any_shape = true;
  return m;
}

}  // namespace

constinit const method sparse_cholesky =
    line_by_module<VOUCH_FACTORS_CHOLESKY>("sparse-cholesky", predict_cholesky, not_spd_reason);
constinit const method sparse_ldlt =
    line_by_module<VOUCH_FACTORS_LDLT>("sparse-ldlt", predict_ldlt, not_symmetric_reason);
constinit const method sparse_elimination = line_of_lu();
constinit const method sparse_orthogonalisation = line_of_qr();

}  // namespace vouch
