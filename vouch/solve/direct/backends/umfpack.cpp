// UMFPACK as a module: any square matrix. GPL: nothing else of Vouch links it.
#include <umfpack.h>

#include <new>
#include <string>
#include <vector>

#include "backend.h"

namespace {

using integer = SuiteSparse_long;

struct factors {
  void* numeric = nullptr;
  integer n = 0;
  std::vector<integer> offsets, rows;  // of A^T by columns, which are A's rows
  std::vector<double> values, from, work;
  std::vector<integer> places;
  ~factors() { umfpack_dl_free_numeric(&numeric); }
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

int factorise(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val,
              vouch_backend_result* result) try {
  auto made = new factors;
  struct guard {
    factors* kept;
    ~guard() { delete kept; }
  } owner{made};
  made->n = n;
  made->offsets.assign(row_ptr, row_ptr + n + 1);
  made->rows.assign(col, col + row_ptr[n]);
  made->values.assign(val, val + row_ptr[n]);
  double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
  umfpack_dl_defaults(control);
  control[UMFPACK_ORDERING] = UMFPACK_ORDERING_CHOLMOD;  // AMD, and METIS where that fills in
  control[UMFPACK_IRSTEP] = 0;                           // solutions are refined in twice the precision
  void* symbolic = nullptr;
  integer code = umfpack_dl_symbolic(n, n, made->offsets.data(), made->rows.data(), made->values.data(),
                                     &symbolic, control, info);
  if (code == UMFPACK_OK) {
    code = umfpack_dl_numeric(made->offsets.data(), made->rows.data(), made->values.data(), symbolic,
                              &made->numeric, control, info);
    umfpack_dl_free_symbolic(&symbolic);
  }
  if (const int status = status_of(code); status != VOUCH_BACKEND_DONE) {
    if (status == VOUCH_BACKEND_SINGULAR && made->numeric != nullptr)
      result->failed_at = static_cast<int64_t>(info[UMFPACK_UDIAG_NZ]) + 1;
    return status;
  }
  made->places.resize(static_cast<std::size_t>(n));
  made->work.resize(static_cast<std::size_t>(n));
  made->from.resize(static_cast<std::size_t>(n));
  result->entries = info[UMFPACK_LNZ] + info[UMFPACK_UNZ];
  result->flops = info[UMFPACK_FLOPS];
  result->bytes = info[UMFPACK_NUMERIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT];
  result->factors = made;
  owner.kept = nullptr;
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int solve(void* made, int transposed, double* x) {
  factors& f = *static_cast<factors*>(made);
  double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
  umfpack_dl_defaults(control);
  control[UMFPACK_IRSTEP] = 0;
  f.from.assign(x, x + f.n);
  const integer code = umfpack_dl_wsolve(transposed != 0 ? UMFPACK_A : UMFPACK_Aat, f.offsets.data(),
                                         f.rows.data(), f.values.data(), x, f.from.data(), f.numeric, control,
                                         info, f.places.data(), f.work.data());
  return code == UMFPACK_OK ? 0 : 1;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "UMFPACK " + std::to_string(UMFPACK_MAIN_VERSION) + "." +
                                     std::to_string(UMFPACK_SUB_VERSION) + "." +
                                     std::to_string(UMFPACK_SUBSUB_VERSION);
  static const vouch_backend self{VOUCH_BACKEND_ABI, "umfpack", library.c_str(), 0, factorise, solve, release};
  return &self;
}
