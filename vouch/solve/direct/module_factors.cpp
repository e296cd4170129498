#include <vouch/solve/direct/module_factors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/module_file.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/factored_solve.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/loop/least_squares_loop.hpp>
#include <vouch/sparse/inverse_norm.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

struct known_module {
  const char* name;
  const char* package;
};
constexpr known_module known[] = {{"cholmod", "libsuitesparse-dev"},
                                  {"umfpack", "libsuitesparse-dev"},
                                  {"klu", "libsuitesparse-dev"},
                                  {"spqr", "libsuitesparse-dev"},
                                  {"mumps", "libmumps-seq-dev"}};

// Those that auto takes for a kind of factors.
std::vector<std::string> names_for(int kind) {
  switch (kind) {
    case VOUCH_FACTORS_CHOLESKY:
      return {"cholmod"};
    case VOUCH_FACTORS_LDLT:
      return {"mumps"};
    case VOUCH_FACTORS_QR:
      return {"spqr"};
    default:
      return {"umfpack", "mumps"};
  }
}

struct module_state {
  const vouch_backend* backend = nullptr;
  std::string missing;
};

std::string file_of(const std::string& name) { return "vouch-backend-" + name + ".so"; }

module_state load(const known_module& module) {
  const opened_module opened = open_module(file_of(module.name), VOUCH_BACKEND_FUNCTION, module.package);
  if (opened.function == nullptr) return {nullptr, opened.missing};
  const vouch_backend* const backend = reinterpret_cast<vouch_backend_function*>(opened.function)();
  if (backend == nullptr || backend->abi != VOUCH_BACKEND_ABI || std::string(backend->name) != module.name)
    return {nullptr, file_of(module.name) + " is no module of this version of Vouch: build both anew"};
  return {backend, ""};
}

// Each is opened when it is first asked for.
const module_state& module_of(std::size_t k) {
  static std::array<std::once_flag, std::size(known)> asked;
  static std::array<module_state, std::size(known)> all;
  std::call_once(asked[k], [k] { all[k] = load(known[k]); });
  return all[k];
}

// Whether its file is there, which does not load it.
bool has_file(std::size_t k) {
  static std::array<std::once_flag, std::size(known)> asked;
  static std::array<bool, std::size(known)> all;
  std::call_once(asked[k], [k] { all[k] = !find_module(file_of(known[k].name)).empty(); });
  return all[k];
}

}  // namespace

std::span<const std::string_view> sparse_backend_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all{"auto", "own"};
    for (const known_module& module : known) all.emplace_back(module.name);
    all.emplace_back(cudss::backend_name);
    return all;
  }();
  return names;
}

std::optional<sparse_backend> find_sparse_backend(std::string_view name) {
  if (name == "own") return sparse_backend{"own", "Vouch", ""};
  if (name == cudss::backend_name)
    return sparse_backend{cudss::backend_name, cudss::name(), cudss::missing(), true};
  for (std::size_t k = 0; k < std::size(known); ++k) {
    if (name != known[k].name) continue;
    const module_state& m = module_of(k);
    return sparse_backend{known[k].name, m.backend != nullptr ? m.backend->library : "", m.missing};
  }
  return {};
}

const std::vector<sparse_backend>& sparse_backends() {
  static const std::vector<sparse_backend> all = [] {
    std::vector<sparse_backend> list;
    for (const std::string_view name : sparse_backend_names())
      if (std::optional<sparse_backend> one = find_sparse_backend(name)) list.push_back(std::move(*one));
    return list;
  }();
  return all;
}

namespace {

const vouch_backend* find_backend(const std::string& name) {
  for (std::size_t k = 0; k < std::size(known); ++k)
    if (name == known[k].name) return module_of(k).backend;
  return nullptr;
}

const char* name_of(int kind) {
  switch (kind) {
    case VOUCH_FACTORS_CHOLESKY:
      return "Cholesky";
    case VOUCH_FACTORS_LDLT:
      return "L D L^T";
    case VOUCH_FACTORS_QR:
      return "QR";
    default:
      return "LU";
  }
}

// Of one that is there.
const vouch_backend& require_backend(const std::string& name) {
  for (std::size_t k = 0; k < std::size(known); ++k) {
    if (name != known[k].name) continue;
    const module_state& m = module_of(k);
    if (m.backend != nullptr) return *m.backend;
    throw value_error("the back end " + name + " cannot be had: " + m.missing,
                      "--backend auto takes what there is");
  }
  if (name == cudss::backend_name)
    throw value_error("the back end " + name + " factorises on a GPU", "take --device cuda, or --backend auto");
  std::string all;
  for (const std::string_view known_name : sparse_backend_names())
    all += (all.empty() ? "" : ", ") + std::string(known_name);
  throw value_error("there is no back end " + name, "take one of " + all);
}

}  // namespace

