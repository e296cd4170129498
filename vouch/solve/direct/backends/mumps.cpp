// MUMPS as a module, its sequential build: symmetric indefinite matrices with their inertia, and any square ones.
#include <dmumps_c.h>
#include <zmumps_c.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "backend.h"
#include "conjugate.hpp"

namespace {

std::mutex one_at_a_time;  // its Fortran modules hold state of their own

struct factors {
  virtual ~factors() = default;
  virtual int analyse(const vouch_backend_matrix& A, vouch_backend_result& result) = 0;
  virtual int factorise(const vouch_backend_matrix& A, vouch_backend_result& result) = 0;
  virtual int solve(bool transposed, int64_t columns, const double* b, double* x) = 0;
};

// By the structure of MUMPS for one kind of numbers, complex ones with their parts in turns.
template <class Structure, void (*call)(Structure*)>
class factors_of final : public factors {
 public:
  explicit factors_of(int kind) : kind_(kind) {}
  ~factors_of() override {
    const std::lock_guard lock(one_at_a_time);
    if (begun_) run(-2);
  }
  factors_of(const factors_of&) = delete;
  factors_of& operator=(const factors_of&) = delete;

  int analyse(const vouch_backend_matrix& A, vouch_backend_result& result) override {
    if (A.rows > std::numeric_limits<MUMPS_INT>::max() - 1) return VOUCH_BACKEND_REFUSED;
    if (A.row_ptr[A.rows] == 0) return VOUCH_BACKEND_SINGULAR;  // of which MUMPS says that it has no entries
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (is_taken(i, A.col[k])) {
          rows_.push_back(static_cast<MUMPS_INT>(i + 1));
          cols_.push_back(A.col[k] + 1);
        }
    take_values(A);
    const std::lock_guard lock(one_at_a_time);
    id_.sym = is_symmetric() ? 2 : 0;
    id_.par = 1;
    id_.comm_fortran = -987654;  // the only process
    if (run(-1) < 0) return VOUCH_BACKEND_REFUSED;
    begun_ = true;
    for (const int stream : {1, 2, 3}) control(stream) = -1;
    control(4) = 0;
    control(24) = is_symmetric() ? 1 : 0;  // null pivots are counted and gone around
    id_.n = static_cast<MUMPS_INT>(A.rows);
    id_.nnz = static_cast<MUMPS_INT8>(rows_.size());
    id_.irn = rows_.data();
    id_.jcn = cols_.data();
    run(1);
    if (const int status = this->status(); status != VOUCH_BACKEND_DONE) {
      if (code() == -6) result.failed_at = id_.infog[1] + 1;  // the structural rank
      return status;
    }
    result.entries = count(id_.infog[2]);
    result.flops = id_.rinfog[0];
    result.bytes = 8 * parts * result.entries;
    return VOUCH_BACKEND_DONE;
  }

  int factorise(const vouch_backend_matrix& A, vouch_backend_result& result) override {
    take_values(A);
    const std::lock_guard lock(one_at_a_time);
    // Delayed pivots need more room than was predicted.
    constexpr int most_percent = 2000;
    while ((run(2) == -8 || code() == -9) && control(14) < most_percent) control(14) *= 2;
    if (const int status = this->status(); status != VOUCH_BACKEND_DONE) {
      if (code() == -10) result.failed_at = id_.infog[1] + 1;
      return status;
    }
    result.entries = count(id_.infog[28]);
    result.flops = id_.rinfog[2];
    result.bytes = 1e6 * id_.infog[21];
    if (is_symmetric()) {
      const MUMPS_INT zero = id_.infog[27];
      result.rank = id_.n - zero;
      if (parts == 1) {
        result.negative = id_.infog[11];
        result.zero = zero;
      }
    }
    return VOUCH_BACKEND_DONE;
  }

  // It knows A and its transpose: A^H x = b is A^T x* = b*.
  int solve(bool transposed, int64_t columns, const double* b, double* x) override {
    const std::lock_guard lock(one_at_a_time);
    const int64_t numbers = columns * id_.n;
    std::copy_n(b, parts * numbers, x);
    const bool conjugated = transposed && parts == 2;
    if (conjugated) conjugate(x, numbers);
    control(9) = transposed ? 0 : 1;
    id_.rhs = reinterpret_cast<number*>(x);
    id_.nrhs = static_cast<MUMPS_INT>(columns);
    id_.lrhs = id_.n;
    if (run(3) < 0) return 1;
    if (conjugated) conjugate(x, numbers);
    return 0;
  }

 private:
  using number = std::remove_pointer_t<decltype(Structure::a)>;
  static constexpr int parts = std::is_same_v<number, double> ? 1 : 2;

  MUMPS_INT& control(int which) { return id_.icntl[which - 1]; }
  int code() const { return id_.infog[0]; }
  int run(int job) {
    id_.job = job;
    call(&id_);
    return code();
  }
  int status() const {
    if (code() >= 0) return VOUCH_BACKEND_DONE;
    switch (code()) {
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
  static double count(MUMPS_INT entries) {
    return entries < 0 ? -1e6 * entries : entries;
  }  // too many: in millions
  bool is_symmetric() const { return kind_ == VOUCH_FACTORS_LDLT; }
  bool is_taken(int64_t row, int64_t col) const { return !is_symmetric() || col <= row; }
  void take_values(const vouch_backend_matrix& A) {
    values_.clear();
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (is_taken(i, A.col[k])) values_.insert(values_.end(), A.val + parts * k, A.val + parts * (k + 1));
    id_.a = reinterpret_cast<number*>(values_.data());
  }

  Structure id_{};
  bool begun_ = false;
  int kind_;
  std::vector<MUMPS_INT> rows_, cols_;  // from 1; of a symmetric matrix the lower triangle
  std::vector<double> values_;
};

int analyse(int kind, const vouch_backend_matrix* A, void** made, vouch_backend_result* result) try {
  std::unique_ptr<factors> f;
  if (A->complex != 0)
    f = std::make_unique<factors_of<ZMUMPS_STRUC_C, zmumps_c>>(kind);
  else
    f = std::make_unique<factors_of<DMUMPS_STRUC_C, dmumps_c>>(kind);
  const int status = f->analyse(*A, *result);
  if (status == VOUCH_BACKEND_DONE) *made = f.release();
  return status;
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int factorise(void* made, const vouch_backend_matrix* A, vouch_backend_result* result) try {
  return static_cast<factors*>(made)->factorise(*A, *result);
} catch (const std::bad_alloc&) {
  return VOUCH_BACKEND_OUT_OF_MEMORY;
}

int solve(void* made, int transposed, int64_t columns, const double* b, double* x) {
  return static_cast<factors*>(made)->solve(transposed != 0, columns, b, x);
}

void release(void* made) { delete static_cast<factors*>(made); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_backend* vouch_sparse_backend() {
  static const vouch_backend self{VOUCH_BACKEND_ABI,
                                  "mumps",
                                  "MUMPS " MUMPS_VERSION,
                                  VOUCH_FACTORS_LDLT | VOUCH_FACTORS_LU,
                                  VOUCH_FACTORS_LDLT | VOUCH_FACTORS_LU,
                                  analyse,
                                  factorise,
                                  solve,
                                  release};
  return &self;
}
