// vouch/solve/krylov/cg_chunk.hpp -- what an iteration of conjugate gradients does with n neighbouring rows on the CPU;
// private.
#pragma once
#include <cstdint>

#include <vouch/solve/krylov/cg_recurrence.hpp>

// minv: 1/diag(M), or nullptr.
namespace vouch::cg_chunk {

/// The part of these rows in the inner products.
cg_dots dots(const float* p, const float* q, const float* r, const float* minv, std::int64_t n);
cg_dots dots(const double* p, const double* q, const double* r, const double* minv, std::int64_t n);

/// d += along_p p + along_mr M r
void update_solution(float along_p, float along_mr, const float* p, const float* r, const float* minv, float* d,
                     std::int64_t n);
void update_solution(double along_p, double along_mr, const double* p, const double* r, const double* minv,
                     double* d, std::int64_t n);

/// r -= alpha q, p := M r + beta p
void update(float alpha, float beta, const float* q, const float* minv, float* p, float* r, std::int64_t n);
void update(double alpha, double beta, const double* q, const double* minv, double* p, double* r,
            std::int64_t n);

}  // namespace vouch::cg_chunk
