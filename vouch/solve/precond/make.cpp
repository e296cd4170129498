#include <algorithm>
#include <optional>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/ic0.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/precond/ssor.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

using parameter = std::optional<std::string_view>;

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

// One line a preconditioner: its name, its parameter as shown, and how it is made.
template <real T>
struct maker {
  const char* name;
  const char* parameter_name;  // "" where there is none
  std::unique_ptr<preconditioner<T>> (*make)(const device&, csr_view<const T>, parameter);
};

template <real T>
const std::vector<maker<T>>& makers() {
  using A = csr_view<const T>;
  using result = std::unique_ptr<preconditioner<T>>;
  static const std::vector<maker<T>> all{
      {"none", "", [](const device&, A, parameter) -> result { return nullptr; }},
      {"jacobi", "", [](const device& dev, A a, parameter) { return make_jacobi(dev, a); }},
      {"block-jacobi", "size",
       [](const device& dev, A a, parameter size) {
         if (!size) return make_block_jacobi(dev, a);
         const auto b = whole_number_in("block-jacobi", *size);
         if (b < 1) throw value_error("block-jacobi: a block has at least one row");
         return make_block_jacobi(dev, a, b);
       }},
      {"ssor", "omega",
       [](const device& dev, A a, parameter omega) {
         return omega ? make_ssor(dev, a, real_in("ssor", *omega)) : make_ssor(dev, a);
       }},
      {"ic0", "shift",
       [](const device& dev, A a, parameter shift) {
         return shift ? make_ic0(dev, a, real_in("ic0", *shift)) : make_ic0(dev, a);
       }},
      {"chebyshev", "degree", [](const device& dev, A a, parameter degree) {
         return degree ? make_chebyshev(dev, a, whole_number_in("chebyshev", *degree)) : make_chebyshev(dev, a);
       }}};
  return all;
}

std::string list_of_names() {
  std::string list;
  for (const std::string& name : precondition_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
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

template <real T>
std::unique_ptr<preconditioner<T>> make_preconditioner(const device& dev, csr_view<const T> A,
                                                       std::string_view spec) {
  const ieee_environment here;
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const parameter given = colon < spec.size() ? parameter(spec.substr(colon + 1)) : std::nullopt;
  const auto& all = makers<T>();
  const auto found = std::find_if(all.begin(), all.end(), [&](const maker<T>& m) { return name == m.name; });
  if (found == all.end())
    throw value_error("unknown preconditioner \"" + std::string(spec) + "\"", "there are " + list_of_names());
  if (given && !*found->parameter_name)
    throw value_error(std::string(name) + " takes no parameter: \"" + std::string(spec) + "\"");
  return found->make(dev, A, given);
}

template std::unique_ptr<preconditioner<float>> make_preconditioner(const device&, csr_view<const float>,
                                                                    std::string_view);
template std::unique_ptr<preconditioner<double>> make_preconditioner(const device&, csr_view<const double>,
                                                                     std::string_view);

}  // namespace vouch
