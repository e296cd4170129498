#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/shared_library.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/dense/lapack_routines.hpp>

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

// What the program gave; never freed, since somebody may be inside.
struct given_routines {
  std::string name;
  std::map<std::string, void*, std::less<>> addresses;
};
std::atomic<const given_routines*> given = nullptr;

void* given_address(std::string_view routine) {
  const given_routines* const all = given.load();
  if (all == nullptr) return nullptr;
  const auto found = all->addresses.find(routine);
  return found != all->addresses.end() ? found->second : nullptr;
}

template <class Function>
Function* find(const char* routine) {
  if (void* const found = given_address(routine)) return reinterpret_cast<Function*>(found);
  if (auto* const found = library().find<Function>(routine)) return found;
  throw value_error("direct solutions need LAPACK, and there is none",
                    "install libopenblas0 or liblapack3, or take an iterative method");
}

// While one lives, OpenBLAS has so many threads. The number is one for the whole process, which may use OpenBLAS, too:
// the last of those that live at a time leaves what the first found.
class blas_threads {
 public:
  blas_threads(const device& cpu, std::int64_t n) {
    if (of_ == nullptr) return;
    const std::lock_guard lock(changing);
    if (living++ == 0) found = of_->get();
    of_->set(threads_for(cpu, n));
  }
  ~blas_threads() {
    if (of_ == nullptr) return;
    const std::lock_guard lock(changing);
    if (--living == 0) of_->set(found);
  }
  blas_threads(const blas_threads&) = delete;
  blas_threads& operator=(const blas_threads&) = delete;

 private:
  struct setters {
    void (*set)(int);
    int (*get)();
  };
  // Nothing where the threads are not ours to choose.
  static const setters* of_library() {
    static const setters all{library().find<void(int)>("openblas_set_num_threads"),
                             library().find<int()>("openblas_get_num_threads")};
    return chooses_threads() && all.set != nullptr && all.get != nullptr ? &all : nullptr;
  }

  const setters* const of_ = of_library();
  static inline std::mutex changing;
  static inline int living = 0, found = 0;
};

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

bool present() { return given.load() != nullptr || library().present(); }
const char* name() {
  const given_routines* const all = given.load();
  return all != nullptr ? all->name.c_str() : library().name().c_str();
}
bool chooses_threads() { return given.load() == nullptr && library().present(); }

int threads_for(const device& cpu, std::int64_t n) { return n <= rows_for_one_thread ? 1 : cpu.threads(); }

template <real T>
std::int64_t getrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld, int* pivots) {
  auto* const routine = find<getrf_function<T>>(named<T>("sgetrf_", "dgetrf_"));
  const blas_threads threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1));
  int info = 0;
  routine(&rows, &rows, A, &lda, pivots, &info);
  return info;
}

template <real T>
void getrs(const device& cpu, bool transposed, std::int64_t n, const T* A, std::int64_t ld, const int* pivots,
           T* x) {
  auto* const routine = find<getrs_function<T>>(named<T>("sgetrs_", "dgetrs_"));
  const blas_threads threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1)), one = 1;
  int info = 0;
  routine(transposed ? "T" : "N", &rows, &one, A, &lda, pivots, x, &lda, &info, 1);
}

template <real T>
std::int64_t potrf(const device& cpu, std::int64_t n, T* A, std::int64_t ld) {
  auto* const routine = find<potrf_function<T>>(named<T>("spotrf_", "dpotrf_"));
  const blas_threads threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1));
  int info = 0;
  routine("L", &rows, A, &lda, &info, 1);
  return info;
}

template <real T>
void potrs(const device& cpu, std::int64_t n, const T* A, std::int64_t ld, T* x) {
  auto* const routine = find<potrs_function<T>>(named<T>("spotrs_", "dpotrs_"));
  const blas_threads threads(cpu, n);
  const int rows = narrow(n), lda = narrow(std::max<std::int64_t>(ld, 1)), one = 1;
  int info = 0;
  routine("L", &rows, &one, A, &lda, x, &lda, &info, 1);
}

std::int64_t syevd(const device& cpu, std::int64_t n, double* A, std::int64_t ld, double* eigenvalues) {
  auto* const routine = find<syevd_function>("dsyevd_");
  const blas_threads threads(cpu, n);
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

namespace vouch {

bool has_lapack() {
  const ieee_environment here;  // a file that is loaded may set another one
  return lapack::present();
}

void use_lapack(const std::string& name, const std::function<void*(const char* routine)>& address_of) {
  auto routines = std::make_unique<lapack::given_routines>();
  routines->name = name;
  for (const char* const routine :
       {"sgetrf_", "sgetrs_", "spotrf_", "spotrs_", "dgetrf_", "dgetrs_", "dpotrf_", "dpotrs_", "dsyevd_"})
    if (void* const address = address_of(routine)) routines->addresses.emplace(routine, address);
  lapack::given.store(routines.release());
}

}  // namespace vouch