std::vector<const vouch_backend*> backends_for(int kind, const std::string& asked, bool complex) {
  const auto makes = [&](const vouch_backend& b) {
    return ((complex ? b.complex_factors : b.factors) & kind) != 0;
  };
  if (asked != "auto") {
    if (asked == "own")
      throw value_error(
          std::string("Vouch makes no ") + name_of(kind) + " factors of sparse matrices by itself",
          "--backend auto takes the library that does");
    const vouch_backend& b = require_backend(asked);
    if (!makes(b))
      throw value_error("the back end " + asked + " makes no " + name_of(kind) + " factors" +
                            (complex ? " of complex matrices" : ""),
                        "--backend auto takes what suits");
    return {&b};
  }
  std::vector<const vouch_backend*> found;
  for (const std::string& name : names_for(kind))
    if (const vouch_backend* const b = find_backend(name); b != nullptr && makes(*b)) found.push_back(b);
  return found;
}

bool is_backend_there(int kind, const std::string& asked) {
  if (asked != "auto") {
    const vouch_backend* const b = find_backend(asked);
    return b != nullptr && (b->factors & kind) != 0;
  }
  for (const std::string& name : names_for(kind))
    for (std::size_t k = 0; k < std::size(known); ++k)
      if (name == known[k].name && has_file(k)) return true;
  return false;
}

std::string missing_backends(int kind) {
  std::string why;
  for (const std::string& name : names_for(kind))
    for (std::size_t k = 0; k < std::size(known); ++k)
      if (name == known[k].name) why += (why.empty() ? "" : "; ") + module_of(k).missing;
  return std::string("no library makes ") + name_of(kind) + " factors: " + why;
}

// For one solve; A, its residuals and the factors live elsewhere.
class module_factors::factors final : public factorisation<double> {
 public:
  explicit factors(module_factors& all) : all_(all) {}
  std::int64_t failed() const override { return all_.failed_; }
  bool orders_rows() const override { return true; }
  bool needs_definite() const override { return all_.needs_definite(); }
  void solve(double* x) override { all_.apply(x, false, 1); }
  void solve_columns(double* x, std::int64_t, std::int64_t columns) override { all_.apply(x, false, columns); }
  // Made once. It takes some ten solves, which read every entry twice.
  double inverse_norm() override {
    constexpr double operations_an_entry = 4000;  // from which on that is a twentieth of the factorisation
    if (all_.found_.flops < operations_an_entry * all_.found_.entries)
      return std::numeric_limits<double>::quiet_NaN();
    if (!all_.inverse_norm_)
      all_.inverse_norm_ = estimate_inverse_norm<double>(
          all_.rows_, [&](double* x) { all_.apply(x, false, 1); }, [&](double* x) { all_.apply(x, true, 1); });
    return *all_.inverse_norm_;
  }
  std::string name() const override { return all_.name_; }
  std::string backend() const override { return all_.backend_->name; }
  bool reproducible() const override { return false; }
  std::optional<inertia> signs() const override { return all_.signs(); }
  std::optional<std::int64_t> rank() const override { return all_.rank(); }

 private:
  module_factors& all_;
};

namespace {

vouch_backend_matrix to_module(csr_view<const double> A) {
  return {A.rows, A.cols, A.row_ptr, A.col, A.val, 0};
}
vouch_backend_matrix to_module(const number_matrix<double>& A) {
  return {A.rows, A.rows, A.row_ptr.data(), A.col.data(), A.val.data(), A.complex ? 1 : 0};
}

void require_finite(csr_view<const double> A) {
  for (std::int64_t k = 0; k < A.nonzeros; ++k)
    if (!std::isfinite(A.val[k])) throw value_error("the matrix holds a NaN or an infinity");
}

constexpr vouch_backend_result nothing_known{0, -1, -1, -1, 0, 0, 0};

}  // namespace

