#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <vouch/c/vouch.h>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/price.hpp>
#include <vouch/price/words.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/check.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

struct vouch_options {
  vouch::solve_options options;
  int threads = 0;  // 0: all
  std::string device = "auto";
  std::vector<int> gpus{};  // named by device
};

namespace vouch {
namespace {

cancellation ending;

thread_local std::string last_message, last_hint;

vouch_code fail(vouch_code code, const char* message, const std::string& hint = {}) noexcept {
  try {
    last_message = message;
    last_hint = hint;
  } catch (const std::bad_alloc&) {
    last_message.clear();
    last_hint.clear();
  }
  return code;
}

// No exception leaves this; what work writes it writes last.
template <class Work>
vouch_code guarded(const Work& work) noexcept {
  try {
    const ieee_environment here;
    const cancellation_scope listens(ending);
    work();
    return VOUCH_OK;
  } catch (const shape_error& e) {
    return fail(VOUCH_SHAPE, e.what(), e.hint());
  } catch (const value_error& e) {
    return fail(VOUCH_VALUE, e.what(), e.hint());
  } catch (const out_of_memory& e) {
    return fail(VOUCH_OUT_OF_MEMORY, e.what(), e.hint());
  } catch (const no_cuda_error& e) {
    return fail(VOUCH_NO_DEVICE, e.what(), e.hint());
  } catch (const device_error& e) {
    return fail(VOUCH_DEVICE, e.what(), e.hint());
  } catch (const cancelled& e) {
    return fail(VOUCH_CANCELLED, e.what(), e.hint());
  } catch (const error& e) {
    return fail(VOUCH_OTHER, e.what(), e.hint());
  } catch (const std::bad_alloc&) {
    return fail(VOUCH_OUT_OF_MEMORY, "the host has not enough memory");
  } catch (const std::exception& e) {
    return fail(VOUCH_OTHER, e.what());
  } catch (...) {
    return fail(VOUCH_OTHER, "an exception of the caller's own");
  }
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw value_error(std::string(name) + " is NULL");
}

template <std::size_t Size>
void put(char (&to)[Size], std::string_view text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

double real_of(const std::string& name, std::string_view text) {
  const parsed_number<double> number = parse_real(text.data(), text.data() + text.size());
  if (number.error != number_error::none || number.end != text.data() + text.size())
    throw value_error(name + ": \"" + std::string(text) + "\" is no number");
  return number.value;
}

std::int64_t count_of(const std::string& name, std::string_view text, std::int64_t least) {
  const parsed_number<std::int64_t> number = parse_integer(text.data(), text.data() + text.size());
  if (number.error != number_error::none || number.end != text.data() + text.size() || number.value < least)
    throw value_error(name + ": \"" + std::string(text) + "\" is no whole number of at least " +
                      std::to_string(least));
  return number.value;
}

double tolerance_of(const std::string& name, std::string_view text) {
  const double value = real_of(name, text);
  if (!(value >= 0)) throw value_error(name + " is not at least 0");
  return value;
}

working_precision precision_of(std::string_view word) {
  if (const auto found = find_word<working_precision>(precision_words, word)) return *found;
  throw value_error("precision: \"" + std::string(word) + "\" is not double, single or mixed");
}

void set(vouch_options& o, const std::string& name, const std::string& value) {
  if (name == "method") {
    if (value != "auto" && find_method(value) == nullptr) throw value_error("there is no method " + value);
    o.options.method = value;
  } else if (name == "precond") {
    preconditioner_choice choice = parse_preconditioner(value);
    check_parameters(choice);
    o.options.preconditioner = std::move(choice);
  } else if (name == "precision") {
    o.options.precision = precision_of(value);
  } else if (name == "rtol") {
    o.options.goal.rtol = tolerance_of(name, value);
  } else if (name == "atol") {
    o.options.goal.atol = tolerance_of(name, value);
  } else if (name == "max-iterations") {
    o.options.goal.max_iterations = count_of(name, value, 1);
  } else if (name == "omega") {
    const double omega = real_of(name, value);
    if (!(omega > 0 && omega < 2)) throw value_error("omega: " + value + " does not lie between 0 and 2");
    o.options.omega = omega;
  } else if (name == "threads") {
    o.threads =
        static_cast<int>(std::min<std::int64_t>(count_of(name, value, 1), std::numeric_limits<int>::max()));
  } else if (name == "device") {
    if (value != "auto" && value != "cpu" && value != "cuda" && !value.starts_with("cuda:"))
      throw value_error("device: \"" + value + "\" is not auto, cpu, cuda, cuda:K or cuda:K,L,...");
    o.gpus = value.starts_with("cuda:") ? gpus_named(value.substr(5)) : std::vector<int>{};
    o.device = value;
  } else {
    throw value_error(
        "there is no option " + name,
        "there are method, precond, precision, rtol, atol, max-iterations, omega, device, threads");
  }
}

// The caller's function as an operator.
class called_action final : public linear_operator<double> {
 public:
  called_action(std::int64_t n, vouch_action action, void* data) : n_(n), action_(action), data_(data) {}
  std::int64_t rows() const override { return n_; }
  void apply(const device&, view<const double> x, view<double> y) const override {
    if (const int code = action_(data_, x.data(), y.data()); code != 0)
      throw value_error("the caller's action returned " + std::to_string(code));
  }

 private:
  std::int64_t n_;
  vouch_action action_;
  void* data_;
};

}  // namespace
}  // namespace vouch

struct vouch_solver {
  std::unique_ptr<vouch::linear_operator<double>> action;
  std::optional<vouch::solver> solver;
  double reported = 0;  // of the solver's setup seconds
  std::string reason;   // of the last solve or proof
};

namespace vouch {
namespace {

// make(home, options) makes the solver where its matrix is: on the CPU.
template <class Make>
vouch_code create(vouch_solver** to, const vouch_options* given, const Make& make) {
  return guarded([&] {
    require(to, "solver");
    const vouch_options defaults;
    const vouch_options& o = given != nullptr ? *given : defaults;
    solve_options options = o.options;
    const device home = o.threads > 0 ? device::cpu(o.threads) : device::cpu();
    if (o.device == "cpu") options.run_on = home;
    if (o.device.starts_with("cuda")) options.run_on = device::cuda(o.gpus.empty() ? 0 : o.gpus.front());
    if (names_several_gpus(o.device)) options.gpus = o.gpus;
    auto made = std::make_unique<vouch_solver>();
    make(*made, home, options);
    *to = made.release();
  });
}

matrix_view<double> columns(double* values, std::int64_t n, std::int64_t count) {
  return {values, n, count, std::max<std::int64_t>(1, n)};
}
matrix_view<const double> columns(const double* values, std::int64_t n, std::int64_t count) {
  return {values, n, count, std::max<std::int64_t>(1, n)};
}

void require_columns(std::int64_t n, std::int64_t count) {
  if (count < 0) throw shape_error("a negative number of right-hand sides");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 8;
  if (n > 0 && count > most / n) throw shape_error("more right-hand sides than any memory holds");
}

void require_offsets(std::int64_t n, const void* row_ptr) {
  require(row_ptr, "row_ptr");
  if (n < 0) throw shape_error("a negative number of rows");
  if (n > std::numeric_limits<std::int32_t>::max())
    throw shape_error(std::to_string(n) + " rows, and numbers of columns have 32 bits");
}

vouch_report report_of(const solve_result& from) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  vouch_report r{};
  r.solved = goal_reached(from.status);
  r.has_solution = has_solution(from.status);
  put(r.status, name(from.status));
  put(r.method, from.method);
  put(r.reason, from.reason);
  r.column = from.column;
  r.iterations = from.iterations;
  r.residual = from.relative_true();
  r.backward_error = from.backward_error;
  r.condition_estimate = from.condition_estimate.value_or(unknown);
  r.error_estimate = from.error_estimate.value_or(unknown);
  r.error_bound = from.error_bound.value_or(unknown);
  r.setup_seconds = from.times.setup + from.times.transfer;
  r.solve_seconds = from.times.solve;
  return r;
}

template <class Kind>
Kind kind_of(const char* what, const char* given, std::optional<Kind> (*find)(std::string_view)) {
  if (given == nullptr) return Kind{};
  if (const std::optional<Kind> kind = find(given)) return *kind;
  throw value_error(std::string(what) + ": \"" + given + "\" is none of its words");
}

}  // namespace
}  // namespace vouch

