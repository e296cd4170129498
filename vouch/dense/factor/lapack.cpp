#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/shared_library.hpp>
#include <vouch/dense/factor/lapack.hpp>

namespace vouch::lapack {
namespace {

// Fortran's routines; characters pass their lengths at the end.
template <class T>
using getrf_function = void(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
template <class T>
using getrs_function = void(const char* trans, const int* n, const int* columns, const T* a, const int* lda,
                            const int* pivots, T* b, const int* ldb, int* info, std::size_t);
template <class T>
using potrf_function = void(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t);
template <class T>
using potrs_function = void(const char* uplo, const int* n, const int* columns, const T* a, const int* lda,
                            T* b, const int* ldb, int* info, std::size_t);

using syevd_function = void(const char* jobz, const char* uplo, const int* n, double* a, const int* lda,
                            double* w, double* work, const int* lwork, int* iwork, const int* liwork, int* info,
                            std::size_t, std::size_t);

// Never unloaded: it has threads of its own.
const shared_library& library() {
  static const shared_library all{"libopenblas.so.0", "liblapack.so.3"};
  return all;
}

template <class Function>
Function* find(const char* routine) {
  if (auto* const found = library().find<Function>(routine)) return found;
  throw value_error("direct solutions need LAPACK, and there is none",
                    "install libopenblas0 or liblapack3, or take an iterative method");
}

void use_threads(const device& cpu, std::int64_t n) {
  if (auto* const set = library().find<void(int)>("openblas_set_num_threads")) set(threads_for(cpu, n));
}

int narrow(std::int64_t n) {
  if (n > std::numeric_limits<int>::max())
    throw value_error("LAPACK cannot count " + std::to_string(n) + " rows");
  return static_cast<int>(n);
}

template <class T>
const char* named(const char* single, const char* wide) {
  return sizeof(T) == 4 ? single : wide;
}

}  // namespace

bool present() { return library().present(); }
const char* name() { return library().name().c_str(); }

int threads_for(const device& cpu, std::int64_t n) { return n <= rows_for_one_thread ? 1 : cpu.threads(); }

template <real T>
std::int64_t getrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld, int* pivots) {
  auto* const routine = find<getrf_function<T>>(named<T>("sgetrf_", "dgetrf_"));
  use_threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1));
  int info = 0;
  routine(&rows, &rows, A, &lda, pivots, &info);
  return info;
}

template <real T>
void getrs(const device& cpu, bool transposed, std::int64_t n, const T* A, std::int64_t ld, const int* pivots,
           T* x) {
  auto* const routine = find<getrs_function<T>>(named<T>("sgetrs_", "dgetrs_"));
  use_threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1)), one = 1;
  int info = 0;
  routine(transposed ? "T" : "N", &rows, &one, A, &lda, pivots, x, &lda, &info, 1);
}

template <real T>
std::int64_t potrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld) {
  auto* const routine = find<potrf_function<T>>(named<T>("spotrf_", "dpotrf_"));
  use_threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1));
  int info = 0;
  routine("L", &rows, A, &lda, &info, 1);
  return info;
}

template <real T>
void potrs(const device& cpu, std::int64_t n, const T* A, std::int64_t ld, T* x) {
  auto* const routine = find<potrs_function<T>>(named<T>("spotrs_", "dpotrs_"));
  use_threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1)), one = 1;
  int info = 0;
  routine("L", &rows, &one, A, &lda, x, &lda, &info, 1);
}

std::int64_t syevd(const device& cpu, std::int64_t n, double* A, std::int64_t ld, double* eigenvalues) {
  auto* const routine = find<syevd_function>("dsyevd_");
  use_threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1)), ask = -1;
  int info = 0, integers = 0;
  double numbers = 0;
  routine("V", "L", &rows, A, &lda, eigenvalues, &numbers, &ask, &integers, &ask, &info, 1, 1);
  std::vector<double> work(static_cast<std::size_t>(numbers));
  std::vector<int> whole(static_cast<std::size_t>(integers));
  const int length = narrow(static_cast<std::int64_t>(work.size()));
  routine("V", "L", &rows, A, &lda, eigenvalues, work.data(), &length, whole.data(), &integers, &info, 1, 1);
  return info;
}

#define VOUCH_INSTANTIATE(T)                                                                      \
  template std::int64_t getrf(const device&, std::int64_t, T*, std::int64_t, int*);               \
  template void getrs(const device&, bool, std::int64_t, const T*, std::int64_t, const int*, T*); \
  template std::int64_t potrf(const device&, std::int64_t, T*, std::int64_t);                     \
  template void potrs(const device&, std::int64_t, const T*, std::int64_t, T*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch::lapack
