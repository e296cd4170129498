#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/ic0.hpp>
#include <vouch/solve/precond/ilu0.hpp>
#include <vouch/solve/precond/ilut.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/precond/ssor.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

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

enum class parameter_kind { real, whole, amg_type };

struct parameter_line {
  const char* name;
  parameter_kind kind;
};

// What is given for each of a preconditioner's parameters, or nothing for its default.
struct parameters {
  std::vector<std::optional<double>> values;
  std::shared_ptr<const near_nullspace> near;
  amg_type type;

  const std::optional<double>& operator[](std::size_t k) const { return values[k]; }
};

// One line a preconditioner: its name, its parameters in the order in which they may be given without a name, whether it is
// symmetric, and how it is made.
template <real T>
struct maker {
  const char* name;
  std::vector<parameter_line> takes;
  bool symmetric;
  std::unique_ptr<preconditioner<T>> (*make)(const device&, csr_view<const T>, const parameters&);
};

// Of a parameter that was found to be a whole number.
std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

template <real T>
const std::vector<maker<T>>& makers() {
  using A = csr_view<const T>;
  using P = const parameters&;
  using result = std::unique_ptr<preconditioner<T>>;
  static const std::vector<maker<T>> all{
      {"none", {}, true, [](const device&, A, P) -> result { return nullptr; }},
      {"jacobi", {}, true, [](const device& dev, A a, P) { return make_jacobi(dev, a); }},
      {"block-jacobi",
       {{"size", parameter_kind::whole}},
       true,
       [](const device& dev, A a, P p) {
         if (!p[0]) return make_block_jacobi(dev, a);
         if (*p[0] < 1) throw value_error("block-jacobi: a block has at least one row");
         return make_block_jacobi(dev, a, whole(*p[0]));
       }},
      {"ssor",
       {{"omega", parameter_kind::real}},
       true,
       [](const device& dev, A a, P p) { return p[0] ? make_ssor(dev, a, *p[0]) : make_ssor(dev, a); }},
      {"ic0",
       {{"shift", parameter_kind::real}},
       true,
       [](const device& dev, A a, P p) { return p[0] ? make_ic0(dev, a, *p[0]) : make_ic0(dev, a); }},
      {"ilu0",
       {{"shift", parameter_kind::real}},
       false,
       [](const device& dev, A a, P p) { return p[0] ? make_ilu0(dev, a, *p[0]) : make_ilu0(dev, a); }},
      {"ilut",
       {{"drop", parameter_kind::real}, {"fill", parameter_kind::whole}},
       false,
       [](const device& dev, A a, P p) {
         ilut_options options;
         if (p[0]) options.drop = *p[0];
         if (p[1]) options.fill = whole(*p[1]);
         return make_ilut(dev, a, options);
       }},
      {"chebyshev",
       {{"degree", parameter_kind::whole}},
       true,
       [](const device& dev, A a, P p) {
         return p[0] ? make_chebyshev(dev, a, whole(*p[0])) : make_chebyshev(dev, a);
       }},
      {"amg",
       {{"degree", parameter_kind::whole},
        {"strength", parameter_kind::real},
        {"filter", parameter_kind::real},
        {"type", parameter_kind::amg_type}},
       true,
       [](const device& dev, A a, P p) -> result {
         amg_options options;
         options.near = p.near;
         options.type = p.type;
         if (p[0]) options.degree = static_cast<int>(std::clamp<std::int64_t>(whole(*p[0]), 0, 99));
         if (p[1]) options.strength = *p[1];
         if (p[2]) options.filter = *p[2];
         return make_amg(dev, a, options);
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

// The place of the parameter of that name.
template <real T>
std::size_t find_parameter(const maker<T>& m, std::string_view name) {
  for (std::size_t k = 0; k < m.takes.size(); ++k)
    if (name == m.takes[k].name) return k;
  throw value_error(std::string(m.name) + " has no parameter \"" + std::string(name) + "\"");
}

// "drop=1e-3", or a value alone for the parameter of this place. given: the places that were.
void parse_parameter(const maker<double>& m, std::string_view text, std::size_t place,
                     std::set<std::size_t>& given, preconditioner_choice& choice) {
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    place = find_parameter(m, text.substr(0, equals));
    text.remove_prefix(equals + 1);
  }
  if (place >= m.takes.size())
    throw value_error(std::string(m.name) + " takes no more than " + std::to_string(m.takes.size()) +
                      (m.takes.size() == 1 ? " parameter" : " parameters"));
  const parameter_line& of = m.takes[place];
  if (!given.insert(place).second) throw value_error(std::string(m.name) + ": " + of.name + " is given twice");
  if (of.kind == parameter_kind::amg_type) {
    choice.type = parse_amg_type(text);
    return;
  }
  const double value = of.kind == parameter_kind::whole ? static_cast<double>(whole_number_in(m.name, text))
                                                        : real_in(m.name, text);
  choice.parameters.emplace(of.name, value);
}

}  // namespace

const std::vector<std::string>& precondition_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const maker<double>& m : makers<double>()) {
      std::string taken;
      for (const parameter_line& p : m.takes) taken += (taken.empty() ? "[:" : ",") + std::string(p.name);
      all.push_back(m.name + taken + (taken.empty() ? "" : "]"));
    }
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
  if (m.takes.empty())
    throw value_error(std::string(name) + " takes no parameter: \"" + std::string(spec) + "\"");
  std::string_view rest = spec.substr(colon + 1);
  std::set<std::size_t> given;
  for (std::size_t place = 0;; ++place) {
    const std::size_t comma = rest.find(',');
    parse_parameter(m, rest.substr(0, comma), place, given, choice);
    if (comma == std::string_view::npos) return choice;
    rest.remove_prefix(comma + 1);
  }
}