using namespace vouch;

const char* vouch_message(void) { return last_message.c_str(); }
const char* vouch_hint(void) { return last_hint.c_str(); }
const char* vouch_version(void) { return version; }

vouch_code vouch_options_create(vouch_options** options) {
  return guarded([&] {
    require(options, "options");
    *options = new vouch_options;
  });
}

vouch_code vouch_options_set(vouch_options* options, const char* name, const char* value) {
  return guarded([&] {
    require(options, "options");
    require(name, "name");
    require(value, "value");
    set(*options, name, value);
  });
}

void vouch_options_free(vouch_options* options) { delete options; }

vouch_code vouch_solver_create_csr(vouch_solver** solver, int64_t n, const int64_t* row_ptr, const int32_t* col,
                                   const double* val, const vouch_options* options) {
  return create(solver, options, [&](vouch_solver& made, const device& home, const solve_options& with) {
    require_offsets(n, row_ptr);
    made.solver.emplace(home, csr_view<const double>{n, n, row_ptr[n], row_ptr, col, val}, with);
  });
}

vouch_code vouch_solver_create_csr32(vouch_solver** solver, int64_t n, const int32_t* row_ptr,
                                     const int32_t* col, const double* val, const vouch_options* options) {
  return create(solver, options, [&](vouch_solver& made, const device& home, const solve_options& with) {
    require_offsets(n, row_ptr);
    made.solver.emplace(home, csr32_view<const double>{n, n, row_ptr[n], row_ptr, col, val}, with);
  });
}

