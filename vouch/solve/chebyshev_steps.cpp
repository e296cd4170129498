#include <cstdio>

#include <vouch/solve/chebyshev_steps.hpp>

namespace vouch {

std::string chebyshev_text(const chebyshev_steps& steps) {
  if (!steps.wanted) return "";
  if (steps.failed) return "; chebyshev given up, the residual did not follow it";
  if (steps.estimates == 0 && !steps.running) return "; chebyshev not needed";
  char text[96];
  std::snprintf(text, sizeof text, "; chebyshev over [%.6g, %.6g]", steps.low, steps.high);
  return text;
}

}  // namespace vouch
