// The ITF1788 operations that only the host has.
#include <gtest/gtest.h>

#include <algorithm>

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

template <class Function>
operation ternary(Function f) {
  return [f](const values& v) -> itl_value {
    if (v[0].kind == itl_kind::bare && v[1].kind == itl_kind::bare && v[2].kind == itl_kind::bare)
      return f(v[0].set.bare(), v[1].set.bare(), v[2].set.bare());
    return f(v[0].set, v[1].set, v[2].set);
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
          {"expm1", unary([](auto x) { return expm1(x); })},
          {"logp1", unary([](auto x) { return log1p(x); })},
          {"cbrt", unary([](auto x) { return rootn(x, 3); })},
          {"sec", unary([](auto x) { return sec(x); })},
          {"csc", unary([](auto x) { return csc(x); })},
          {"cot", unary([](auto x) { return cot(x); })},
          {"acot", unary([](auto x) { return acot(x); })},
          {"sech", unary([](auto x) { return sech(x); })},
          {"csch", unary([](auto x) { return csch(x); })},
          {"coth", unary([](auto x) { return coth(x); })},
          {"acoth", unary([](auto x) { return acoth(x); })},
          {"hypot", binary([](auto x, auto y) { return hypot(x, y); })},
          {"rootn",
           [](const values& v) {
             return unary([n = static_cast<int>(v[1].number)](auto x) { return rootn(x, n); })(v);
           }},
          {"pow", binary([](auto x, auto y) { return pow(x, y); })},
          {"atan2", binary([](auto y, auto x) { return atan2(y, x); })}};
}

std::map<std::string, operation> reverse_operations() {
  return {{"sinRev", unary([](auto c) { return sin_rev(c); })},
          {"sinRevBin", binary([](auto c, auto x) { return sin_rev(c, x); })},
          {"cosRev", unary([](auto c) { return cos_rev(c); })},
          {"cosRevBin", binary([](auto c, auto x) { return cos_rev(c, x); })},
          {"tanRev", unary([](auto c) { return tan_rev(c); })},
          {"tanRevBin", binary([](auto c, auto x) { return tan_rev(c, x); })},
          {"coshRev", unary([](auto c) { return cosh_rev(c); })},
          {"coshRevBin", binary([](auto c, auto x) { return cosh_rev(c, x); })},
          {"powRev1", ternary([](auto y, auto c, auto x) { return pow_rev1(y, c, x); })},
          {"atan2Rev1", ternary([](auto x, auto c, auto y) { return atan2_rev1(x, c, y); })},
          {"atan2Rev2", ternary([](auto y, auto c, auto x) { return atan2_rev2(y, c, x); })},
          {"powRev2", ternary([](auto x, auto c, auto y) { return pow_rev2(x, c, y); })}};
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
int itl_count::*judged(const itl_assertion& a, const operation& evaluate, std::string& ours) {
  try {
    const itl_value value = evaluate(a.operands);
    ours = itl_show({value});
    const bool signals = !a.signal.empty() && a.signal != "PossiblyUndefinedOperation";
    const bool single = a.results.size() == 1;
    const bool nai = value.kind == itl_kind::decorated && is_nai(value.set);
    if (!single || (signals && !nai)) return &itl_count::failed;
    if (itl_same(value, a.results[0])) return &itl_count::passed;
    return itl_is_smallest(a, value) ? &itl_count::narrower : &itl_count::failed;
  } catch (const error& e) {
    ours = std::string(" error: ") + e.what();
    return a.signal.empty() ? &itl_count::failed : &itl_count::passed;
  }
}

std::map<std::string, operation> all_operations() {
  auto operations = construction_operations();
  operations.merge(elementary_operations());
  operations.merge(reverse_operations());
  return operations;
}

}  // namespace

bool is_host_operation(const std::string& name) { return all_operations().count(name) == 1; }

itl_counts check_host_operations(const std::vector<itl_assertion>& assertions) {
  const auto operations = all_operations();
  itl_counts counts;
  for (const itl_assertion& a : assertions) {
    const auto found = operations.find(a.operation);
    if (found == operations.end()) continue;
    std::string ours;
    const auto verdict = judged(a, found->second, ours);
    ++(counts[a.operation].*verdict);
    EXPECT_NE(verdict, &itl_count::failed) << a.place << ": " << a.operation << itl_show(a.operands) << " ="
                                           << itl_show(a.results) << ' ' << a.signal << ", ours" << ours;
  }
  return counts;
}

}  // namespace vouch::testing
