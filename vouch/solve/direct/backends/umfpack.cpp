// UMFPACK as a module: any square matrix. GPL: nothing else of Vouch links it.
#include <umfpack.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "backend.h"
#include "conjugate.hpp"

namespace {

using integer = SuiteSparse_long;

// What UMFPACK has for one kind of numbers; complex ones have their parts in turns.
struct functions {
  integer (*symbolic)(integer n, const integer* Ap, const integer* Ai, const double* Ax, void** made,
                      const double* control, double* info);
  integer (*numeric)(const integer* Ap, const integer* Ai, const double* Ax, void* symbolic, void** made,
                     const double* control, double* info);
  integer (*solve)(integer system, const integer* Ap, const integer* Ai, const double* Ax, double* x,
                   const double* b, void* numeric, const double* control, double* info, integer* places,
                   double* work);
  void (*free_symbolic)(void**);
  void (*free_numeric)(void**);
  std::size_t parts;  // values of a number
  std::size_t work;   // values for an unknown
};

constexpr functions of_reals{
    [](integer n, const integer* Ap, const integer* Ai, const double* Ax, void** made, const double* control,
       double* info) { return umfpack_dl_symbolic(n, n, Ap, Ai, Ax, made, control, info); },
    umfpack_dl_numeric,
    umfpack_dl_wsolve,
    umfpack_dl_free_symbolic,
    umfpack_dl_free_numeric,
    1,
    1};

constexpr functions of_complex_numbers{
    [](integer n, const integer* Ap, const integer* Ai, const double* Ax, void** made, const double* control,
       double* info) { return umfpack_zl_symbolic(n, n, Ap, Ai, Ax, nullptr, made, control, info); },
    [](const integer* Ap, const integer* Ai, const double* Ax, void* symbolic, void** made,
       const double* control,
       double* info) { return umfpack_zl_numeric(Ap, Ai, Ax, nullptr, symbolic, made, control, info); },
    [](integer system, const integer* Ap, const integer* Ai, const double* Ax, double* x, const double* b,
       void* numeric, const double* control, double* info, integer* places, double* work) {
      return umfpack_zl_wsolve(system, Ap, Ai, Ax, nullptr, x, nullptr, b, nullptr, numeric, control, info,
                               places, work);
    },
    umfpack_zl_free_symbolic,
    umfpack_zl_free_numeric,
    2,
    4};

struct factors {
  const functions& with;
  void *symbolic = nullptr, *numeric = nullptr;
  double control[UMFPACK_CONTROL];
  std::vector<integer> offsets, rows, places;  // of A^H by columns, which are A's rows
  std::vector<double> values, work;
  explicit factors(bool complex) : with(complex ? of_complex_numbers : of_reals) {
    umfpack_dl_defaults(control);
    control[UMFPACK_ORDERING] = UMFPACK_ORDERING_CHOLMOD;  // AMD, and METIS where that fills in
    control[UMFPACK_IRSTEP] = 0;                           // solutions are refined in twice the precision
  }
  ~factors() {
    with.free_symbolic(&symbolic);
    with.free_numeric(&numeric);
  }
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;

  void take_values(const vouch_backend_matrix& A) {
    values.assign(A.val, A.val + A.row_ptr[A.rows] * static_cast<int64_t>(with.parts));
    if (A.complex != 0) conjugate(values.data(), A.row_ptr[A.rows]);
  }
};

int status_of(integer code) {
  switch (code) {
    case UMFPACK_OK:
      return VOUCH_BACKEND_DONE;
    case UMFPACK_WARNING_singular_matrix:
      return VOUCH_BACKEND_SINGULAR;
    case UMFPACK_ERROR_out_of_memory:
      return VOUCH_BACKEND_OUT_OF_MEMORY;
    default:
      return VOUCH_BACKEND_REFUSED;
  }
}

// What UMFPACK predicts are upper bounds, far off where rows are interchanged: of the memory it tells something where pivots are
// to stay on the diagonal.
int analyse(int, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  auto f = std::make_unique<factors>(A->complex != 0);
  f->offsets.assign(A->row_ptr, A->row_ptr + A->rows + 1);
  f->rows.assign(A->col, A->col + A->row_ptr[A->rows]);
  f->take_values(*A);
  double info[UMFPACK_INFO];
  const integer code = f->with.symbolic(A->rows, f->offsets.data(), f->rows.data(), f->values.data(),
                                        &f->symbolic, f->control, info);
  if (const int status = status_of(code); status != VOUCH_BACKEND_DONE) return status;
  result->entries = info[UMFPACK_LNZ_ESTIMATE] + info[UMFPACK_UNZ_ESTIMATE];
  result->flops = info[UMFPACK_FLOPS_ESTIMATE];
  if (info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC)
    result->bytes = 8 * static_cast<double>(f->with.parts) * result->entries;
  *made = f.release();
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) try {
  factors& f = *static_cast<factors*>(made);
  f.take_values(*A);
  f.with.free_numeric(&f.numeric);
  double info[UMFPACK_INFO];
  const integer code =
      f.with.numeric(f.offsets.data(), f.rows.data(), f.values.data(), f.symbolic, &f.numeric, f.control, info);
  if (const int status = status_of(code); status != VOUCH_BACKEND_DONE) {
    if (status == VOUCH_BACKEND_SINGULAR && f.numeric != nullptr)
      result->failed_at = static_cast<int64_t>(info[UMFPACK_UDIAG_NZ]) + 1;
    return status;
  }
  f.places.resize(static_cast<std::size_t>(A->rows));
  f.work.resize(static_cast<std::size_t>(A->rows) * f.with.work);
  result->entries = info[UMFPACK_LNZ] + info[UMFPACK_UNZ];
  result->flops = info[UMFPACK_FLOPS];
  result->bytes = info[UMFPACK_NUMERIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT];
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int solve(void* made, int transposed, int64_t columns, const double* b, double* x) {
  factors& f = *static_cast<factors*>(made);
  double info[UMFPACK_INFO];
  const std::size_t n = f.places.size() * f.with.parts;
  for (int64_t j = 0; j < columns; ++j, b += n, x += n)
    if (f.with.solve(transposed != 0 ? UMFPACK_A : UMFPACK_At, f.offsets.data(), f.rows.data(), f.values.data(),
                     x, b, f.numeric, f.control, info, f.places.data(), f.work.data()) != UMFPACK_OK)
      return 1;
  return 0;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "UMFPACK " + std::to_string(UMFPACK_MAIN_VERSION) + "." +
                                     std::to_string(UMFPACK_SUB_VERSION) + "." +
                                     std::to_string(UMFPACK_SUBSUB_VERSION);
  static const vouch_backend self{
      VOUCH_BACKEND_ABI, "umfpack", library.c_str(), VOUCH_FACTORS_LU, VOUCH_FACTORS_LU,
      analyse,           factorise, solve,           release};
  return &self;
}
