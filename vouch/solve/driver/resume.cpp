#include <vouch/solve/resume.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/driver/state_solve.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>
#include <vouch/verify/fingerprint.hpp>

namespace vouch {
namespace {

constexpr std::string_view callers_own = "the caller's";

std::string text_of(const std::optional<double>& value) { return value ? number_text(*value) : ""; }

std::string text_of(const std::optional<preconditioner_choice>& choice) {
  if (!choice) return "";
  if (choice->near)
    throw value_error("a checkpoint keeps no coordinates and no near-nullspace",
                      "leave the checkpoint out, or amg without them");
  std::string text = choice->name;
  char before = ':';
  for (const auto& [name, value] : choice->parameters) {
    text += before + name + "=" + number_text(value);
    before = ',';
  }
  if (choice->type != amg_type::automatic) text += before + ("type=" + std::string(name(choice->type)));
  return text;
}

std::string omega_of(const solve_options& options) {
  return options.estimate_omega ? "auto" : text_of(options.omega);
}

std::string text_of(const acceleration& accelerate) {
  if (accelerate.chebyshev) return "chebyshev";
  return accelerate.anderson > 0 ? "anderson:" + std::to_string(accelerate.anderson) : "";
}

template <class E, std::size_t count>
E word_in(const kept_option& option, const std::array<std::string_view, count>& words) {
  if (const std::optional<E> found = find_word<E>(words, option.value)) return *found;
  throw value_error("the checkpoint's " + option.name + " is none: '" + option.value + "'");
}

template <class E, std::size_t count>
std::string word_of(const std::optional<E>& value, const std::array<std::string_view, count>& words) {
  return value ? std::string(words[static_cast<std::size_t>(*value)]) : "";
}

std::string text_of(const stopping_criterion& goal) {
  if (goal.stop_recurrence) return "recurrence:" + number_text(*goal.stop_recurrence);
  if (goal.stop_mean_change) return "mean-change:" + number_text(*goal.stop_mean_change);
  return "";
}

double number_in(const kept_option& option, std::string_view text) {
  const char* const end = text.data() + text.size();
  const parsed_number<double> number = parse_real(text.data(), end);
  if (number.error != number_error::none || number.end != end)
    throw value_error("the checkpoint's " + option.name + " is no number: '" + option.value + "'");
  return number.value;
}

std::int64_t count_in(const kept_option& option) {
  const char* const end = option.value.data() + option.value.size();
  const parsed_number<std::int64_t> number = parse_integer(option.value.data(), end);
  if (number.error != number_error::none || number.end != end)
    throw value_error("the checkpoint's " + option.name + " is no count: '" + option.value + "'");
  return number.value;
}

void take_stop(const kept_option& option, stopping_criterion& goal) {
  const std::string_view all = option.value;
  const std::size_t colon = std::min(all.find(':'), all.size() - 1);
  (all.starts_with("recurrence") ? goal.stop_recurrence : goal.stop_mean_change) =
      number_in(option, all.substr(colon + 1));
}

void take_acceleration(const kept_option& option, acceleration& accelerate) {
  constexpr std::string_view mixed = "anderson:";
  accelerate.chebyshev = option.value == "chebyshev";
  if (option.value.starts_with(mixed))
    accelerate.anderson =
        static_cast<int>(number_in(option, std::string_view(option.value).substr(mixed.size())));
}

void take(const kept_option& option, solve_options& options) {
  const std::string& value = option.value;
  if (value.empty() || value == callers_own) return;
  if (option.name == "method") options.method = value;
  if (option.name == "precond") options.preconditioner = parse_preconditioner(value);
  if (option.name == "precision") options.precision = word_in<working_precision>(option, precision_words);
  if (option.name == "omega") options.estimate_omega = value == "auto";
  if (option.name == "omega" && value != "auto") options.omega = number_in(option, value);
  if (option.name == "sweep") options.sweep = word_in<sweep_order>(option, sweep_words);
  if (option.name == "ordering") options.ordering = word_in<sweep_ordering>(option, ordering_words);
  if (option.name == "accel") take_acceleration(option, options.accelerate);
  if (option.name == "rtol") options.goal.rtol = number_in(option, value);
  if (option.name == "atol") options.goal.atol = number_in(option, value);
  if (option.name == "max-iterations") options.goal.max_iterations = count_in(option);
  if (option.name == "fixed-iterations") options.goal.fixed_iterations = count_in(option);
  if (option.name == "stop") take_stop(option, options.goal);
}

std::string text_of(const std::vector<kept_option>& all) {
  std::string text;
  for (const kept_option& option : all) text += option.name + " " + option.value + "\n";
  return text;
}

std::string text_of(const matrix_fingerprint& print) {
  return std::to_string(print.rows) + " by " + std::to_string(print.cols) + ", " +
         std::to_string(print.nonzeros) + " entries, " + std::to_string(print.pattern) + " " +
         std::to_string(print.values);
}

}  // namespace

std::vector<kept_option> kept_options(const solve_options& options) {
  const ieee_environment here;
  const stopping_criterion& goal = options.goal;
  return {{"engine", ""},
          {"method", options.method},
          {"precond",
           options.own_preconditioner != nullptr ? std::string(callers_own) : text_of(options.preconditioner)},
          {"precision", name(options.precision)},
          {"device", options.run_on ? options.run_on->kind() : ""},
          {"omega", omega_of(options)},
          {"sweep", word_of(options.sweep, sweep_words)},
          {"ordering", word_of(options.ordering, ordering_words)},
          {"accel", text_of(options.accelerate)},
          {"rtol", text_of(goal.rtol)},
          {"atol", number_text(goal.atol)},
          {"max-iterations", std::to_string(goal.max_iterations)},
          {"fixed-iterations", goal.fixed_iterations ? std::to_string(*goal.fixed_iterations) : ""},
          {"stop", text_of(goal)}};
}

std::vector<kept_option> kept_options(const checkpoint& kept) {
  std::vector<kept_option> all;
  std::string_view rest = kept.fact("options");
  if (rest.empty())
    throw value_error("the checkpoint knows no options: a method's own function wrote it",
                      "resume it by that function");
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t space = std::min(line.find(' '), line.size());
    all.push_back(
        {std::string(line.substr(0, space)), std::string(line.substr(std::min(space + 1, line.size())))});
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return all;
}

void take_options(const std::vector<kept_option>& kept, solve_options& options) {
  const ieee_environment here;
  for (const kept_option& option : kept) take(option, options);
}

std::optional<kept_option> find_contradiction(const solve_options& asked,
                                              const std::vector<kept_option>& kept) {
  static const solve_options defaults;
  const std::vector<kept_option> given = kept_options(asked), untouched = kept_options(defaults);
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] == untouched[k]) continue;
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const kept_option& other) { return other.name == given[k].name; });
    if (same != kept.end() && same->value != given[k].value) return *same;
  }
  return {};
}

