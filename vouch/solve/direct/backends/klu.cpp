// KLU as a module: unsymmetric matrices that are nearly triangular by blocks, as those of circuits are.
#include <klu.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "backend.h"
#include "conjugate.hpp"

namespace {

using integer = SuiteSparse_long;

// What KLU has for one kind of numbers; complex ones have their parts in turns.
struct functions {
  klu_l_numeric* (*factor)(integer*, integer*, double*, klu_l_symbolic*, klu_l_common*);
  integer (*solve)(klu_l_symbolic*, klu_l_numeric*, integer rows, integer columns, double*, klu_l_common*);
  integer (*solve_transposed)(klu_l_symbolic*, klu_l_numeric*, integer rows, integer columns, double*,
                              klu_l_common*);
  integer (*flops)(klu_l_symbolic*, klu_l_numeric*, klu_l_common*);
  integer (*free_numeric)(klu_l_numeric**, klu_l_common*);
  integer parts;  // values of a number
};

constexpr functions of_reals{klu_l_factor, klu_l_solve, klu_l_tsolve, klu_l_flops, klu_l_free_numeric, 1};

constexpr functions of_complex_numbers{klu_zl_factor,
                                       klu_zl_solve,
                                       [](klu_l_symbolic* symbolic, klu_l_numeric* numeric, integer rows,
                                          integer columns, double* x, klu_l_common* common) {
                                         constexpr integer conjugated = 1;
                                         return klu_zl_tsolve(symbolic, numeric, rows, columns, x, conjugated,
                                                              common);
                                       },
                                       klu_zl_flops,
                                       klu_zl_free_numeric,
                                       2};

struct factors {
  const functions& with;
  klu_l_common common;
  klu_l_symbolic* symbolic = nullptr;
  klu_l_numeric* numeric = nullptr;
  std::vector<integer> offsets, rows;  // of A^H by columns, which are A's rows
  std::vector<double> values;
  explicit factors(bool complex) : with(complex ? of_complex_numbers : of_reals) { klu_l_defaults(&common); }
  ~factors() {
    with.free_numeric(&numeric, &common);
    klu_l_free_symbolic(&symbolic, &common);
  }
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;
};

int status_of(integer code) {
  switch (code) {
    case KLU_OK:
      return VOUCH_BACKEND_DONE;
    case KLU_SINGULAR:
      return VOUCH_BACKEND_SINGULAR;
    case KLU_OUT_OF_MEMORY:
      return VOUCH_BACKEND_OUT_OF_MEMORY;
    default:
      return VOUCH_BACKEND_REFUSED;
  }
}

int analyse(int, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  auto f = std::make_unique<factors>(A->complex != 0);
  f->offsets.assign(A->row_ptr, A->row_ptr + A->rows + 1);
  f->rows.assign(A->col, A->col + A->row_ptr[A->rows]);
  f->symbolic = klu_l_analyze(A->rows, f->offsets.data(), f->rows.data(), &f->common);
  if (f->symbolic == nullptr) {
    result->failed_at = f->common.structural_rank + 1;
    return f->common.status == KLU_OK ? VOUCH_BACKEND_REFUSED : status_of(f->common.status);
  }
  result->entries = std::max(0.0, f->symbolic->lnz + f->symbolic->unz);
  result->flops = std::max(0.0, f->symbolic->est_flops);
  result->bytes = static_cast<double>(8 * f->with.parts + 8) * result->entries;
  *made = f.release();
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

// Rows are interchanged anew each time: the old interchanges may be bad ones for other values.
int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) try {
  factors& f = *static_cast<factors*>(made);
  f.values.assign(A->val, A->val + A->row_ptr[A->rows] * f.with.parts);
  if (A->complex != 0) conjugate(f.values.data(), A->row_ptr[A->rows]);
  f.with.free_numeric(&f.numeric, &f.common);
  f.numeric = f.with.factor(f.offsets.data(), f.rows.data(), f.values.data(), f.symbolic, &f.common);
  if (f.numeric == nullptr || f.common.status != KLU_OK) {
    result->failed_at = f.common.numerical_rank + 1;
    return f.common.status == KLU_OK ? VOUCH_BACKEND_REFUSED : status_of(f.common.status);
  }
  result->entries = static_cast<double>(f.numeric->lnz + f.numeric->unz + f.numeric->nzoff);
  f.with.flops(f.symbolic, f.numeric, &f.common);
  result->flops = f.common.flops;
  result->bytes = static_cast<double>(f.common.memusage);
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

// The factors are those of A^H.
int solve(void* made, int transposed, int64_t columns, const double* b, double* x) {
  factors& f = *static_cast<factors*>(made);
  const integer n = f.symbolic->n;
  std::copy_n(b, n * columns * f.with.parts, x);
  const auto call = transposed != 0 ? f.with.solve : f.with.solve_transposed;
  return call(f.symbolic, f.numeric, n, columns, x, &f.common) != 0 ? 0 : 1;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "KLU " + std::to_string(KLU_MAIN_VERSION) + "." +
                                     std::to_string(KLU_SUB_VERSION) + "." + std::to_string(KLU_SUBSUB_VERSION);
  static const vouch_backend self{
      VOUCH_BACKEND_ABI, "klu",     library.c_str(), VOUCH_FACTORS_LU, VOUCH_FACTORS_LU,
      analyse,           factorise, solve,           release};
  return &self;
}
