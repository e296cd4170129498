// The ITF1788 operations that only the host has.
#include <gtest/gtest.h>

#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/interval/decorated_elementary.hpp>
#include <vouch/interval/text.hpp>

#include "interval/itl_run.hpp"

namespace vouch::testing {
namespace {

using bare = interval<double>;
using marked = decorated_interval<double>;
using values = std::vector<itl_value>;
using operation = std::function<itl_value(const values&)>;

// One implementation for the bare and the decorated form, told apart by the operands.
template <class Function>
operation unary(Function f) {
  return [f](const values& v) -> itl_value {
    if (v[0].kind == itl_kind::bare) return f(v[0].set.bare());
    return f(v[0].set);
  };
}

template <class Function>
operation binary(Function f) {
  return [f](const values& v) -> itl_value {
    if (v[0].kind == itl_kind::bare && v[1].kind == itl_kind::bare) return f(v[0].set.bare(), v[1].set.bare());
    return f(v[0].set, v[1].set);
  };
}

std::map<std::string, operation> elementary_operations() {
  return {{"exp", unary([](auto x) { return exp(x); })},
          {"exp2", unary([](auto x) { return exp2(x); })},
          {"exp10", unary([](auto x) { return exp10(x); })},
          {"log", unary([](auto x) { return log(x); })},
          {"log2", unary([](auto x) { return log2(x); })},
          {"log10", unary([](auto x) { return log10(x); })},
          {"sin", unary([](auto x) { return sin(x); })},
          {"cos", unary([](auto x) { return cos(x); })},
          {"tan", unary([](auto x) { return tan(x); })},
          {"asin", unary([](auto x) { return asin(x); })},
          {"acos", unary([](auto x) { return acos(x); })},
          {"atan", unary([](auto x) { return atan(x); })},
          {"sinh", unary([](auto x) { return sinh(x); })},
          {"cosh", unary([](auto x) { return cosh(x); })},
          {"tanh", unary([](auto x) { return tanh(x); })},
          {"asinh", unary([](auto x) { return asinh(x); })},
          {"acosh", unary([](auto x) { return acosh(x); })},
          {"atanh", unary([](auto x) { return atanh(x); })},
          {"pow", binary([](auto x, auto y) { return pow(x, y); })},
          {"atan2", binary([](auto y, auto x) { return atan2(y, x); })}};
}

std::map<std::string, operation> construction_operations() {
  return {{"b-numsToInterval",
           [](const values& v) -> itl_value { return bare::from_bounds(v[0].number, v[1].number); }},
          {"d-numsToInterval",
           [](const values& v) -> itl_value { return marked(bare::from_bounds(v[0].number, v[1].number)); }},
          {"b-textToInterval", [](const values& v) -> itl_value { return parse_interval<double>(v[0].text); }},
          {"d-textToInterval",
           [](const values& v) -> itl_value { return parse_decorated_interval<double>(v[0].text); }},
          {"intervalPart", [](const values& v) -> itl_value { return v[0].set.interval_part(); }},
          {"setDec",
           [](const values& v) -> itl_value { return marked(v[0].set.bare(), itl_decoration(v[1].text)); }}};
}

// What the standard calls a signal is an exception here: where one is expected, the result beside it is what a
// program without exceptions would go on with. NaI without an exception is as good for setDec. Where the
// standard leaves undecided whether bounds are in order, ours are compared exactly, and either outcome is
// right.
bool matches(const itl_assertion& a, const operation& evaluate, std::string& ours) {
  try {
    const itl_value value = evaluate(a.operands);
    ours = itl_show({value});
    const bool signals = !a.signal.empty() && a.signal != "PossiblyUndefinedOperation";
    const bool nai = value.kind == itl_kind::decorated && is_nai(value.set);
    return itl_same(value, a.results[0]) && (!signals || nai);
  } catch (const error& e) {
    ours = std::string(" error: ") + e.what();
    return !a.signal.empty();
  }
}

}  // namespace

itl_counts check_host_operations(const std::vector<itl_assertion>& assertions) {
  std::map<std::string, operation> operations = construction_operations();
  if constexpr (built_with_mpfr) operations.merge(elementary_operations());
  itl_counts counts;
  for (const itl_assertion& a : assertions) {
    const auto found = operations.find(a.operation);
    if (found == operations.end()) continue;
    std::string ours;
    const bool passed = matches(a, found->second, ours);
    ++(passed ? counts[a.operation].passed : counts[a.operation].failed);
    EXPECT_TRUE(passed) << a.place << ": " << a.operation << itl_show(a.operands) << " =" << itl_show(a.results)
                        << ' ' << a.signal << ", ours" << ours;
  }
  return counts;
}

}  // namespace vouch::testing
