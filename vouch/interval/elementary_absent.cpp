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

template <real T>
interval<T> exp(interval<T>) {
  refuse("exp");
}
template <real T>
interval<T> exp2(interval<T>) {
  refuse("exp2");
}
template <real T>
interval<T> exp10(interval<T>) {
  refuse("exp10");
}
template <real T>
interval<T> expm1(interval<T>) {
  refuse("expm1");
}
template <real T>
interval<T> log(interval<T>) {
  refuse("log");
}
template <real T>
interval<T> log2(interval<T>) {
  refuse("log2");
}
template <real T>
interval<T> log10(interval<T>) {
  refuse("log10");
}
template <real T>
interval<T> log1p(interval<T>) {
  refuse("log1p");
}
template <real T>
interval<T> asin(interval<T>) {
  refuse("asin");
}
template <real T>
interval<T> acos(interval<T>) {
  refuse("acos");
}
template <real T>
interval<T> atan(interval<T>) {
  refuse("atan");
}
template <real T>
interval<T> sinh(interval<T>) {
  refuse("sinh");
}
template <real T>
interval<T> cosh(interval<T>) {
  refuse("cosh");
}
template <real T>
interval<T> tanh(interval<T>) {
  refuse("tanh");
}
template <real T>
interval<T> asinh(interval<T>) {
  refuse("asinh");
}
template <real T>
interval<T> acosh(interval<T>) {
  refuse("acosh");
}
template <real T>
interval<T> atanh(interval<T>) {
  refuse("atanh");
}
template <real T>
interval<T> erf(interval<T>) {
  refuse("erf");
}
template <real T>
interval<T> erfc(interval<T>) {
  refuse("erfc");
}
template <real T>
interval<T> sin(interval<T>) {
  refuse("sin");
}
template <real T>
interval<T> cos(interval<T>) {
  refuse("cos");
}
template <real T>
interval<T> tan(interval<T>) {
  refuse("tan");
}
template <real T>
interval<T> pow(interval<T>, interval<T>) {
  refuse("pow");
}
template <real T>
interval<T> atan2(interval<T>, interval<T>) {
  refuse("atan2");
}
template <real T>
interval<T> rootn(interval<T>, int) {
  refuse("rootn");
}

template interval<float> exp(interval<float>);
template interval<double> exp(interval<double>);
template interval<float> exp2(interval<float>);
template interval<double> exp2(interval<double>);
template interval<float> exp10(interval<float>);
template interval<double> exp10(interval<double>);
template interval<float> expm1(interval<float>);
template interval<double> expm1(interval<double>);
template interval<float> log(interval<float>);
template interval<double> log(interval<double>);
template interval<float> log2(interval<float>);
template interval<double> log2(interval<double>);
template interval<float> log10(interval<float>);
template interval<double> log10(interval<double>);
template interval<float> log1p(interval<float>);
template interval<double> log1p(interval<double>);
template interval<float> asin(interval<float>);
template interval<double> asin(interval<double>);
template interval<float> acos(interval<float>);
template interval<double> acos(interval<double>);
template interval<float> atan(interval<float>);
template interval<double> atan(interval<double>);
template interval<float> sinh(interval<float>);
template interval<double> sinh(interval<double>);
template interval<float> cosh(interval<float>);
template interval<double> cosh(interval<double>);
template interval<float> tanh(interval<float>);
template interval<double> tanh(interval<double>);
template interval<float> asinh(interval<float>);
template interval<double> asinh(interval<double>);
template interval<float> acosh(interval<float>);
template interval<double> acosh(interval<double>);
template interval<float> atanh(interval<float>);
template interval<double> atanh(interval<double>);
template interval<float> erf(interval<float>);
template interval<double> erf(interval<double>);
template interval<float> erfc(interval<float>);
template interval<double> erfc(interval<double>);
template interval<float> sin(interval<float>);
template interval<double> sin(interval<double>);
template interval<float> cos(interval<float>);
template interval<double> cos(interval<double>);
template interval<float> tan(interval<float>);
template interval<double> tan(interval<double>);
template interval<float> pow(interval<float>, interval<float>);
template interval<double> pow(interval<double>, interval<double>);
template interval<float> atan2(interval<float>, interval<float>);
template interval<double> atan2(interval<double>, interval<double>);
template interval<float> rootn(interval<float>, int);
template interval<double> rootn(interval<double>, int);

}  // namespace vouch
