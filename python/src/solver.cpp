// Solvers and proofs: classes that hold a matrix of the caller's and the library's solver for it.
#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <vouch/core/device_group.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/text/tokens.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

template <class T>
using matrix_out = nb::ndarray<T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using matrix_in = nb::ndarray<const T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

vouch::array<double> copy_of(vouch::view<const double> x) {
  return vouch::array<double>::from(vouch::device::cpu(1), {x.data(), static_cast<std::size_t>(x.size())});
}

// A function of Python as the action of a matrix or of a preconditioner: it takes and returns an array. What it throws
// ends the solve.
class python_action {
 public:
  python_action(std::int64_t rows, nb::object function) : rows_(rows), function_(std::move(function)) {}
  python_action(const python_action&) = delete;
  ~python_action() {
    const nb::gil_scoped_acquire lock;
    function_.reset();
  }
  std::int64_t rows() const { return rows_; }
  void apply(vouch::view<const double> x, vouch::view<double> y) const {
    const nb::gil_scoped_acquire lock;
    const auto n = static_cast<std::size_t>(x.size());
    const nb::object result = function_(to_numpy(copy_of(x)));
    const auto values = nb::cast<vector_in<double>>(result);
    if (values.size() != n)
      throw vouch::shape_error("the operator made " + std::to_string(values.size()) + " elements of " +
                               std::to_string(n));
    std::copy(values.data(), values.data() + n, y.data());
  }

 private:
  std::int64_t rows_;
  nb::object function_;
};

class python_operator final : public vouch::linear_operator<double>, public python_action {
 public:
  using python_action::python_action;
  std::int64_t rows() const override { return python_action::rows(); }
  void apply(const vouch::device&, vouch::view<const double> x, vouch::view<double> y) const override {
    python_action::apply(x, y);
  }
};

class python_preconditioner final : public vouch::preconditioner<double>, public python_action {
 public:
  using python_action::python_action;
  std::int64_t rows() const override { return python_action::rows(); }
  std::string name() const override { return "user"; }
  void apply(const vouch::device&, vouch::view<const double> r, vouch::view<double> z) const override {
    python_action::apply(r, z);
  }
};

// Calls back with iteration and residual, and with iterates; an exception ends the solve and is raised behind it.
class python_observer final : public vouch::solve_observer {
 public:
  python_observer(nb::object callback, nb::object iterates)
      : callback_(std::move(callback)), iterates_(std::move(iterates)) {}
  bool iteration(const vouch::iteration_record& record) override {
    return ask(callback_, [&] { return callback_(record.iteration, record.residual, record.column); });
  }
  bool wants_iterates() const override { return !iterates_.is_none(); }
  bool iterate(const vouch::iteration_record& record, vouch::view<const double> x) override {
    if (record.iteration == 0) return true;  // the start
    return ask(iterates_, [&] { return iterates_(to_numpy(copy_of(x))); });
  }
  void raise() {
    if (raised_) throw nb::python_error(std::move(*raised_));
  }

 private:
  template <class Call>
  bool ask(const nb::object& whom, const Call& call) {
    if (whom.is_none() || raised_) return !raised_;
    const nb::gil_scoped_acquire lock;
    try {
      const nb::object answer = call();
      return !(nb::isinstance<nb::bool_>(answer) && !nb::cast<bool>(answer));
    } catch (nb::python_error& e) {
      raised_ = std::make_unique<nb::python_error>(std::move(e));
      return false;
    }
  }

  nb::object callback_, iterates_;
  std::unique_ptr<nb::python_error> raised_;
};

// "auto", "cpu:THREADS", "cuda" or "cuda:N".
std::optional<vouch::device> device_of(const std::string& name) {
  if (name == "auto") return {};
  if (name == "cuda") return vouch::device::cuda(0);
  int number = -1, used = 0;
  const auto is = [&](const char* form) {
    return std::sscanf(name.c_str(), form, &number, &used) == 1 && number >= 0 &&
           static_cast<std::size_t>(used) == name.size();
  };
  if (is("cpu:%d%n")) return cpu_of(number);
  if (is("cuda:%d%n")) return vouch::device::cuda(number);
  throw vouch::value_error("device is " + name + ": auto, cpu, cuda, cuda:N, cuda:all or cuda:N,M,...");
}

