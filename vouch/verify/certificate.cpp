#include <vouch/verify/certificate.hpp>

#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch {
namespace detail {
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

}  // namespace detail

void certificate::require_covers(const char* routine, const matrix_fingerprint& matrix,
                                 const uncertainty& within) const {
  const ieee_environment here;
  detail::require_radii(routine, within);
  if (matrix != matrix_)
    throw value_error(
        string_printf("%s: the certificate is for another matrix: %s", routine,
                      matrix.rows != matrix_.rows || matrix.cols != matrix_.cols ? "of another size"
                      : matrix.nonzeros != matrix_.nonzeros || matrix.pattern != matrix_.pattern
                          ? "with entries in other places"
                          : "with other values"),
        "prove this one nonsingular");
  if (within.matrix > matrix_radius_)
    throw value_error(string_printf("%s: the certificate is for matrices within %g, not within %g", routine,
                                    matrix_radius_, within.matrix),
                      "give that radius to the proof");
  if (referred_matrix() != matrix_)
    throw value_error(string_printf("%s: the matrix that the certificate refers to was changed since", routine),
                      "prove it again, or keep it as it was as long as the certificate is used");
}

void certificate::require_lengths(const char* routine, std::int64_t given, std::int64_t result) const {
  for (const std::int64_t size : {given, result})
    if (size != matrix_.rows)
      throw shape_error(string_printf("%s: a vector has %lld elements, the matrix that was proved %lld rows",
                                      routine, static_cast<long long>(size),
                                      static_cast<long long>(matrix_.rows)));
}

}  // namespace vouch
