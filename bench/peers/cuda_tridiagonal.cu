// cuSPARSE's tridiagonal solvers. They overwrite what they are given: copies are made outside the timed part.
#include "cuda_tridiagonal.h"

#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

#include "cuda_peer.cuh"

namespace {

using vouch::peer::buffer;
using vouch::peer::check;

// The routines of one precision under one name.
template <class T>
struct routines;
template <>
struct routines<float> {
  static constexpr auto pivot_size = cusparseSgtsv2_bufferSizeExt;
  static constexpr auto pivot = cusparseSgtsv2;
  static constexpr auto nopivot_size = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto nopivot = cusparseSgtsv2_nopivot;
  static constexpr auto strided_size = cusparseSgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto strided = cusparseSgtsv2StridedBatch;
  static constexpr auto interleaved_size = cusparseSgtsvInterleavedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseSgtsvInterleavedBatch;
};
template <>
struct routines<double> {
  static constexpr auto pivot_size = cusparseDgtsv2_bufferSizeExt;
  static constexpr auto pivot = cusparseDgtsv2;
  static constexpr auto nopivot_size = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto nopivot = cusparseDgtsv2_nopivot;
  static constexpr auto strided_size = cusparseDgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto strided = cusparseDgtsv2StridedBatch;
  static constexpr auto interleaved_size = cusparseDgtsvInterleavedBatch_bufferSizeExt;
  static constexpr auto interleaved = cusparseDgtsvInterleavedBatch;
};

struct library {
  cudaStream_t stream = nullptr;
  cusparseHandle_t handle = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  library() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cusparseCreate(&handle), "cusparseCreate");
    check(cusparseSetStream(handle, stream), "cusparseSetStream");
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }
};

template <class T>
class solver {
 public:
  solver(library& with, const vouch_peer_tridiagonal_task& task)
      : with_(with),
        task_(task),
        rows_(static_cast<int>(task.rows)),
        systems_(static_cast<int>(task.systems)),
        size_(static_cast<std::size_t>(task.rows) * static_cast<std::size_t>(task.systems)),
        dl_(overwrites() ? size_ : 0),
        d_(overwrites() ? size_ : 0),
        du_(overwrites() ? size_ : 0),
        workspace_(workspace_size()) {}

  double seconds() {
    copy(task_.x, task_.b);
    if (overwrites()) {
      copy(dl_.data(), task_.dl);
      copy(d_.data(), task_.d);
      copy(du_.data(), task_.du);
    }
    check(cudaEventRecord(with_.begin, with_.stream), "cudaEventRecord");
    solve();
    check(cudaEventRecord(with_.end, with_.stream), "cudaEventRecord");
    check(cudaEventSynchronize(with_.end), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, with_.begin, with_.end), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  using call = routines<T>;
  bool overwrites() const { return task_.variant >= vouch_peer_gtsv_interleaved_0; }
  int algorithm() const { return task_.variant - vouch_peer_gtsv_interleaved_0; }
  T* x() const { return static_cast<T*>(task_.x); }
  const T* dl() const { return static_cast<const T*>(task_.dl); }
  const T* d() const { return static_cast<const T*>(task_.d); }
  const T* du() const { return static_cast<const T*>(task_.du); }

  void copy(void* to, const void* from) {
    check(cudaMemcpyAsync(to, from, size_ * sizeof(T), cudaMemcpyDeviceToDevice, with_.stream),
          "cudaMemcpyAsync");
  }

  std::size_t workspace_size() {
    std::size_t bytes = 0;
    if (task_.variant == vouch_peer_gtsv2)
      check(call::pivot_size(with_.handle, rows_, 1, dl(), d(), du(), x(), rows_, &bytes),
            "gtsv2_bufferSizeExt");
    else if (task_.variant == vouch_peer_gtsv2_nopivot)
      check(call::nopivot_size(with_.handle, rows_, 1, dl(), d(), du(), x(), rows_, &bytes),
            "gtsv2_nopivot_bufferSizeExt");
    else if (task_.variant == vouch_peer_gtsv2_strided)
      check(call::strided_size(with_.handle, rows_, dl(), d(), du(), x(), systems_, rows_, &bytes),
            "gtsv2StridedBatch_bufferSizeExt");
    else
      check(call::interleaved_size(with_.handle, algorithm(), rows_, dl_.data(), d_.data(), du_.data(), x(),
                                   systems_, &bytes),
            "gtsvInterleavedBatch_bufferSizeExt");
    return bytes;
  }

  void solve() {
    void* workspace = workspace_.data();
    if (task_.variant == vouch_peer_gtsv2)
      check(call::pivot(with_.handle, rows_, 1, dl(), d(), du(), x(), rows_, workspace), "gtsv2");
    else if (task_.variant == vouch_peer_gtsv2_nopivot)
      check(call::nopivot(with_.handle, rows_, 1, dl(), d(), du(), x(), rows_, workspace), "gtsv2_nopivot");
    else if (task_.variant == vouch_peer_gtsv2_strided)
      check(call::strided(with_.handle, rows_, dl(), d(), du(), x(), systems_, rows_, workspace),
            "gtsv2StridedBatch");
    else
      check(call::interleaved(with_.handle, algorithm(), rows_, dl_.data(), d_.data(), du_.data(), x(),
                              systems_, workspace),
            "gtsvInterleavedBatch");
  }

  library& with_;
  const vouch_peer_tridiagonal_task& task_;
  int rows_, systems_;
  std::size_t size_;
  buffer<T> dl_, d_, du_;
  buffer<std::byte> workspace_;
};

template <class T>
double best(library& with, const vouch_peer_tridiagonal_task& task) {
  solver<T> of(with, task);
  of.seconds();  // warms up
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k < task.repeats; ++k) least = std::min(least, of.seconds());
  return least;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_peer_cuda_tridiagonal(
    const vouch_peer_tridiagonal_task* task, vouch_peer_tridiagonal_answer* answer) {
  *answer = {};
  try {
    if (task->rows > std::numeric_limits<int>::max() || task->systems > std::numeric_limits<int>::max())
      throw std::runtime_error("the system is beyond 32-bit indices");
    check(cudaSetDevice(task->device), "cudaSetDevice");
    static library with;
    answer->seconds = task->is_double ? best<double>(with, *task) : best<float>(with, *task);
    return 0;
  } catch (const std::exception& e) {
    cudaGetLastError();
    std::snprintf(answer->message, sizeof answer->message, "%s", e.what());
    return 1;
  }
}
