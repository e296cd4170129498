#include "interval_peers.hpp"
#include "peer_module.hpp"
#include "peers.hpp"
#include "peers/cuda_blas.h"
#include "peers/cuda_cg.h"
#include "peers/cuda_complex.h"
#include "peers/cuda_dense.h"

namespace vouch::bench {
template <real T>
std::optional<peer_answer<T>> cuda_library_cg(const device& gpu, csr_view<const T> A, std::span<const T> b,
                                              const peer_task& task, std::string& why) {
  const auto cg = reinterpret_cast<vouch_peer_cuda_cg_function*>(cuda_peer_function("vouch_peer_cuda_cg", why));
  if (cg == nullptr) return std::nullopt;
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  const vouch_peer_system system{A.rows,        A.nonzeros, reinterpret_cast<const long long*>(A.row_ptr),
                                 A.col,         A.val,      b.data(),
                                 sizeof(T) == 8};
  peer_answer<T> answer;
  answer.x.resize(b.size());
  vouch_peer_answer from{};
  if (cg(gpu.index(), &system, task.rtol, task.limit, task.repeats, answer.x.data(), &from) != 0) {
    why = from.message;
    return std::nullopt;
  }
  answer.seconds = from.seconds;
  answer.iterations = from.iterations;
  return answer;
}

template <real T>
std::optional<double> cusparse_complex_seconds(const device& gpu, csr_view<const std::complex<T>> A,
                                               std::string& why) {
  const auto run =
      reinterpret_cast<vouch_peer_cuda_complex_function*>(cuda_peer_function("vouch_peer_cuda_complex", why));
  if (run == nullptr) return std::nullopt;
  const std::vector<std::complex<T>> ones(static_cast<std::size_t>(A.rows), T{1});
  const vouch_peer_system system{A.rows,        A.nonzeros, reinterpret_cast<const long long*>(A.row_ptr),
                                 A.col,         A.val,      ones.data(),
                                 sizeof(T) == 8};
  vouch_peer_complex_answer answer{};
  if (run(gpu.index(), &system, &answer) != 0) {
    why = answer.message;
    return std::nullopt;
  }
  return answer.seconds;
}

template std::optional<double> cusparse_complex_seconds(const device&, csr_view<const std::complex<float>>,
                                                        std::string&);
template std::optional<double> cusparse_complex_seconds(const device&, csr_view<const std::complex<double>>,
                                                        std::string&);

template <real T>
std::optional<dense_peer> cuda_library_dense(const device& gpu, std::int64_t n, const T* A, const T* b,
                                             int sweeps, bool with_lu, std::string& why) {
  const auto run =
      reinterpret_cast<vouch_peer_cuda_dense_function*>(cuda_peer_function("vouch_peer_cuda_dense", why));
  if (run == nullptr) return std::nullopt;
  const vouch_peer_dense system{n, A, b, sizeof(T) == 8};
  vouch_peer_dense_answer answer{};
  constexpr int repeats = 3;
  if (run(gpu.index(), &system, sweeps, repeats, with_lu ? 1 : 0, &answer) != 0) {
    why = answer.message;
    return std::nullopt;
  }
  return dense_peer{answer.sweep_seconds, answer.lu_seconds};
}

template std::optional<dense_peer> cuda_library_dense(const device&, std::int64_t, const float*, const float*,
                                                      int, bool, std::string&);
template std::optional<dense_peer> cuda_library_dense(const device&, std::int64_t, const double*, const double*,
                                                      int, bool, std::string&);
template std::optional<peer_answer<float>> cuda_library_cg(const device&, csr_view<const float>,
                                                           std::span<const float>, const peer_task&,
                                                           std::string&);
template std::optional<peer_answer<double>> cuda_library_cg(const device&, csr_view<const double>,
                                                            std::span<const double>, const peer_task&,
                                                            std::string&);

namespace {
std::optional<double> seconds_by_cublas(const device& gpu, int routine, bool is_double, std::int64_t n,
                                        std::string& why) {
  const auto blas =
      reinterpret_cast<vouch_peer_cuda_blas_function*>(cuda_peer_function("vouch_peer_cuda_blas", why));
  if (blas == nullptr) return std::nullopt;
  vouch_peer_blas_answer answer{};
  if (blas(gpu.index(), routine, is_double, n, &answer) != 0) {
    why = answer.message;
    return std::nullopt;
  }
  return answer.seconds;
}
}  // namespace

template <real T>
std::optional<double> cublas_seconds(const device& gpu, blas_routine routine, std::int64_t n,
                                     std::string& why) {
  static_assert(static_cast<int>(blas_routine::axpy) == vouch_peer_axpy &&
                static_cast<int>(blas_routine::gemm) == vouch_peer_gemm);
  return seconds_by_cublas(gpu, static_cast<int>(routine), sizeof(T) == 8, n, why);
}

template <real T>
std::optional<double> cublas_transpose_seconds(const device& gpu, std::int64_t n, std::string& why) {
  return seconds_by_cublas(gpu, vouch_peer_transpose, sizeof(T) == 8, n, why);
}

template std::optional<double> cublas_seconds<float>(const device&, blas_routine, std::int64_t, std::string&);
template std::optional<double> cublas_seconds<double>(const device&, blas_routine, std::int64_t, std::string&);
template std::optional<double> cublas_transpose_seconds<float>(const device&, std::int64_t, std::string&);

}  // namespace vouch::bench
