#include <vouch/verify/uncertainty.hpp>

#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch::detail {
namespace {

void require_radius(const char* routine, const char* whose, double radius) {
  if (!(radius >= 0) || std::isinf(radius))
    throw value_error(string_printf("%s: the radius of the %s is %g", routine, whose, radius),
                      "radii are relative distances: finite and not negative");
}

}  // namespace

void require_radii(const char* routine, const uncertainty& within) {
  require_radius(routine, "matrix", within.matrix);
  require_radius(routine, "right-hand side", within.rhs);
}

}  // namespace vouch::detail
