// CHOLMOD as a module: symmetric positive definite matrices. Its supernodal part is GPL: nothing else of Vouch links it.
#include <cholmod.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "backend.h"
#include "conjugate.hpp"

namespace {

using integer = SuiteSparse_long;

struct factors {
  cholmod_common common;
  cholmod_sparse* A = nullptr;  // the lower triangle
  cholmod_factor* L = nullptr;
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
  factors() {
    cholmod_l_start(&common);
    common.print = 0;
    common.error_handler = nullptr;
    common.final_ll = 1;  // L D L^T without pivoting would take indefinite matrices, too
  }
  ~factors() {
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_dense(&x, &common);
    cholmod_l_free_dense(&y, &common);
    cholmod_l_free_dense(&e, &common);
    cholmod_l_finish(&common);
  }
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;
};

int status_of(const cholmod_common& common) {
  switch (common.status) {
    case CHOLMOD_OK:
    case CHOLMOD_DSMALL:
      return VOUCH_BACKEND_DONE;
    case CHOLMOD_NOT_POSDEF:
      return VOUCH_BACKEND_INDEFINITE;
    case CHOLMOD_OUT_OF_MEMORY:
      return VOUCH_BACKEND_OUT_OF_MEMORY;
    default:
      return VOUCH_BACKEND_REFUSED;
  }
}

// The rows of a Hermitian matrix are its columns, conjugated.
template <class Take>
void for_lower(const vouch_backend_matrix& A, const Take& take) {
  for (int64_t j = 0; j < A.rows; ++j)
    for (int64_t k = std::lower_bound(A.col + A.row_ptr[j], A.col + A.row_ptr[j + 1], j) - A.col;
         k < A.row_ptr[j + 1]; ++k)
      take(j, k);
}

int analyse(int, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  auto f = std::make_unique<factors>();
  cholmod_common& common = f->common;
  const auto n = static_cast<std::size_t>(A->rows);
  std::size_t entries = 0;
  for_lower(*A, [&](int64_t, int64_t) { ++entries; });
  f->A = cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, A->complex != 0 ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                                   &common);
  if (f->A == nullptr) return status_of(common);
  auto* const offsets = static_cast<integer*>(f->A->p);
  auto* const rows = static_cast<integer*>(f->A->i);
  std::fill(offsets, offsets + n + 1, 0);
  integer at = 0;
  for_lower(*A, [&](int64_t j, int64_t k) {
    rows[at] = A->col[k];
    offsets[j + 1] = ++at;
  });
  for (std::size_t j = 0; j < n; ++j) offsets[j + 1] = std::max(offsets[j], offsets[j + 1]);
  f->L = cholmod_l_analyze(f->A, &common);
  if (f->L == nullptr) return common.status == CHOLMOD_OK ? VOUCH_BACKEND_REFUSED : status_of(common);
  result->flops = common.fl;
  result->entries = common.lnz;
  const double of_value = A->complex != 0 ? 16 : 8;
  result->bytes = f->L->is_super != 0
                      ? of_value * static_cast<double>(f->L->xsize) + 8.0 * static_cast<double>(f->L->ssize)
                      : (of_value + 8) * common.lnz;
  *made = f.release();
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) {
  factors& f = *static_cast<factors*>(made);
  double* value = static_cast<double*>(f.A->x);
  if (A->complex == 0) {
    for_lower(*A, [&](int64_t, int64_t k) { *value++ = A->val[k]; });
  } else {
    for_lower(*A, [&](int64_t, int64_t k) { value = std::copy_n(A->val + 2 * k, 2, value); });
    double* const first = static_cast<double*>(f.A->x);
    conjugate(first, (value - first) / 2);
  }
  cholmod_l_factorize(f.A, f.L, &f.common);
  const int status = status_of(f.common);
  if (status != VOUCH_BACKEND_DONE || f.L->minor < f.L->n) {
    result->failed_at = static_cast<int64_t>(f.L->minor) + 1;
    return status == VOUCH_BACKEND_DONE ? VOUCH_BACKEND_INDEFINITE : status;
  }
  result->flops = f.common.fl;
  result->entries = f.common.lnz;
  result->bytes = static_cast<double>(f.common.memory_inuse);
  result->negative = result->zero = 0;
  return VOUCH_BACKEND_DONE;
}

int solve(void* made, int, int64_t columns, const double* b, double* x) {
  factors& f = *static_cast<factors*>(made);
  cholmod_dense rhs{};
  rhs.nrow = rhs.d = f.L->n;
  rhs.ncol = static_cast<std::size_t>(columns);
  rhs.nzmax = rhs.nrow * rhs.ncol;
  rhs.x = const_cast<double*>(b);
  rhs.xtype = f.A->xtype;
  rhs.dtype = CHOLMOD_DOUBLE;
  if (cholmod_l_solve2(CHOLMOD_A, f.L, &rhs, nullptr, &f.x, nullptr, &f.y, &f.e, &f.common) == 0) return 1;
  std::copy_n(static_cast<const double*>(f.x->x), rhs.xtype == CHOLMOD_COMPLEX ? 2 * rhs.nzmax : rhs.nzmax, x);
  return 0;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "CHOLMOD " + std::to_string(CHOLMOD_MAIN_VERSION) + "." +
                                     std::to_string(CHOLMOD_SUB_VERSION) + "." +
                                     std::to_string(CHOLMOD_SUBSUB_VERSION);
  static const vouch_backend self{
      VOUCH_BACKEND_ABI, "cholmod", library.c_str(), VOUCH_FACTORS_CHOLESKY, VOUCH_FACTORS_CHOLESKY, analyse,
      factorise,         solve,     release};
  return &self;
}
