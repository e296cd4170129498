// The elementary functions of a build without MPFR.
#include <vouch/core/error.hpp>
#include <vouch/interval/elementary.hpp>

namespace vouch {
namespace {

[[noreturn]] void refuse(const char* name) {
  throw error(std::string(name) + " of an interval: this build of vouch has no MPFR",
              "install libmpfr-dev and build again");
}

}  // namespace

#define VOUCH_ABSENT(T, function, ...) \
  template <>                          \
  interval<T> function(__VA_ARGS__) {  \
    refuse(#function);                 \
  }
#define VOUCH_ABSENT_OF_ONE(function)            \
  VOUCH_ABSENT(float, function, interval<float>) \
  VOUCH_ABSENT(double, function, interval<double>)
VOUCH_ABSENT_OF_ONE(exp)
VOUCH_ABSENT_OF_ONE(exp2)
VOUCH_ABSENT_OF_ONE(exp10)
VOUCH_ABSENT_OF_ONE(expm1)
VOUCH_ABSENT_OF_ONE(log)
VOUCH_ABSENT_OF_ONE(log2)
VOUCH_ABSENT_OF_ONE(log10)
VOUCH_ABSENT_OF_ONE(log1p)
VOUCH_ABSENT_OF_ONE(asin)
VOUCH_ABSENT_OF_ONE(acos)
VOUCH_ABSENT_OF_ONE(atan)
VOUCH_ABSENT_OF_ONE(sinh)
VOUCH_ABSENT_OF_ONE(cosh)
VOUCH_ABSENT_OF_ONE(tanh)
VOUCH_ABSENT_OF_ONE(asinh)
VOUCH_ABSENT_OF_ONE(acosh)
VOUCH_ABSENT_OF_ONE(atanh)
VOUCH_ABSENT_OF_ONE(erf)
VOUCH_ABSENT_OF_ONE(erfc)
VOUCH_ABSENT_OF_ONE(sin)
VOUCH_ABSENT_OF_ONE(cos)
VOUCH_ABSENT_OF_ONE(tan)
VOUCH_ABSENT_OF_ONE(sec)
VOUCH_ABSENT_OF_ONE(csc)
VOUCH_ABSENT_OF_ONE(cot)
VOUCH_ABSENT_OF_ONE(acot)
VOUCH_ABSENT_OF_ONE(sech)
VOUCH_ABSENT_OF_ONE(csch)
VOUCH_ABSENT_OF_ONE(coth)
VOUCH_ABSENT_OF_ONE(acoth)
#undef VOUCH_ABSENT_OF_ONE
#define VOUCH_ABSENT_OF_TWO(function)                             \
  VOUCH_ABSENT(float, function, interval<float>, interval<float>) \
  VOUCH_ABSENT(double, function, interval<double>, interval<double>)
VOUCH_ABSENT_OF_TWO(pow)
VOUCH_ABSENT_OF_TWO(atan2)
VOUCH_ABSENT_OF_TWO(hypot)
VOUCH_ABSENT_OF_TWO(sin_rev)
VOUCH_ABSENT_OF_TWO(cos_rev)
VOUCH_ABSENT_OF_TWO(tan_rev)
VOUCH_ABSENT_OF_TWO(cosh_rev)
#undef VOUCH_ABSENT_OF_TWO
#define VOUCH_ABSENT_OF_THREE(function)                                            \
  VOUCH_ABSENT(float, function, interval<float>, interval<float>, interval<float>) \
  VOUCH_ABSENT(double, function, interval<double>, interval<double>, interval<double>)
VOUCH_ABSENT_OF_THREE(pow_rev1)
VOUCH_ABSENT_OF_THREE(pow_rev2)
VOUCH_ABSENT_OF_THREE(atan2_rev1)
VOUCH_ABSENT_OF_THREE(atan2_rev2)
#undef VOUCH_ABSENT_OF_THREE
VOUCH_ABSENT(float, rootn, interval<float>, int)
VOUCH_ABSENT(double, rootn, interval<double>, int)
#undef VOUCH_ABSENT

}  // namespace vouch
