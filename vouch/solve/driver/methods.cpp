#include <algorithm>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/options.hpp>

namespace vouch {
namespace {

#define VOUCH_ADDRESS(line) &line,
constexpr const method* table[] = {VOUCH_METHODS(VOUCH_ADDRESS)};
#undef VOUCH_ADDRESS

// What auto takes: no method that it may choose does more with other options than methods do by name.
constexpr set_of<method_option> auto_takes{method_option::preconditioner, method_option::backend,
                                           method_option::several_gpus, method_option::fixed_iterations,
                                           method_option::stop_recurrence};

struct option_line {
  method_option which;
  const char* name;
  const char* what;  // that is not taken
  bool (*given)(const solve_options&);
};

constexpr option_line option_lines[] = {
    {method_option::omega, "omega", "none", [](const solve_options& o) { return o.omega.has_value(); }},
    {method_option::estimated_omega, "omega", "no auto",
     [](const solve_options& o) { return o.estimate_omega; }},
    {method_option::sweep, "sweep", "none", [](const solve_options& o) { return o.sweep.has_value(); }},
    {method_option::ordering, "ordering", "none",
     [](const solve_options& o) { return o.ordering.has_value(); }},
    {method_option::acceleration, "accel", "none",
     [](const solve_options& o) { return o.accelerate.anderson > 0 || o.accelerate.chebyshev; }},
    {method_option::preconditioner, "precond", "none",
     [](const solve_options& o) {
       return (o.preconditioner && o.preconditioner->name != "none") || o.own_preconditioner != nullptr;
     }},
    {method_option::backend, "backend", "none", [](const solve_options& o) { return o.backend != "auto"; }},
    {method_option::several_gpus, "device", "one GPU alone",
     [](const solve_options& o) { return !o.gpus.empty(); }},
    {method_option::fixed_iterations, "fixed-iterations", "none",
     [](const solve_options& o) { return o.goal.fixed_iterations.has_value(); }},
    {method_option::stop_recurrence, "stop", "none",
     [](const solve_options& o) { return o.goal.stop_recurrence.has_value(); }},
    {method_option::stop_mean_change, "stop mean-change", "none",
     [](const solve_options& o) { return o.goal.stop_mean_change.has_value(); }},
};

// "jacobi, sor and ssor do"
std::string who_takes(method_option option) {
  std::vector<std::string> names;
  for (const method* m : table)
    if (m->options.has(option)) names.emplace_back(m->name);
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  return text + (names.size() == 1 ? " does" : " do");
}

std::string precisions_of(const method& m, bool cuda) {
  std::string text;
  for (const working_precision p :
       {working_precision::double_, working_precision::single, working_precision::mixed})
    if (m.takes_precision(p, cuda)) text += (text.empty() ? "take " : " or ") + std::string(name(p));
  return text;
}

}  // namespace

std::span<const method* const> methods() { return table; }

const method* find_method(std::string_view name) {
  for (const method* m : table)
    if (m->name == name) return m;
  return nullptr;
}

const method& direct_method_for_any(const method& like) {
  for (const method* m : table)
    for (const matrix_form form : {matrix_form::sparse, matrix_form::dense})
      if (m->direct && m->refuse == nullptr && m->takes.has(form) && like.takes.has(form)) return *m;
  return like;
}

bool takes_options(const method& m, const solve_options& options) {
  return std::all_of(std::begin(option_lines), std::end(option_lines),
                     [&](const option_line& o) { return m.options.has(o.which) || !o.given(options); });
}

std::optional<refused_option> find_refused_option(const solve_options& options, bool cuda) {
  const method* const m = find_method(options.method);
  if (m == nullptr && options.method != "auto") throw value_error("there is no method " + options.method);
  const set_of<method_option> taken = m == nullptr ? auto_takes : m->options;
  for (const option_line& o : option_lines)
    if (o.given(options) && !taken.has(o.which)) return refused_option{o.name, o.what, who_takes(o.which)};
  const bool by_gpu_library = options.backend == cudss::backend_name;
  if (cuda && options.backend != "auto" && !by_gpu_library)
    return refused_option{"backend " + options.backend,
                          std::string("none but ") + cudss::backend_name + " on a GPU", "take --device cpu"};
  if (m == nullptr) return {};
  if (by_gpu_library && !m->on_cuda.has(true))
    return refused_option{"backend " + options.backend, "none on a GPU",
                          cuda ? "take --backend auto and --device cpu" : "take --backend auto"};
  const bool on_cuda = cuda || by_gpu_library;
  if (!m->takes_precision(options.precision, on_cuda))
    return refused_option{std::string("precision ") + name(options.precision), "none",
                          precisions_of(*m, on_cuda)};
  if (!m->on_cuda.has(cuda))
    return refused_option{cuda ? "device cuda" : "device cpu", "none",
                          cuda ? "it runs on the CPU" : "it runs on a GPU"};
  return {};
}

}  // namespace vouch