// One vector a column.
std::shared_ptr<const vouch::near_nullspace> near_nullspace_of(matrix_in<double> vectors) {
  auto near = std::make_shared<vouch::near_nullspace>();
  near->vectors = static_cast<std::int64_t>(vectors.shape(1));
  near->values.assign(vectors.data(), vectors.data() + vectors.size());
  return near;
}

// One row a node.
std::shared_ptr<const vouch::near_nullspace> rigid_body_modes_of(matrix_in<double> coordinates) {
  return std::make_shared<vouch::near_nullspace>(
      vouch::rigid_body_modes({coordinates.data(), static_cast<std::int64_t>(coordinates.size())},
                              static_cast<int>(coordinates.shape(1))));
}

// |given - improved| + radius, rounded upwards.
vouch::array<double> farther(vouch::view<const double> given, vouch::view<const double> improved,
                             vouch::view<const double> radius) {
  const vouch::ieee_environment here;
  const auto up = [](double r) { return std::nextafter(r, std::numeric_limits<double>::infinity()); };
  vouch::array<double> sum(vouch::device::cpu(1), given.size());
  for (std::int64_t i = 0; i < given.size(); ++i)
    sum[i] = given[i] == improved[i] ? radius[i] : up(up(std::abs(given[i] - improved[i])) + radius[i]);
  return sum;
}

template <class Kind, std::size_t count>
Kind word_among(const std::string& option, nb::handle value, const std::array<std::string_view, count>& words) {
  const auto given = nb::cast<std::string>(value);
  if (const std::optional<Kind> found = vouch::find_word<Kind>(words, given)) return *found;
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  throw vouch::value_error(option + " is " + given + ": one of " + all);
}

using near_vectors = std::shared_ptr<const vouch::near_nullspace>;

void take_option(const std::string& name, nb::handle value, vouch::solve_options& o, near_vectors& near) {
  if (name == "method")
    o.method = nb::cast<std::string>(value);
  else if (name == "rtol")
    o.goal.rtol = nb::cast<double>(value);
  else if (name == "atol")
    o.goal.atol = nb::cast<double>(value);
  else if (name == "max_iterations")
    o.goal.max_iterations = nb::cast<std::int64_t>(value);
  else if (name == "fixed_iterations")
    o.goal.fixed_iterations = nb::cast<std::int64_t>(value);
  else if (name == "stop_recurrence")
    o.goal.stop_recurrence = nb::cast<double>(value);
  else if (name == "stop_mean_change")
    o.goal.stop_mean_change = nb::cast<double>(value);
  else if (name == "precision")
    o.precision = word_among<vouch::working_precision>(name, value, vouch::precision_words);
  else if (name == "precond")
    o.preconditioner = vouch::parse_preconditioner(nb::cast<std::string>(value));
  else if (name == "device") {
    const auto device = nb::cast<std::string>(value);
    if (vouch::names_several_gpus(device))
      o.gpus = vouch::gpus_named(std::string_view(device).substr(5));
    else
      o.run_on = device_of(device);
  } else if (name == "backend")
    o.backend = nb::cast<std::string>(value);
  else if (name == "omega")
    o.omega = nb::cast<double>(value);
  else if (name == "estimate_omega")
    o.estimate_omega = nb::cast<bool>(value);
  else if (name == "sweep")
    o.sweep = word_among<vouch::sweep_order>(name, value, vouch::sweep_words);
  else if (name == "ordering")
    o.ordering = word_among<vouch::sweep_ordering>(name, value, vouch::ordering_words);
  else if (name == "anderson")
    o.accelerate.anderson = nb::cast<int>(value);
  else if (name == "chebyshev")
    o.accelerate.chebyshev = nb::cast<bool>(value);
  else if (name == "near_nullspace")
    near = near_nullspace_of(nb::cast<matrix_in<double>>(value));
  else if (name == "coordinates")
    near = rigid_body_modes_of(nb::cast<matrix_in<double>>(value));
  else
    throw vouch::value_error("there is no option " + name);
}

vouch::solve_options options_of(const nb::dict& given) {
  vouch::solve_options o;
  near_vectors near;
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    try {
      take_option(name, value, o, near);
    } catch (const std::bad_cast&) {
      throw vouch::value_error(name + " is " + nb::repr(value).c_str() +
                               ", which is of another type than it takes");
    }
  }
  if (near && !(o.preconditioner && o.preconditioner->name == "amg"))
    throw vouch::value_error("near_nullspace and coordinates are for precond=\"amg\"");
  if (near) o.preconditioner->near = std::move(near);
  o.names = {"A", "b", "x0"};
  return o;
}

