#include <cmath>
#include <cstdint>
#include <optional>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/ic0.hpp>
#include <vouch/solve/precond/ilu0.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/precond/ssor.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// What a preconditioner is given, or nothing for its default.
using parameter = std::optional<double>;

double real_in(std::string_view name, std::string_view text) {
  const char* const end = text.data() + text.size();
  const parsed_number<double> number = parse_real(text.data(), end);
  if (number.error != number_error::none || number.end != end)
    throw value_error(std::string(name) + ": " + not_a_number(text));
  return number.value;
}

std::int64_t whole_number_in(std::string_view name, std::string_view text) {
  const char* const end = text.data() + text.size();
  const parsed_number<std::int64_t> number = parse_integer(text.data(), end);
  if (number.error == number_error::malformed || number.end != end)
    throw value_error(std::string(name) + ": " + quoted(text) + " is not a whole number");
  if (number.error == number_error::overflow)
    throw value_error(std::string(name) + ": " + quoted(text) + " overflows 64-bit integers");
  return number.value;
}

enum class number_kind { real, whole };

// One line a preconditioner: its name, its parameter as shown, what kind of number that is, and how it is made.
template <real T>
struct maker {
  const char* name;
  const char* parameter_name;  // "" where there is none
  number_kind kind;
  std::unique_ptr<preconditioner<T>> (*make)(const device&, csr_view<const T>, parameter);
};

// Of a parameter that was found to be a whole number.
std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

template <real T>
const std::vector<maker<T>>& makers() {
  using A = csr_view<const T>;
  using result = std::unique_ptr<preconditioner<T>>;
  static const std::vector<maker<T>> all{
      {"none", "", number_kind::real, [](const device&, A, parameter) -> result { return nullptr; }},
      {"jacobi", "", number_kind::real, [](const device& dev, A a, parameter) { return make_jacobi(dev, a); }},
      {"block-jacobi", "size", number_kind::whole,
       [](const device& dev, A a, parameter size) {
         if (!size) return make_block_jacobi(dev, a);
         if (*size < 1) throw value_error("block-jacobi: a block has at least one row");
         return make_block_jacobi(dev, a, whole(*size));
       }},
      {"ssor", "omega", number_kind::real,
       [](const device& dev, A a, parameter omega) {
         return omega ? make_ssor(dev, a, *omega) : make_ssor(dev, a);
       }},
      {"ic0", "shift", number_kind::real,
       [](const device& dev, A a, parameter shift) {
         return shift ? make_ic0(dev, a, *shift) : make_ic0(dev, a);
       }},
      {"ilu0", "shift", number_kind::real,
       [](const device& dev, A a, parameter shift) {
         return shift ? make_ilu0(dev, a, *shift) : make_ilu0(dev, a);
       }},
      {"chebyshev", "degree", number_kind::whole, [](const device& dev, A a, parameter degree) {
         return degree ? make_chebyshev(dev, a, whole(*degree)) : make_chebyshev(dev, a);
       }}};
  return all;
}

// The line of that name; `shown` is what an error shows.
template <real T>
const maker<T>& find_maker(std::string_view name, std::string_view shown) {
  for (const maker<T>& m : makers<T>())
    if (name == m.name) return m;
  std::string names;
  for (const std::string& known : precondition_names()) names += (names.empty() ? "" : ", ") + known;
  throw value_error("unknown preconditioner \"" + std::string(shown) + "\"", "there are " + names);
}

}  // namespace

const std::vector<std::string>& precondition_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const maker<double>& m : makers<double>())
      all.push_back(m.name + (*m.parameter_name ? "[:" + std::string(m.parameter_name) + "]" : ""));
    return all;
  }();
  return names;
}

preconditioner_choice parse_preconditioner(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const maker<double>& m = find_maker<double>(name, spec);
  preconditioner_choice choice{m.name, {}};
  if (colon == std::string_view::npos) return choice;
  if (!*m.parameter_name)
    throw value_error(std::string(name) + " takes no parameter: \"" + std::string(spec) + "\"");
  const std::string_view text = spec.substr(colon + 1);
  choice.parameters[m.parameter_name] =
      m.kind == number_kind::whole ? static_cast<double>(whole_number_in(name, text)) : real_in(name, text);
  return choice;
}

template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       const preconditioner_choice& choice) {
  const ieee_environment here;
  const maker<T>& m = find_maker<T>(choice.name, choice.name);
  parameter given;
  for (const auto& [name, value] : choice.parameters) {
    if (name != m.parameter_name) throw value_error(choice.name + " has no parameter \"" + name + "\"");
    constexpr double most = 1e15;  // whole numbers up to there are numbers in double
    if (m.kind == number_kind::whole && !(std::fabs(value) <= most && value == std::floor(value)))
      throw value_error(choice.name + ": " + name + " is not a whole number");
    given = value;
  }
  return m.make(dev, A, given);
}

template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       std::string_view spec) {
  return make_preconditioner<T>(dev, A, parse_preconditioner(spec));
}

#define VOUCH_INSTANTIATE(T)                                                                        \
  template std::unique_ptr<preconditioner<T>> make_preconditioner(const device&, csr_view<const T>, \
                                                                  const preconditioner_choice&);    \
  template std::unique_ptr<preconditioner<T>> make_preconditioner(const device&, csr_view<const T>, \
                                                                  std::string_view);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
