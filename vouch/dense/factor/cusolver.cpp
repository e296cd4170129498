#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/memory.hpp>
#include <vouch/core/shared_library.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>

namespace vouch::cusolver {
namespace {

// The 64-bit interface of cuSOLVER 11 and 12, as its manual has it; handles and parameters are opaque.
using handle = void*;
using create_function = int(handle*);
using set_stream_function = int(handle, void* stream);
using getrf_size_function = int(handle, void* parameters, std::int64_t m, std::int64_t n, int type,
                                const void* a, std::int64_t lda, int compute, std::size_t* on_device,
                                std::size_t* on_host);
using getrf_function = int(handle, void* parameters, std::int64_t m, std::int64_t n, int type, void* a,
                           std::int64_t lda, std::int64_t* pivots, int compute, void* work, std::size_t bytes,
                           void* host_work, std::size_t host_bytes, int* info);
using getrs_function = int(handle, void* parameters, int operation, std::int64_t n, std::int64_t columns,
                           int type, const void* a, std::int64_t lda, const std::int64_t* pivots, int type_of_b,
                           void* b, std::int64_t ldb, int* info);
using potrf_size_function = int(handle, void* parameters, int part, std::int64_t n, int type, const void* a,
                                std::int64_t lda, int compute, std::size_t* on_device, std::size_t* on_host);
using potrf_function = int(handle, void* parameters, int part, std::int64_t n, int type, void* a,
                           std::int64_t lda, int compute, void* work, std::size_t bytes, void* host_work,
                           std::size_t host_bytes, int* info);
using potrs_function = int(handle, void* parameters, int part, std::int64_t n, std::int64_t columns, int type,
                           const void* a, std::int64_t lda, int type_of_b, void* b, std::int64_t ldb,
                           int* info);

constexpr int lower = 0;           // CUBLAS_FILL_MODE_LOWER
constexpr int as_it_is = 0;        // CUBLAS_OP_N
constexpr int transposed_way = 1;  // CUBLAS_OP_T
template <class T>
constexpr int type_of = sizeof(T) == 8 ? 1 : 0;  // CUDA_R_64F, CUDA_R_32F

const shared_library& library() {
  static const shared_library all{"libcusolver.so.12", "libcusolver.so.11",
                                  "/usr/local/cuda/lib64/libcusolver.so.12",
                                  "/usr/local/cuda/lib64/libcusolver.so.11"};
  return all;
}

template <class Function>
Function* find(const char* routine) {
  if (auto* const found = library().find<Function>(routine)) return found;
  throw no_cuda_error("direct solutions on a GPU need cuSOLVER, and there is none",
                      "install libcusolver of CUDA 12 or 13, or take --device cpu");
}

void check(int status, const char* routine) {
  if (status != 0)
    throw device_error(std::string(routine) + ": cuSOLVER answers with status " + std::to_string(status),
                       status);
}

}  // namespace

struct handle_of_gpu {
  handle opened = nullptr;
  std::mutex in_use;
};

namespace {

// For ever: at the end of the process CUDA may be gone before it. dev's GPU is the selected one.
handle_of_gpu& the_handle(const device& dev) {
  static std::mutex guard;
  static auto& all = *new std::map<int, handle_of_gpu>;
  const std::lock_guard lock(guard);
  handle_of_gpu& of = all[dev.index()];
  if (of.opened == nullptr) check(find<create_function>("cusolverDnCreate")(&of.opened), "cusolverDnCreate");
  return of;
}

// One thread at a time has the handle, whose calls go to dev's stream from then on.
class turn {
 public:
  turn(handle_of_gpu& of, const device& dev) : lock_(of.in_use), handle_(of.opened), dev_(dev) {
    check(find<set_stream_function>("cusolverDnSetStream")(handle_, dev.stream()), "cusolverDnSetStream");
  }
  operator handle() const { return handle_; }
  /// Nobody else's work may meet this one's in the handle.
  void finish() const { dev_.synchronize(); }