// Puts what describe() says of a result or a proof into a dict: None for what is not known.
struct into_dict {
  nb::dict dict;

  template <class T>
  void operator()(const char* key, const T& value) const {
    set(key, nb::cast(value));
  }
  void operator()(const char* key, double value) const {
    set(key, std::isfinite(value) ? nb::cast(value) : nb::none());
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    value ? (*this)(key, *value) : set(key, nb::none());
  }
  template <class Describe>
  void object(const char* key, const Describe& describe) const {
    const into_dict inner;
    describe(inner);
    set(key, inner.dict);
  }

 private:
  void set(const char* key, nb::object value) const { dict[key] = std::move(value); }
};

template <class T>
nb::dict described(const T& what) {
  const into_dict said;
  describe(what, said);
  return said.dict;
}

nb::dict report_of(const vouch::solve_report& r) {
  nb::dict d;
  d["status"] = vouch::name(r.status);
  d["reason"] = r.reason;
  d["method"] = r.method;
  d["engine"] = r.engine;
  d["precision"] = r.precision;
  d["backend"] = r.backend;
  d["preconditioner"] = r.preconditioner;
  d["problem"] = r.problem;
  d["rank"] = r.rank;
  d["inertia"] = nb::none();
  if (r.signs) {
    nb::dict signs;
    signs["positive"] = r.signs->positive;
    signs["negative"] = r.signs->negative;
    signs["zero"] = r.signs->zero;
    d["inertia"] = signs;
  }
  d["normal_equations"] = r.normal_equations;
  d["iterations"] = r.iterations;
  d["restarts"] = r.restarts;
  d["rhs_norm"] = r.rhs_norm;
  d["tolerance"] = r.tolerance;
  d["true_residual"] = r.true_residual;
  d["relative_residual"] = r.relative_true();
  d["recurrence_residual"] = std::isnan(r.recurrence_residual) ? nb::none() : nb::cast(r.recurrence_residual);
  d["backward_error"] = r.backward_error;
  d["attainable"] = r.attainable_relative;
  d["error_bound"] = r.error_bound;
  d["error_bound_source"] = r.error_bound_source;
  d["condition_estimate"] = r.condition_estimate;
  d["error_estimate"] = r.error_estimate;
  d["reproducible"] = r.reproducible;
  d["has_solution"] = vouch::has_solution(r.status);
  d["goal_reached"] = vouch::goal_reached(r.status);
  d["warnings"] = r.warnings;
  nb::list history;
  for (const vouch::iteration_record& line : r.history)
    history.append(nb::make_tuple(line.iteration, line.residual, line.column));
  d["history"] = history;
  return d;
}

nb::dict result_of(const vouch::solve_result& r) {
  nb::dict d = report_of(r);
  d["described"] = described(r);
  nb::list columns, attempts;
  if (r.columns.size() > 1)  // one says nothing new
    for (const vouch::solve_report& one : r.columns) columns.append(report_of(one));
  d["columns"] = columns;
  d["column"] = r.column;
  d["method_reason"] = r.method_reason;
  d["device"] = r.where.kind();
  d["device_reason"] = r.device_reason;
  for (const vouch::attempt_record& a : r.attempts) {
    nb::dict one;
    one["method"] = a.method;
    one["why"] = a.why;
    one["status"] = a.status ? nb::cast(std::string(vouch::name(*a.status))) : nb::none();
    one["reason"] = a.reason;
    one["iterations"] = a.iterations;
    attempts.append(one);
  }
  d["attempts"] = attempts;
  nb::dict times;
  times["setup"] = r.times.setup;
  times["transfer"] = r.times.transfer;
  times["solve"] = r.times.solve;
  times["cuda_start"] = r.times.cuda_start;
  d["times"] = times;
  if (r.batch) {
    d["systems_missed"] = r.batch->missed;
    d["first_missed"] = r.batch->first_missed;
  }
  return d;
}

nb::dict proof_of(vouch::solution_proof&& p) {
  nb::dict d;
  d["described"] = described(p);
  d["verified"] = p.verified;
  d["reached"] = p.reached;
  d["method"] = p.method;
  d["reason"] = p.reason;
  d["max_absolute"] = p.max_absolute;
  d["max_relative"] = p.max_relative;
  d["median_relative"] = p.median_relative;
  d["condition_estimate"] = p.condition_estimate;
  d["digits"] = p.digits;
  d["refinements"] = p.refinements;
  d["seconds"] = p.seconds;
  d["radius"] = to_numpy(std::move(p.radius));
  return d;
}

