// KLU as a module: unsymmetric matrices that are nearly triangular by blocks, as those of circuits are.
#include <klu.h>

#include <new>
#include <string>
#include <vector>

#include "backend.h"

namespace {

using integer = SuiteSparse_long;

struct factors {
  klu_l_common common;
  klu_l_symbolic* symbolic = nullptr;
  klu_l_numeric* numeric = nullptr;
  integer n = 0;
  factors() { klu_l_defaults(&common); }
  ~factors() {
    klu_l_free_numeric(&numeric, &common);
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

int factorise(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val,
              vouch_backend_result* result) try {
  auto made = new factors;
  struct guard {
    factors* kept;
    ~guard() { delete kept; }
  } owner{made};
  made->n = n;
  std::vector<integer> offsets(row_ptr, row_ptr + n + 1), rows(col, col + row_ptr[n]);
  std::vector<double> values(val, val + row_ptr[n]);
  made->symbolic = klu_l_analyze(n, offsets.data(), rows.data(), &made->common);
  if (made->symbolic == nullptr) {
    result->failed_at = made->common.structural_rank + 1;
    return status_of(made->common.status);
  }
  made->numeric = klu_l_factor(offsets.data(), rows.data(), values.data(), made->symbolic, &made->common);
  if (made->numeric == nullptr || made->common.status != KLU_OK) {
    result->failed_at = made->common.numerical_rank + 1;
    return made->common.status == KLU_OK ? VOUCH_BACKEND_REFUSED : status_of(made->common.status);
  }
  result->entries = static_cast<double>(made->numeric->lnz + made->numeric->unz + made->numeric->nzoff);
  klu_l_flops(made->symbolic, made->numeric, &made->common);
  result->flops = made->common.flops;
  result->bytes = static_cast<double>(made->common.memusage);
  result->factors = made;
  owner.kept = nullptr;
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

// The factors are those of A^T, whose columns are A's rows.
int solve(void* made, int transposed, double* x) {
  factors& f = *static_cast<factors*>(made);
  const auto call = transposed != 0 ? klu_l_solve : klu_l_tsolve;
  return call(f.symbolic, f.numeric, f.n, 1, x, &f.common) != 0 ? 0 : 1;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const std::string library = "KLU " + std::to_string(KLU_MAIN_VERSION) + "." +
                                     std::to_string(KLU_SUB_VERSION) + "." + std::to_string(KLU_SUBSUB_VERSION);
  static const vouch_backend self{VOUCH_BACKEND_ABI, "klu", library.c_str(), 0, factorise, solve, release};
  return &self;
}