std::optional<elimination_cost> predict_factors(int kind, csr_view<const double> A) {
  const ieee_environment here;
  const std::vector<const vouch_backend*> all = backends_for(kind, "auto");
  if (all.empty() || A.rows == 0 || A.cols == 0) return {};
  const vouch_backend& backend = *all.front();
  const vouch_backend_matrix matrix = to_module(A);
  vouch_backend_result found = nothing_known;
  void* made = nullptr;
  const int status = backend.analyse(kind, &matrix, &made, &found);
  if (made != nullptr) backend.release(made);
  if (status != VOUCH_BACKEND_DONE || found.entries == 0) return {};
  return elimination_cost{found.entries, found.flops};
}

module_factors::module_factors(const vouch_backend& backend, int kind, csr_view<const double> A,
                               bool complex_symmetric)
    : backend_(&backend),
      kind_(kind),
      made_(nullptr, backend.release),
      rows_(A.rows),
      as_complex_((backend.complex_factors & kind) != 0 && (kind != VOUCH_FACTORS_LDLT || complex_symmetric)),
      name_(backend.library) {
  const ieee_environment here;
  require_finite(A);
  if (A.rows == 0 || A.cols == 0) return;
  make(A, complex_form(A));
}

std::optional<number_matrix<double>> module_factors::complex_form(csr_view<const double> A) const {
  if (!as_complex_) return {};
  return find_complex_form(device::cpu(1), A);
}

void module_factors::make(csr_view<const double> A, const std::optional<number_matrix<double>>& form) {
  complex_ = form.has_value();
  const vouch_backend_matrix matrix = form ? to_module(*form) : to_module(A);
  found_ = nothing_known;
  failed_ = 0;
  void* made = nullptr;
  const int status = backend_->analyse(kind_, &matrix, &made, &found_);
  made_.reset(made);
  if (status == VOUCH_BACKEND_REFUSED && A.nonzeros == 0)
    failed_ = 1;  // singular, whatever its size
  else
    take_status(status);
  if (failed_ > 0) return;
  require_room();
  factorise(matrix);
}

// What is left is asked for where it may be too little: to read it takes as long as a small system.
void module_factors::require_room() const {
  constexpr double worth_asking = 0x1p28;
  if (!(found_.bytes > worth_asking)) return;
  const std::int64_t free = device::cpu(1).memory_free();
  if (found_.bytes > static_cast<double>(free))
    throw out_of_memory(std::string("the factors of ") + backend_->library,
                        static_cast<std::int64_t>(std::min(found_.bytes, 0x1p62)), free);
}

void module_factors::factorise(csr_view<const double> A) {
  const ieee_environment here;
  require_finite(A);
  if (made_ == nullptr) return;
  const std::optional<number_matrix<double>> form = complex_form(A);
  if (form.has_value() != complex_) return make(A, form);
  factorise(form ? to_module(*form) : to_module(A));
}

void module_factors::factorise(const vouch_backend_matrix& matrix) {
  found_ = nothing_known;
  failed_ = 0;
  inverse_norm_.reset();
  take_status(backend_->factorise(made_.get(), &matrix, &found_));
  name_ = std::string(backend_->library) + (complex_ ? ", complex numbers" : "") +
          string_printf(", %.4g entries in the factors, %.3g operations", found_.entries, found_.flops);
}

void module_factors::take_status(int status) {
  switch (status) {
    case VOUCH_BACKEND_DONE:
      return;
    case VOUCH_BACKEND_SINGULAR:
    case VOUCH_BACKEND_INDEFINITE:
      failed_ = std::max<std::int64_t>(1, found_.failed_at);
      return;
    case VOUCH_BACKEND_OUT_OF_MEMORY:
      throw out_of_memory(backend_->library, static_cast<std::int64_t>(found_.bytes),
                          device::cpu(1).memory_free());
    default:
      throw value_error(std::string(backend_->library) + " does not take this matrix",
                        "take another --backend or --method");
  }
}

std::optional<inertia> module_factors::signs() const {
  if (failed_ > 0 || found_.negative < 0 || found_.zero < 0) return {};
  // Those of a complex matrix are twice in its real form.
  const std::int64_t times = complex_ ? 2 : 1, negative = times * found_.negative, zero = times * found_.zero;
  return inertia{rows_ - negative - zero, negative, zero};
}

std::optional<std::int64_t> module_factors::rank() const {
  if (failed_ > 0) return {};
  if (found_.rank >= 0) return complex_ ? 2 * found_.rank : found_.rank;
  if (const std::optional<inertia> all = signs()) return rows_ - all->zero;
  return {};
}