// The arrays belong to Python, and the Python object that has this one keeps them.
class solver {
 public:
  solver(std::int64_t rows, std::int64_t cols, nb::object indptr, vector_in<std::int32_t> indices,
         vector_in<double> data, const nb::dict& options, nb::object M, int threads)
      : options_(take(options, std::move(M), rows, cpu_of(threads))),
        kept_(nb::make_tuple(indptr, indices, data)) {
    const auto nonzeros = static_cast<std::int64_t>(data.size());
    const vouch::device cpu = cpu_of(threads);
    require_offsets(rows, nb::len(indptr));
    vector_in<std::int32_t> narrow;
    if (nb::try_cast(indptr, narrow, false)) {
      const vouch::csr32_view<const double> A{rows, cols, nonzeros, narrow.data(), indices.data(), data.data()};
      solver_ = without_lock([&] { return std::make_unique<vouch::solver>(cpu, A, options_); });
    } else {
      const auto wide = nb::cast<vector_in<std::int64_t>>(indptr);
      const vouch::csr_view<const double> A{rows, cols, nonzeros, wide.data(), indices.data(), data.data()};
      solver_ = without_lock([&] { return std::make_unique<vouch::solver>(cpu, A, options_); });
    }
  }
  solver(nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> A, bool by_rows, const nb::dict& options,
         nb::object M, int threads)
      : options_(take(options, std::move(M), static_cast<std::int64_t>(A.shape(0)), cpu_of(threads))),
        kept_(nb::cast(A)) {
    const auto rows = static_cast<std::int64_t>(A.shape(0)), cols = static_cast<std::int64_t>(A.shape(1));
    // A matrix by rows is the transpose of one by columns.
    const vouch::matrix_view<const double> all{A.data(), by_rows ? cols : rows, by_rows ? rows : cols,
                                               std::max<std::int64_t>(1, by_rows ? cols : rows)};
    solver_ = without_lock([&] {
      return std::make_unique<vouch::solver>(
          cpu_of(threads), all, options_,
          by_rows ? vouch::storage_order::by_rows : vouch::storage_order::by_columns);
    });
  }
  // Of arrays on a GPU, by their addresses; stream 0 takes one of its own.
  solver(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros, std::uintptr_t offsets, bool wide,
         std::uintptr_t columns, std::uintptr_t values, int index, std::uintptr_t stream,
         const nb::dict& options, nb::object keep)
      : options_(take(options, nb::none(), rows, {})), kept_(std::move(keep)) {
    const auto* const col = reinterpret_cast<const std::int32_t*>(columns);
    const auto* const val = reinterpret_cast<const double*>(values);
    solver_ = without_lock([&] {
      const vouch::device gpu = stream == 0 ? vouch::device::cuda(index)
                                            : vouch::device::cuda(index, reinterpret_cast<void*>(stream));
      if (wide)
        return std::make_unique<vouch::solver>(
            gpu,
            vouch::csr_view<const double>{rows, cols, nonzeros, reinterpret_cast<const std::int64_t*>(offsets),
                                          col, val},
            options_);
      return std::make_unique<vouch::solver>(
          gpu,
          vouch::csr32_view<const double>{rows, cols, nonzeros, reinterpret_cast<const std::int32_t*>(offsets),
                                          col, val},
          options_);
    });
  }
  solver(std::int64_t rows, nb::object action, const nb::dict& options, nb::object M, int threads)
      : options_(take(options, std::move(M), rows, cpu_of(threads))),
        action_(std::make_unique<python_operator>(rows, std::move(action))) {
    solver_ = std::make_unique<vouch::solver>(cpu_of(threads), *action_, options_);
  }
  solver(vector_in<double> dl, vector_in<double> d, vector_in<double> du, std::int64_t systems, bool periodic,
         const nb::dict& options, int threads)
      : options_(take(options, nb::none(), 0, cpu_of(threads))), kept_(nb::make_tuple(dl, d, du)) {
    const auto elements = static_cast<std::int64_t>(d.size());
    if (dl.size() != d.size() || du.size() != d.size() || systems < 0 ||
        (systems > 0 && elements % systems != 0))
      throw vouch::shape_error("dl, d and du have to have as many elements, " + std::to_string(elements) +
                               " of d");
    const vouch::tridiagonal_view<const double> A{
        dl.data(), d.data(), du.data(), vouch::contiguous(systems == 0 ? 0 : elements / systems, systems),
        periodic};
    solver_ = without_lock([&] { return std::make_unique<vouch::solver>(cpu_of(threads), A, options_); });
  }

