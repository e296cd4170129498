// bench/peers.hpp -- other programs' conjugate gradients on the same systems, in the same run.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::bench {

/// What a peer is asked to do from x = 0.
struct peer_task {
  double rtol = 0;  // ends at ||r|| <= rtol ||b|| on its recurrence; 0: exactly `limit` iterations
  std::int64_t limit = 0;
  int repeats = 1;
};

template <real T>
struct peer_answer {
  double seconds = 0;  // the loop alone, the best of the repeats
  std::int64_t iterations = 0;
  std::vector<T> x;
};

/// Eigen's ConjugateGradient without preconditioner on row-major storage, both triangles, `threads` threads.
///
/// Memory  A and b live on the CPU; A is copied once.
/// Result  Nothing where this build has no Eigen or the system is beyond 32-bit indices.
template <real T>
std::optional<peer_answer<T>> eigen_cg(csr_view<const T> A, std::span<const T> b, int threads,
                                       const peer_task& task);

/// CG over cuSPARSE and cuBLAS, the host in the loop, from the module vouch_peers_cuda.
///
/// Memory  A and b live on the CPU.
/// Result  Nothing where the module is missing or fails; `why` then says so in one line.
template <real T>
std::optional<peer_answer<T>> cuda_library_cg(const device& gpu, csr_view<const T> A, std::span<const T> b,
                                              const peer_task& task, std::string& why);

/// A product of a complex matrix by cuSPARSE, from the module vouch_peers_cuda.
///
/// Memory  A lives on the CPU.
/// Result  Nothing where the module is missing or fails; `why` then says so in one line.
template <real T>
std::optional<double> cusparse_complex_seconds(const device& gpu, csr_view<const std::complex<T>> A,
                                               std::string& why);

/// A Jacobi sweep over cuBLAS with its norm read back, and a solve by cuSOLVER's LU (0 where not asked for).
struct dense_peer {
  double sweep_seconds = 0;
  double lu_seconds = 0;
};

/// Memory  A, by rows, and b live on the GPU.
/// Result  Nothing where the module is missing or fails; `why` then says so in one line.
template <real T>
std::optional<dense_peer> cuda_library_dense(const device& gpu, std::int64_t n, const T* A, const T* b,
                                             int sweeps, bool with_lu, std::string& why);

}  // namespace vouch::bench