void check_parameters(const preconditioner_choice& choice) {
  const device cpu = device::cpu(1);
  const csr<double> one{1, 1, array<std::int64_t>::from(cpu, std::array<std::int64_t, 2>{0, 1}),
                        array<std::int32_t>::from(cpu, std::array<std::int32_t, 1>{0}),
                        array<double>::from(cpu, std::array<double, 1>{1.0})};
  preconditioner_choice of_any_matrix = choice;
  of_any_matrix.near.reset();
  of_any_matrix.type = amg_type::automatic;
  make_preconditioner<double>(cpu, one, of_any_matrix);
}

bool is_symmetric(const preconditioner_choice& choice) {
  return find_maker<double>(choice.name, choice.name).symmetric;
}

template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       const preconditioner_choice& choice) {
  const ieee_environment here;
  const maker<T>& m = find_maker<T>(choice.name, choice.name);
  if (choice.near && choice.name != "amg")
    throw value_error(choice.name + " takes no near-nullspace", "amg does");
  if (choice.type != amg_type::automatic && choice.name != "amg")
    throw value_error(choice.name + " takes no type of multigrid", "amg does");
  parameters given{std::vector<std::optional<double>>(m.takes.size()), choice.near, choice.type};
  for (const auto& [name, value] : choice.parameters) {
    const std::size_t k = find_parameter(m, name);
    if (m.takes[k].kind == parameter_kind::amg_type)
      throw value_error(choice.name + ": " + name + " is no number");
    constexpr double most = 1e15;  // whole numbers up to there are numbers in double
    if (m.takes[k].kind == parameter_kind::whole && !(std::fabs(value) <= most && value == std::floor(value)))
      throw value_error(choice.name + ": " + name + " is not a whole number");
    given.values[k] = value;
  }
  return m.make(dev, A, given);
}

template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       std::string_view spec) {
  return make_preconditioner<T>(dev, A, parse_preconditioner(spec));
}

#define VOUCH_INSTANTIATE(T)                                                    \
  template VOUCH_PUBLIC std::unique_ptr<preconditioner<T>> make_preconditioner( \
      const device&, csr_view<const T>, const preconditioner_choice&);          \
  template VOUCH_PUBLIC std::unique_ptr<preconditioner<T>> make_preconditioner( \
      const device&, csr_view<const T>, std::string_view);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