void state_options(checkpoint& kept, const solve_options& taken, const std::string& engine) {
  std::vector<kept_option> all = kept_options(taken);
  for (kept_option& option : all)
    if (option.name == "engine") option.value = engine;
  if (kept.state_fact("options", text_of(all))) return;
  std::string differs;
  const std::vector<kept_option> before = kept_options(kept);
  for (std::size_t k = 0; k < all.size() && k < before.size() && differs.empty(); ++k)
    if (before[k] != all[k])
      differs = before[k].name + " '" + before[k].value + "', not '" + all[k].value + "'";
  throw value_error("the checkpoint is of a solve with " + differs, "resume with the options that it has");
}

void state_operand(checkpoint& kept, const char* operand, const matrix_fingerprint& print,
                   const std::string& called) {
  if (!kept.state_fact(operand, text_of(print)))
    throw value_error(called + " is not the one of the checkpoint: its numbers differ",
                      "resume with the matrix and the right-hand side of the solve that wrote it");
}

void state_system(checkpoint& kept, const operand& A, view<const double> b, const operand_names& names) {
  if (A.form() == matrix_form::sparse)
    state_operand(kept, "matrix", fingerprint_of(A.home(), A.sparse(A.home())), names.matrix);
  if (A.form() == matrix_form::dense)
    state_operand(kept, "matrix", fingerprint_of(A.home(), A.dense(A.home())), names.matrix);
  const matrix_view<const double> column{b.data(), b.size(), 1, std::max<std::int64_t>(1, b.size())};
  state_operand(kept, "right-hand side", fingerprint_of(A.home(), column), names.rhs);
}

}  // namespace vouch