vouch_code vouch_check_csr(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val) {
  return guarded([&] {
    require_offsets(n, row_ptr);
    const std::string wrong = check(device::cpu(), csr_view<const double>{n, n, row_ptr[n], row_ptr, col, val});
    if (!wrong.empty()) throw value_error(wrong);
  });
}

vouch_code vouch_solver_create_dense(vouch_solver** solver, int64_t n, const double* a, int64_t ld, int by_rows,
                                     const vouch_options* options) {
  return create(solver, options, [&](vouch_solver& made, const device& home, const solve_options& with) {
    made.solver.emplace(home, matrix_view<const double>{a, n, n, ld}, with,
                        by_rows != 0 ? storage_order::by_rows : storage_order::by_columns);
  });
}

vouch_code vouch_solver_create_action(vouch_solver** solver, int64_t n, vouch_action action, void* data,
                                      const vouch_options* options) {
  return create(solver, options, [&](vouch_solver& made, const device& home, const solve_options& with) {
    if (action == nullptr) throw value_error("action is NULL");
    made.action = std::make_unique<called_action>(n, action, data);
    made.solver.emplace(home, *made.action, with);
  });
}

void vouch_solver_free(vouch_solver* solver) { delete solver; }

vouch_code vouch_solver_solve(vouch_solver* solver, int64_t count, const double* b, double* x,
                              vouch_report* report) {
  return guarded([&] {
    require(solver, "solver");
    const std::int64_t n = solver->solver->facts().rows;
    require_columns(n, count);
    solve_result result = solver->solver->solve(columns(b, n, count), columns(x, n, count));
    // The look at the matrix and the plan, in the solve that they were for.
    const double setup = solver->solver->setup_seconds();
    result.times.setup += setup - std::exchange(solver->reported, setup);
    if (report != nullptr) *report = report_of(result);
    solver->reason = std::move(result.reason);
  });
}

vouch_code vouch_solver_prove(vouch_solver* solver, int64_t count, const double* b, double* x, double relative,
                              double* radius, vouch_proof* proof) {
  return guarded([&] {
    require(solver, "solver");
    const std::int64_t n = solver->solver->facts().rows;
    require_columns(n, count);
    if (!(relative >= 0 && relative < 1)) throw value_error("relative is not in [0, 1)");
    proof_request request;
    request.relative = relative;
    solution_proof found = solver->solver->prove(columns(b, n, count), columns(x, n, count), request);
    for (std::int64_t i = 0; radius != nullptr && i < n * count; ++i)
      radius[i] = i < found.radius.size() ? found.radius[i] : std::numeric_limits<double>::infinity();
    if (proof != nullptr) {
      *proof = {};
      proof->verified = found.verified;
      proof->reached = found.reached;
      proof->digits = found.digits;
      put(proof->reason, found.reason);
      proof->max_absolute = found.max_absolute;
      proof->max_relative = found.max_relative;
    }
    solver->reason = std::move(found.reason);
  });
}

const char* vouch_solver_reason(const vouch_solver* solver) {
  return solver != nullptr ? solver->reason.c_str() : "";
}

void vouch_cancel(void) { ending.request(); }
void vouch_cancel_clear(void) { ending.clear(); }

vouch_code vouch_price(const vouch_option* option, vouch_price_result* result) {
  return guarded([&] {
    require(option, "option");
    require(result, "result");
    contract c;
    c.plain.type = kind_of("type", option->type, type_of);
    c.exercise = kind_of("exercise", option->exercise, exercise_of);
    if (c.exercise == exercise_style::bermudan)
      throw value_error("exercise: a bermudan option needs dates, and vouch_option has none",
                        "european or american; the command line and C++ take dates");
    c.plain.payoff = kind_of("payoff", option->payoff, payoff_of);
    c.plain.barrier = kind_of("barrier", option->barrier, barrier_of);
    c.plain.spot = option->spot;
    c.plain.strike = option->strike;
    c.plain.rate = option->rate;
    c.plain.dividend = option->dividend;
    c.plain.volatility = option->volatility;
    c.plain.expiry = option->expiry;
    c.plain.cash = option->cash;
    c.plain.barrier_level = option->barrier_level;
    c.plain.rebate = option->rebate;
    pricing_options options;
    if (!(option->tolerance >= 0 && std::isfinite(option->tolerance)))
      throw value_error("tolerance: " + number_text(option->tolerance) +
                        " is no number above 0, nor 0 for the usual one");
    if (option->tolerance != 0) options.finite_difference.tolerance = option->tolerance;
    options.finite_difference.dev = device::cpu();
    const pricing found = price(c, options);
    vouch_price_result r{found.value.price,    found.value.delta,   found.value.gamma,
                         found.value.theta,    found.value.vega,    found.value.rho,
                         found.error_estimate, found.tolerance_met, {}};
    if (!found.has_vega_and_rho) r.vega = r.rho = std::numeric_limits<double>::quiet_NaN();
    put(r.method, name(found.method));
    *result = r;
  });
}
