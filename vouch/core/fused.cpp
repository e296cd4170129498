#include <vouch/core/fused.hpp>

namespace vouch {

double fused_in_library(double a, double b, double c) { return std::fma(a, b, c); }
float fused_in_library(float a, float b, float c) { return std::fma(a, b, c); }

}  // namespace vouch
