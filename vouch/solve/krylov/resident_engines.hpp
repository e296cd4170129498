// vouch/solve/krylov/resident_engines.hpp -- Krylov methods for small systems, each one kernel that keeps everything on the
// chip of a GPU; private.
#pragma once
#include <memory>

#include <vouch/core/config.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

// M absent or diagonal (minv has n elements or is nullptr); nullptr where the system does not fit. What the host's loop
// gives, but for rounding; the log hears of iterations, and stops them, every few hundred of them.
template <real T>
std::unique_ptr<inner_solver<T>> minres_resident_cuda(const device& dev, csr_view<const T> A, const T* minv);
template <real T>
std::unique_ptr<inner_solver<T>> bicgstab_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                        int l);

/// make(minv) where this device and M leave all to one kernel and nobody wants checkpoints. Else nullptr.
template <real T, class Make>
std::unique_ptr<inner_solver<T>> try_resident(const device& dev, const preconditioner<T>* M, const Make& make) {
  if constexpr (built_with_cuda) {
    const T* const minv = M != nullptr ? M->diagonal() : nullptr;
    if (dev.is_cuda() && checkpoint_scope::here() == nullptr && (M == nullptr || minv != nullptr))
      return make(minv);
  }
  return nullptr;
}

}  // namespace vouch
