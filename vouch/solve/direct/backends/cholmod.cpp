// CHOLMOD as a module: symmetric positive definite matrices. Its supernodal part is GPL: nothing else of Vouch links it.
#include <cholmod.h>

#include <algorithm>
#include <new>
#include <string>

#include "backend.h"

namespace {

using integer = SuiteSparse_long;

struct factors {
  cholmod_common common;
  cholmod_factor* L = nullptr;
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
  factors() {
    cholmod_l_start(&common);
    common.print = 0;
    common.error_handler = nullptr;
    common.final_ll = 1;  // L D L^T without pivoting would take indefinite matrices, too
  }
  ~factors() {
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

// The rows of a symmetric matrix are its columns; what is above the diagonal of those is not read.
int factorise(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val,
              vouch_backend_result* result) try {
  auto made = new factors;
  struct guard {
    factors* kept;
    ~guard() { delete kept; }
  } owner{made};
  cholmod_common& common = made->common;
  const auto entries = static_cast<std::size_t>(row_ptr[n]), size = static_cast<std::size_t>(n);
  cholmod_sparse* A = cholmod_l_allocate_sparse(size, size, entries, 1, 1, -1, CHOLMOD_REAL, &common);
  if (A == nullptr) return status_of(common);
  std::copy(row_ptr, row_ptr + n + 1, static_cast<integer*>(A->p));
  std::copy(col, col + entries, static_cast<integer*>(A->i));
  std::copy(val, val + entries, static_cast<double*>(A->x));
  made->L = cholmod_l_analyze(A, &common);
  if (made->L != nullptr) cholmod_l_factorize(A, made->L, &common);
  const double flops = common.fl, entries_of_factor = common.lnz;
  cholmod_l_free_sparse(&A, &common);
  const int status =
      made->L == nullptr && common.status == CHOLMOD_OK ? VOUCH_BACKEND_REFUSED : status_of(common);
  if (status != VOUCH_BACKEND_DONE || made->L->minor < size) {
    if (made->L != nullptr) result->failed_at = static_cast<int64_t>(made->L->minor) + 1;
    return status == VOUCH_BACKEND_DONE ? VOUCH_BACKEND_INDEFINITE : status;
  }
  result->entries = entries_of_factor;
  result->flops = flops;
  result->bytes = static_cast<double>(common.memory_inuse);
  result->factors = made;
  owner.kept = nullptr;
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int solve(void* made, int, double* x) {
  factors& f = *static_cast<factors*>(made);
  cholmod_dense b{};
  b.nrow = b.nzmax = b.d = f.L->n;
  b.ncol = 1;
  b.x = x;
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  if (cholmod_l_solve2(CHOLMOD_A, f.L, &b, nullptr, &f.x, nullptr, &f.y, &f.e, &f.common) == 0) return 1;
  std::copy_n(static_cast<const double*>(f.x->x), f.L->n, x);
  return 0;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "CHOLMOD " + std::to_string(CHOLMOD_MAIN_VERSION) + "." +
                                     std::to_string(CHOLMOD_SUB_VERSION) + "." +
                                     std::to_string(CHOLMOD_SUBSUB_VERSION);
  static const vouch_backend self{VOUCH_BACKEND_ABI, "cholmod", library.c_str(), 1, factorise, solve, release};
  return &self;
}
