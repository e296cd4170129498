// Results of reverse operations that are narrower than a file of ITF1788 has them: right if they are the smallest.
#include <optional>

#include <vouch/interval/relations.hpp>

#include "interval/itl_run.hpp"
#include "interval/reverse_oracle.hpp"

namespace vouch::testing {
namespace {

std::optional<oracle> oracle_of(const itl_assertion& a, const std::string& name) {
  using of_one = oracle (*)(real_set);
  using of_two = oracle (*)(real_set, real_set);
  static const std::map<std::string, of_one> with_result{
      {"sqrRev", [](real_set c) { return power_oracle(2, c); }},
      {"absRev", magnitude_oracle},
      {"sinRev", sine_oracle},
      {"cosRev", cosine_oracle},
      {"tanRev", tangent_oracle},
      {"coshRev", cosh_oracle}};
  static const std::map<std::string, of_two> with_operand_and_result{{"mulRev", product_oracle},
                                                                     {"powRev1", base_oracle},
                                                                     {"powRev2", exponent_oracle},
                                                                     {"atan2Rev1", ordinate_oracle},
                                                                     {"atan2Rev2", abscissa_oracle}};
  const real_set first = a.operands[0].set.bare();
  if (name == "pownRev") return power_oracle(static_cast<int>(a.operands.back().number), first);
  if (const auto f = with_result.find(name); f != with_result.end()) return f->second(first);
  if (const auto f = with_operand_and_result.find(name); f != with_operand_and_result.end())
    return f->second(first, a.operands[1].set.bare());
  return std::nullopt;
}

}  // namespace

bool itl_is_smallest(const itl_assertion& a, const itl_value& ours) {
  const itl_value& theirs = a.results.front();
  if (ours.kind != theirs.kind || ours.set.decoration_part() != theirs.set.decoration_part()) return false;
  const std::size_t suffix = std::min(a.operation.rfind("Bin"), a.operation.rfind("Ten"));
  const auto o = oracle_of(a, a.operation.substr(0, suffix));
  if (!o || !subset(ours.set.bare(), theirs.set.bare())) return false;
  // The set that the result is taken from, last of the intervals; powRev1 and the like always have it.
  const bool always = a.operation.back() == '1' || a.operation.back() == '2';
  real_set x = real_set::entire();
  if (always || suffix != std::string::npos)
    for (const itl_value& v : a.operands)
      if (v.kind != itl_kind::number) x = v.set.bare();
  return bool{is_tightest(ours.set.bare(), x, *o)};
}

}  // namespace vouch::testing