 private:
  std::lock_guard<std::mutex> lock_;
  handle handle_;
  const device& dev_;
};

}  // namespace

bool present() { return library().present(); }
const std::string& name() { return library().name(); }

template <real T>
factors<T>::factors(const device& dev, kind which, matrix<T> A)
    : dev_(dev),
      kind_(which),
      n_(A.rows()),
      matrix_(std::move(A)),
      pivots_(dev, which == kind::lu ? n_ : 0),
      info_(array<int>::zeros(dev, 1)),  // which selects the GPU
      handle_(the_handle(dev)) {
  factorise();
  failed_ = info_.to_vector().front();
  if (kind_ != kind::lu) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n_));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::int64_t> pivots = pivots_.to_vector();
  for (std::size_t k = 0; k < order.size(); ++k)
    std::swap(order[k], order[static_cast<std::size_t>(pivots[k] - 1)]);
  order_ = array<std::int64_t>::from(dev_, order);
}

template <real T>
void factors<T>::solve_column(bool transposed, T* x) {
  if constexpr (built_with_cuda) {
    const matrix_view<const T> stored = std::as_const(matrix_);
    const auto solve = [&](triangle side, transpose way, diagonal unit, T* at) {
      detail::solve_columns_cuda<T, T>(dev_, detail::triangle_columns(side, stored), way, unit, {at, n_});
    };
    if (kind_ == kind::cholesky) {
      solve(triangle::lower, transpose::no, diagonal::general, x);
      solve(triangle::lower, transpose::yes, diagonal::general, x);
    } else {
      array<T> other(dev_, n_);
      if (transposed) {
        copy_bytes(other.data(), dev_, x, dev_, static_cast<std::size_t>(n_) * sizeof(T));
        solve(triangle::upper, transpose::yes, diagonal::general, other.data());
        solve(triangle::lower, transpose::yes, diagonal::unit, other.data());
        detail::permute_cuda<T>(dev_, order_, true, other.data(), x);
      } else {
        detail::permute_cuda<T>(dev_, order_, false, x, other.data());
        solve(triangle::lower, transpose::no, diagonal::unit, other.data());
        solve(triangle::upper, transpose::no, diagonal::general, other.data());
        copy_bytes(x, dev_, other.data(), dev_, static_cast<std::size_t>(n_) * sizeof(T));
      }
    }
  }
  dev_.synchronize();
}

template <real T>
void factors<T>::factorise() {
  constexpr int type = type_of<T>;
  const turn mine(handle_, dev_);
  std::size_t bytes = 0, host_bytes = 0;
  if (kind_ == kind::lu)
    check(find<getrf_size_function>("cusolverDnXgetrf_bufferSize")(mine, nullptr, n_, n_, type, matrix_.data(),
                                                                   n_, type, &bytes, &host_bytes),
          "cusolverDnXgetrf_bufferSize");
  else
    check(find<potrf_size_function>("cusolverDnXpotrf_bufferSize")(
              mine, nullptr, lower, n_, type, matrix_.data(), n_, type, &bytes, &host_bytes),
          "cusolverDnXpotrf_bufferSize");
  array<std::byte> work(dev_, static_cast<std::int64_t>(bytes));
  std::vector<std::byte> host_work(host_bytes);
  if (kind_ == kind::lu)
    check(find<getrf_function>("cusolverDnXgetrf")(mine, nullptr, n_, n_, type, matrix_.data(), n_,
                                                   pivots_.data(), type, work.data(), bytes, host_work.data(),
                                                   host_bytes, info_.data()),
          "cusolverDnXgetrf");
  else
    check(find<potrf_function>("cusolverDnXpotrf")(mine, nullptr, lower, n_, type, matrix_.data(), n_, type,
                                                   work.data(), bytes, host_work.data(), host_bytes,
                                                   info_.data()),
          "cusolverDnXpotrf");
  mine.finish();  // work and host_work end here
}

template <real T>
void factors<T>::solve(bool transposed, std::int64_t columns, T* X) {
  if (columns == 1) return solve_column(transposed, X);
  constexpr int type = type_of<T>;
  zero_bytes(dev_, info_.data(), sizeof(int));  // selects the GPU, too
  const turn mine(handle_, dev_);
  if (kind_ == kind::lu)
    check(find<getrs_function>("cusolverDnXgetrs")(mine, nullptr, transposed ? transposed_way : as_it_is, n_,
                                                   columns, type, matrix_.data(), n_, pivots_.data(), type, X,
                                                   n_, info_.data()),
          "cusolverDnXgetrs");
  else
    check(find<potrs_function>("cusolverDnXpotrs")(mine, nullptr, lower, n_, columns, type, matrix_.data(), n_,
                                                   type, X, n_, info_.data()),
          "cusolverDnXpotrs");
  mine.finish();
}

template class factors<float>;
template class factors<double>;

}  // namespace vouch::cusolver