  nb::dict solve(matrix_in<double> B, matrix_out<double> X, nb::object callback, nb::object iterates) {
    return solve(in(B), out(X), std::move(callback), std::move(iterates));
  }
  // One right-hand side on the GPU where the matrix is.
  nb::dict solve_at(std::int64_t rows, std::uintptr_t b, std::uintptr_t x, nb::object callback) {
    return solve({reinterpret_cast<const double*>(b), rows, 1, std::max<std::int64_t>(1, rows)},
                 {reinterpret_cast<double*>(x), rows, 1, std::max<std::int64_t>(1, rows)}, std::move(callback),
                 nb::none());
  }
  nb::dict solve(vouch::matrix_view<const double> B, vouch::matrix_view<double> X, nb::object callback,
                 nb::object iterates) {
    python_observer observer(std::move(callback), std::move(iterates));
    vouch::solve_result result = without_lock([&] {
      const std::lock_guard alone(solving_);  // there is one observer to tell; a callback may solve, too
      struct telling {
        python_observer*& current;
        python_observer* before;
        ~telling() { current = before; }
      } const until_the_end{current_, std::exchange(current_, &observer)};
      return solver_->solve(B, X);
    });
    observer.raise();
    // The look at the matrix and the plan, in the solve that they were for.
    result.times.setup += solver_->setup_seconds() - std::exchange(reported_, solver_->setup_seconds());
    if (parts == 2) vouch::take_numbers(result);
    return result_of(result);
  }
  // Without improve the proof is of X as it was given, and X stays so.
  nb::dict prove(matrix_in<double> B, matrix_out<double> X, double relative, double matrix_radius,
                 double rhs_radius, bool improve) {
    vouch::proof_request request;
    request.relative = relative;
    request.within = {matrix_radius, rhs_radius};
    const vouch::view<double> x{X.data(), static_cast<std::int64_t>(X.size())};
    const vouch::array<double> given = improve ? vouch::array<double>() : copy_of(x);
    vouch::solution_proof proof = without_lock([&] { return solver_->prove(in(B), out(X), request); });
    const bool moved = !improve && proof.refinements > 0;
    if (moved && proof.verified) {
      vouch::solution_proof of_given = vouch::about_given(given, x, proof, relative, parts);
      of_given.radius = farther(given, x, proof.radius);
      proof = std::move(of_given);
    } else if (parts == 2) {
      vouch::take_moduli(proof, x, relative);
    }
    if (moved) std::copy(given.data(), given.data() + given.size(), x.data());
    if (parts == 1) return proof_of(std::move(proof));
    vouch::array<double> moduli = vouch::moduli_above(proof.radius);
    nb::dict d = proof_of(std::move(proof));
    d["moduli"] = to_numpy(std::move(moduli));
    return d;
  }

  int parts = 1;  // of a component: two where the matrix is the real form of a complex one

 private:
  // Hears what the call in progress hears.
  class relay final : public vouch::solve_observer {
   public:
    explicit relay(python_observer*& to) : to_(to) {}
    bool iteration(const vouch::iteration_record& record) override {
      under_way::iteration(record.iteration, record.residual);
      return to_ == nullptr || to_->iteration(record);
    }
    bool wants_iterates() const override { return to_ != nullptr && to_->wants_iterates(); }
    bool iterate(const vouch::iteration_record& record, vouch::view<const double> x) override {
      return to_ == nullptr || to_->iterate(record, x);
    }

   private:
    python_observer*& to_;
  };

