// A module whose solutions are wrong, and which predicts that matrices of 51 rows take more memory than there is.
#include <vouch/solve/direct/backends/backend.h>

namespace {

int64_t rows = 0;

int analyse(int, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) {
  rows = A->rows;
  result->bytes = rows == 51 ? 1e18 : 1;
  *made = &rows;
  return VOUCH_BACKEND_DONE;
}

int factorise(void*, const vouch_backend_matrix*, vouch_backend_result* result) {
  result->entries = 1;
  return VOUCH_BACKEND_DONE;
}

int solve(void*, int, int64_t columns, const double* b, double* x) {
  for (int64_t i = 0; i < columns * rows; ++i) x[i] = b[i] / 8;
  return 0;
}

void release(void*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const vouch_backend self{VOUCH_BACKEND_ABI, "klu",     "Liar 1.0", VOUCH_FACTORS_LU, 0,
                                  analyse,           factorise, solve,      release};
  return &self;
}
