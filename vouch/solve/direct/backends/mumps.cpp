// MUMPS as a module, its sequential build: symmetric indefinite matrices with their inertia, and any square ones.
#include <dmumps_c.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "backend.h"

namespace {

std::mutex one_at_a_time;  // its Fortran modules hold state of their own

struct factors {
  DMUMPS_STRUC_C id{};
  bool begun = false;
  int kind = 0;
  std::vector<MUMPS_INT> rows, cols;  // from 1; of a symmetric matrix the lower triangle
  std::vector<double> values;

  int& control(int number) { return id.icntl[number - 1]; }
  int code() const { return id.infog[0]; }
  int run(int job) {
    id.job = job;
    dmumps_c(&id);
    return code();
  }
  factors() = default;
  ~factors() {
    const std::lock_guard lock(one_at_a_time);
    if (begun) run(-2);
  }
  factors(const factors&) = delete;
  factors& operator=(const factors&) = delete;
};

int status_of(const factors& f) {
  if (f.code() >= 0) return VOUCH_BACKEND_DONE;
  switch (f.code()) {
    case -5:
    case -7:
    case -13:
    case -19:
      return VOUCH_BACKEND_OUT_OF_MEMORY;
    case -6:
    case -10:
      return VOUCH_BACKEND_SINGULAR;
    default:
      return VOUCH_BACKEND_REFUSED;
  }
}

bool is_taken(const factors& f, int64_t row, int64_t col) { return f.kind == VOUCH_FACTORS_LU || col <= row; }

void take_values(const vouch_backend_matrix& A, factors& f) {
  f.values.clear();
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (is_taken(f, i, A.col[k])) f.values.push_back(A.val[k]);
  f.id.a = f.values.data();
}

int analyse(int kind, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  if (A->rows > std::numeric_limits<MUMPS_INT>::max() - 1) return VOUCH_BACKEND_REFUSED;
  if (A->row_ptr[A->rows] == 0) return VOUCH_BACKEND_SINGULAR;  // of which MUMPS says that it has no entries
  auto f = std::make_unique<factors>();
  f->kind = kind;
  for (int64_t i = 0; i < A->rows; ++i)
    for (int64_t k = A->row_ptr[i]; k < A->row_ptr[i + 1]; ++k)
      if (is_taken(*f, i, A->col[k])) {
        f->rows.push_back(static_cast<MUMPS_INT>(i + 1));
        f->cols.push_back(A->col[k] + 1);
      }
  take_values(*A, *f);
  const std::lock_guard lock(one_at_a_time);
  f->id.sym = kind == VOUCH_FACTORS_LU ? 0 : 2;
  f->id.par = 1;
  f->id.comm_fortran = -987654;  // the only process
  if (f->run(-1) < 0) return VOUCH_BACKEND_REFUSED;
  f->begun = true;
  for (const int stream : {1, 2, 3}) f->control(stream) = -1;
  f->control(4) = 0;
  f->control(24) = kind == VOUCH_FACTORS_LU ? 0 : 1;  // null pivots are counted and gone around
  f->id.n = static_cast<MUMPS_INT>(A->rows);
  f->id.nnz = static_cast<MUMPS_INT8>(f->values.size());
  f->id.irn = f->rows.data();
  f->id.jcn = f->cols.data();
  f->run(1);
  if (const int status = status_of(*f); status != VOUCH_BACKEND_DONE) {
    if (f->code() == -6) result->failed_at = f->id.infog[1] + 1;  // the structural rank
    return status;
  }
  const MUMPS_INT entries = f->id.infog[2];  // in millions where that is too large
  result->entries = entries < 0 ? -1e6 * entries : entries;
  result->flops = f->id.rinfog[0];
  result->bytes = 8 * result->entries;
  *made = f.release();
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) try {
  factors& f = *static_cast<factors*>(made);
  take_values(*A, f);
  const std::lock_guard lock(one_at_a_time);
  // Delayed pivots need more room than was predicted.
  constexpr int most_percent = 2000;
  while ((f.run(2) == -8 || f.code() == -9) && f.control(14) < most_percent) f.control(14) *= 2;
  if (const int status = status_of(f); status != VOUCH_BACKEND_DONE) {
    if (f.code() == -10) result->failed_at = f.id.infog[1] + 1;
    return status;
  }
  const MUMPS_INT entries = f.id.infog[28];
  result->entries = entries < 0 ? -1e6 * entries : entries;
  result->flops = f.id.rinfog[2];
  result->bytes = 1e6 * f.id.infog[21];
  if (f.kind == VOUCH_FACTORS_LDLT) {
    result->negative = f.id.infog[11];
    result->zero = f.id.infog[27];
  }
  return VOUCH_BACKEND_DONE;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int solve(void* made, int transposed, int64_t columns, const double* b, double* x) {
  factors& f = *static_cast<factors*>(made);
  const std::lock_guard lock(one_at_a_time);
  std::copy_n(b, columns * f.id.n, x);
  f.control(9) = transposed != 0 ? 0 : 1;
  f.id.rhs = x;
  f.id.nrhs = static_cast<MUMPS_INT>(columns);
  f.id.lrhs = f.id.n;
  return f.run(3) < 0 ? 1 : 0;
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const vouch_backend self{VOUCH_BACKEND_ABI,
                                  "mumps",
                                  "MUMPS " MUMPS_VERSION,
                                  VOUCH_FACTORS_LDLT | VOUCH_FACTORS_LU,
                                  analyse,
                                  factorise,
                                  solve,
                                  release};
  return &self;
}
