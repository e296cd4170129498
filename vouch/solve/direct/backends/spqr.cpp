// SPQR as a module: matrices of any shape and rank. GPL: nothing else of Vouch links it.
#include <SuiteSparseQR_C.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include "backend.h"

namespace {

using integer = SuiteSparse_long;

// QR of A, or where A has more columns than rows of A^T.
struct factors {
  cholmod_common common;
  bool wide = false;
  cholmod_sparse* A = nullptr;  // what is factorised
  SuiteSparseQR_C_factorization* qr = nullptr;
  factors() {
    cholmod_l_start(&common);
    common.print = 0;
    common.error_handler = nullptr;
  }
  ~factors() {
    SuiteSparseQR_C_free(&qr, &common);
    cholmod_l_free_sparse(&A, &common);
    cholmod_l_finish(&common);
  }
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;
};

int status_of(const cholmod_common& common) {
  if (common.status == CHOLMOD_OUT_OF_MEMORY) return VOUCH_BACKEND_OUT_OF_MEMORY;
  return common.status < CHOLMOD_OK ? VOUCH_BACKEND_REFUSED : VOUCH_BACKEND_DONE;
}

// A's rows are the columns of A^T.
cholmod_sparse* by_columns(const vouch_backend_matrix& A, bool wide, cholmod_common& common) {
  const auto rows = static_cast<std::size_t>(A.rows), cols = static_cast<std::size_t>(A.cols);
  const auto entries = static_cast<std::size_t>(A.row_ptr[A.rows]);
  cholmod_sparse* transposed = cholmod_l_allocate_sparse(cols, rows, entries, 1, 1, 0, CHOLMOD_REAL, &common);
  if (transposed == nullptr) return nullptr;
  std::copy(A.row_ptr, A.row_ptr + rows + 1, static_cast<integer*>(transposed->p));
  std::copy(A.col, A.col + entries, static_cast<integer*>(transposed->i));
  std::copy(A.val, A.val + entries, static_cast<double*>(transposed->x));
  if (wide) return transposed;
  cholmod_sparse* const turned = cholmod_l_transpose(transposed, 1, &common);
  cholmod_l_free_sparse(&transposed, &common);
  return turned;
}

int analyse(int, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  auto f = std::make_unique<factors>();
  f->wide = A->cols > A->rows;
  f->A = by_columns(*A, f->wide, f->common);
  if (f->A == nullptr) return status_of(f->common);
  f->qr = SuiteSparseQR_C_symbolic(SPQR_ORDERING_DEFAULT, 1, f->A, &f->common);
  if (f->qr == nullptr) return f->common.status == CHOLMOD_OK ? VOUCH_BACKEND_REFUSED : status_of(f->common);
  result->entries = static_cast<double>(f->common.SPQR_istat[0] + f->common.SPQR_istat[1]);
  result->flops = f->common.SPQR_flopcount_bound;
  *made = f.release();
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) {
  factors& f = *static_cast<factors*>(made);
  cholmod_l_free_sparse(&f.A, &f.common);
  f.A = by_columns(*A, f.wide, f.common);
  if (f.A == nullptr) return status_of(f.common);
  const int done = SuiteSparseQR_C_numeric(SPQR_DEFAULT_TOL, f.A, f.qr, &f.common);
  if (done == 0 || status_of(f.common) != VOUCH_BACKEND_DONE)
    return f.common.status == CHOLMOD_OK ? VOUCH_BACKEND_REFUSED : status_of(f.common);
  result->rank = f.common.SPQR_istat[4];
  result->entries = static_cast<double>(f.common.SPQR_istat[0] + f.common.SPQR_istat[1]);
  result->flops = f.common.SPQR_flopcount;
  result->bytes = static_cast<double>(f.common.memory_inuse);
  return VOUCH_BACKEND_DONE;
}

// x := second(first(b)); each takes one of SPQR's systems or products.
template <class First, class Second>
int chain(factors& f, cholmod_dense* b, const First& first, const Second& second, double* x) {
  cholmod_dense* between = first(b);
  cholmod_dense* last = between != nullptr ? second(between) : nullptr;
  if (last != nullptr) std::copy_n(static_cast<const double*>(last->x), last->nrow * last->ncol, x);
  const int status = last != nullptr ? 0 : 1;
  cholmod_l_free_dense(&between, &f.common);
  cholmod_l_free_dense(&last, &f.common);
  return status;
}

int solve(void* made, int transposed, int64_t columns, const double* b, double* x) {
  factors& f = *static_cast<factors*>(made);
  const bool forward =
      (transposed != 0) == f.wide;  // the pseudoinverse of what is factorised, not of its transpose
  cholmod_dense rhs{};
  rhs.nrow = rhs.d = forward ? f.A->nrow : f.A->ncol;
  rhs.ncol = static_cast<std::size_t>(columns);
  rhs.nzmax = rhs.nrow * rhs.ncol;
  rhs.x = const_cast<double*>(b);
  rhs.xtype = CHOLMOD_REAL;
  rhs.dtype = CHOLMOD_DOUBLE;
  const auto product = [&](int which) {
    return [&f, which](cholmod_dense* v) { return SuiteSparseQR_C_qmult(which, f.qr, v, &f.common); };
  };
  const auto system = [&](int which) {
    return [&f, which](cholmod_dense* v) { return SuiteSparseQR_C_solve(which, f.qr, v, &f.common); };
  };
  return forward ? chain(f, &rhs, product(SPQR_QTX), system(SPQR_RETX_EQUALS_B), x)
                 : chain(f, &rhs, system(SPQR_RTX_EQUALS_ETB), product(SPQR_QX), x);
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "SPQR " + std::to_string(SPQR_MAIN_VERSION) + "." +
                                     std::to_string(SPQR_SUB_VERSION) + "." +
                                     std::to_string(SPQR_SUBSUB_VERSION);
  static const vouch_backend self{VOUCH_BACKEND_ABI, "spqr",    library.c_str(), VOUCH_FACTORS_QR, 0,
                                  analyse,           factorise, solve,           release};
  return &self;
}