void module_factors::apply(double* x, bool transposed, std::int64_t columns) {
  rhs_.assign(x, x + columns * rows_);
  apply(rhs_.data(), x, transposed, columns);
}

void module_factors::apply(const double* b, double* x, bool transposed, std::int64_t columns) {
  if (made_ == nullptr) return;
  if (backend_->solve(made_.get(), transposed ? 1 : 0, columns, b, x) != 0)
    throw value_error(std::string(backend_->library) + " could not solve with its factors");
}

std::vector<solve_report> module_factors::solve(const device& dev, const char* method, csr_view<const double> A,
                                                std::int64_t columns, view<const double> b, view<double> x,
                                                const stopping_criterion& goal) {
  const ieee_environment here;
  const stopwatch setup;
  const valid_csr valid(method, dev, A);
  const std::int64_t n = A.rows;
  check_direct_request(n * columns, b.size(), x.size(), goal);
  std::vector<checked_column<double>> all;
  for (std::int64_t j = 0; j < columns; ++j) {
    const view<const double> rhs(b.data() + j * n, n);
    all.push_back({{dev, n,
                    [&dev, A, rhs, n](const double* hi, const double* lo, double* r) {
                      return residual<double>(dev, A, rhs, {hi, n}, lo, {r, n});
                    }},
                   {x.data() + j * n, n},
                   {}});
  }
  factored_solve<double>(
      all, method, setup, [&] { return std::make_unique<factors>(*this); }, goal);
  std::vector<solve_report> reports;
  for (checked_column<double>& c : all) reports.push_back(std::move(c.report));
  return reports;
}

// d := the pseudoinverse times r.
class module_factors::least_squares_engine final : public inner_solver<double> {
 public:
  explicit least_squares_engine(module_factors& all) : all_(all) {}
  std::string name() const override { return all_.name_; }
  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log&) override {
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, 0};
    all_.apply(r, d, false, 1);
    return {solver_event::reached, 1, 0};
  }

 private:
  module_factors& all_;
};

std::vector<solve_report> module_factors::solve_least_squares(const device& dev, csr_view<const double> A,
                                                              std::int64_t columns, view<const double> b,
                                                              view<double> x, const stopping_criterion& goal) {
  const ieee_environment here;
  const valid_csr valid("sparse-qr", dev, A);
  const csr<double> transposed = transpose<double>(dev, A);
  least_squares_engine engine(*this);
  const bool wide = A.cols > A.rows;
  std::vector<solve_report> reports(static_cast<std::size_t>(columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    solve_report& report = reports[static_cast<std::size_t>(j)];
    const view<double> solution(x.data() + j * A.cols, A.cols);
    report.method = "sparse-qr";
    report.backend = backend_->name;
    report.precision = "double";
    report.preconditioner = "none";
    report.problem = wide ? "least-norm" : "least-squares";
    report.reproducible = false;
    report.rank = rank();
    // The shortest solution is made of corrections that are: of none, to begin with.
    if (wide) std::fill_n(solution.data(), solution.size(), 0.0);
    least_squares_solve<double>({dev, A, transposed.all(), {b.data() + j * A.rows, A.rows}}, engine, solution,
                                goal, report);
    report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();
    if (wide)
      judge_length(dev, transposed.all(), solution, goal, report);
    else if (report.rank.value_or(A.cols) < A.cols)
      report.warnings.emplace_back(
          "the columns of the matrix depend on one another: other x leave the same residual, shorter ones "
          "among them");
  }
  return reports;
}

// The shortest solution is a combination of rows, x = A' y: y solves least squares, and what is left of x is not that.
void module_factors::judge_length(const device& dev, csr_view<const double> transposed, view<double> x,
                                  const stopping_criterion& goal, solve_report& report) {
  if (report.status != solve_status::converged) return;
  array<double> y(dev, transposed.cols), left(dev, transposed.rows);
  apply(x.data(), y.data(), true, 1);
  const residual_facts facts = residual<double>(dev, transposed, x, y, nullptr, left);
  if (facts.norm2 <= goal.rtol.value_or(default_rtol<double>) * facts.rhs_norm2) return;
  report.status = solve_status::stagnated;
  report.reason = string_printf(
      "x solves the system, and its part of relative norm %.2g that is no combination of rows makes it longer "
      "than the shortest one",
      facts.norm2 / facts.rhs_norm2);
}

}  // namespace vouch
