// vouch/verify/pass_bodies.hpp -- which passes there are, for those who instantiate them; private.
#pragma once
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

// X(matrix, body) for passes over rows.
#define VOUCH_VERIFY_ROW_PASSES(X)                  \
  X(csr_view<const double>, residual_body)          \
  X(csr_view<const double>, comparison_body)        \
  X(csr_view<const double>, off_diagonal_body)      \
  X(csr_view<const double>, row_norm_body)          \
  X(csr_view<const double>, scale_body)             \
  X(csr_view<const double>, scaled_comparison_body) \
  X(csr_view<const double>, scaled_body)            \
  X(csr_view<const float>, smoothing_body)          \
  X(dia_layout<double>, residual_body)              \
  X(dia_layout<double>, comparison_body)            \
  X(dia_layout<double>, off_diagonal_body)          \
  X(dia_layout<double>, row_norm_body)              \
  X(dia_layout<float>, smoothing_body)              \
  X(matrix_view<const double>, residual_body)       \
  X(matrix_view<const double>, comparison_body)     \
  X(matrix_view<const double>, off_diagonal_body)   \
  X(matrix_view<const double>, row_norm_body)       \
  X(matrix_view<const double>, row_exponent_body)

// X(body) for passes over elements.
#define VOUCH_VERIFY_ELEMENT_PASSES(X) \
  X(magnitude_body)                    \
  X(middle_body)                       \
  X(split_body)                        \
  X(point_body)                        \
  X(jacobi_body)                       \
  X(radius_body)                       \
  X(unscale_body)                      \
  X(first_step_body)                   \
  X(fill_body<double>)                 \
  X(fill_body<float>)                  \
  X(improve_body)                      \
  X(absorb_body)                       \
  X(relative_body)                     \
  X(compare_entry_body)                \
  X(unit_diagonal_body)                \
  X(widen_entry_body)                  \
  X(column_exponent_body)              \
  X(times_powers_body)                 \
  X(scatter_body)                      \
  X(jacobi_weight_body)

// X(body) for largest values.
#define VOUCH_VERIFY_LARGEST(X) \
  X(quotient_body)              \
  X(interval_quotient_body)     \
  X(refutes_body)               \
  X(size_body)                  \
  X(scale_residual_body)        \
  X(widen_body)                 \
  X(widen_multiple_body)        \
  X(relative_body)