  static void require_offsets(std::int64_t rows, std::size_t count) {
    if (rows < 0 || count != static_cast<std::size_t>(rows) + 1)
      throw vouch::shape_error("indptr has " + std::to_string(count) + " elements for " + std::to_string(rows) +
                               " rows");
  }
  static vouch::matrix_view<const double> in(const matrix_in<double>& B) {
    const auto rows = static_cast<std::int64_t>(B.shape(0));
    return {B.data(), rows, static_cast<std::int64_t>(B.shape(1)), std::max<std::int64_t>(1, rows)};
  }
  static vouch::matrix_view<double> out(const matrix_out<double>& X) {
    const auto rows = static_cast<std::int64_t>(X.shape(0));
    return {X.data(), rows, static_cast<std::int64_t>(X.shape(1)), std::max<std::int64_t>(1, rows)};
  }
  // Where no device is asked for the work is done where the matrix is.
  vouch::solve_options take(const nb::dict& options, nb::object M, std::int64_t rows,
                            std::optional<vouch::device> home) {
    vouch::solve_options o = options_of(options);
    if (!options.contains("device")) o.run_on = std::move(home);
    o.observer = &relay_;
    if (!M.is_none()) {
      M_ = std::make_unique<python_preconditioner>(rows, std::move(M));
      o.own_preconditioner = M_.get();
    }
    return o;
  }

  std::recursive_mutex solving_;
  double reported_ = 0;  // of the solver's setup seconds
  python_observer* current_ = nullptr;
  relay relay_{current_};
  std::unique_ptr<python_preconditioner> M_;
  vouch::solve_options options_;
  nb::object kept_;
  std::unique_ptr<python_operator> action_;
  std::unique_ptr<vouch::solver> solver_;
};

}  // namespace

void bind_solver(nb::module_& m) {
  nb::class_<solver>(m, "Solver")
      .def_rw("parts", &solver::parts)
      .def(nb::init<std::int64_t, std::int64_t, nb::object, vector_in<std::int32_t>, vector_in<double>,
                    const nb::dict&, nb::object, int>(),
           nb::arg("rows"), nb::arg("cols"), nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("data").noconvert(), nb::arg("options"), nb::arg("M").none(), nb::arg("threads"))
      .def_static(
          "on_gpu",
          [](std::int64_t rows, std::int64_t cols, std::int64_t nonzeros, std::uintptr_t offsets, bool wide,
             std::uintptr_t columns, std::uintptr_t values, int index, std::uintptr_t stream,
             const nb::dict& options, nb::object keep) {
            return std::make_unique<solver>(rows, cols, nonzeros, offsets, wide, columns, values, index, stream,
                                            options, std::move(keep));
          },
          nb::arg("rows"), nb::arg("cols"), nb::arg("nonzeros"), nb::arg("offsets"), nb::arg("wide"),
          nb::arg("columns"), nb::arg("values"), nb::arg("index"), nb::arg("stream"), nb::arg("options"),
          nb::arg("keep"))
      .def("solve_at", &solver::solve_at, nb::arg("rows"), nb::arg("b"), nb::arg("x"),
           nb::arg("callback").none())
      .def("solve",
           nb::overload_cast<matrix_in<double>, matrix_out<double>, nb::object, nb::object>(&solver::solve),
           nb::arg("B").noconvert(), nb::arg("X").noconvert(), nb::arg("callback").none(),
           nb::arg("iterates").none())
      .def("prove", &solver::prove, nb::arg("B").noconvert(), nb::arg("X").noconvert(), nb::arg("relative"),
           nb::arg("matrix_radius"), nb::arg("rhs_radius"), nb::arg("improve"))
      .def_static(
          "dense",
          [](nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> A, bool by_rows, const nb::dict& options,
             nb::object M, int threads) {
            return std::make_unique<solver>(std::move(A), by_rows, options, std::move(M), threads);
          },
          nb::arg("A").noconvert(), nb::arg("by_rows"), nb::arg("options"), nb::arg("M").none(),
          nb::arg("threads"))
      .def_static(
          "matrix_free",
          [](std::int64_t rows, nb::object action, const nb::dict& options, nb::object M, int threads) {
            return std::make_unique<solver>(rows, std::move(action), options, std::move(M), threads);
          },
          nb::arg("rows"), nb::arg("action"), nb::arg("options"), nb::arg("M").none(), nb::arg("threads"))
      .def_static(
          "tridiagonal",
          [](vector_in<double> dl, vector_in<double> d, vector_in<double> du, std::int64_t systems,
             bool periodic, const nb::dict& options, int threads) {
            return std::make_unique<solver>(std::move(dl), std::move(d), std::move(du), systems, periodic,
                                            options, threads);
          },
          nb::arg("dl").noconvert(), nb::arg("d").noconvert(), nb::arg("du").noconvert(), nb::arg("systems"),
          nb::arg("periodic"), nb::arg("options"), nb::arg("threads"));
}

}  // namespace vouchnum
