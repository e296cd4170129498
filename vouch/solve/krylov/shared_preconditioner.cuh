// vouch/solve/krylov/shared_preconditioner.cuh -- preconditioners that several GPUs apply together; private.
#pragma once
#include <memory>
#include <span>

#include <vouch/solve/krylov/gpu_share.cuh>
#include <vouch/solve/precond/amg/shared_cycle.hpp>
#include <vouch/solve/precond/shared_polynomial.hpp>

namespace vouch {

template <class T>
class shared_preconditioner {
 public:
  virtual ~shared_preconditioner() = default;
  /// Enqueues z := M r for the rows of GPU g; the others do so at the same point of the loop.
  virtual void apply(int g, cudaGraphConditionalHandle loop) = 0;
  /// Of GPU g, from its first row on.
  virtual const T* z(int g) const = 0;
};

/// One GPU as a preconditioner sees it.
template <class T>
struct preconditioned_share {
  gpu_share<T>* share;
  const T* r;           // from its first row on
  rows_by_bits needed;  // of its rows, by the products of others with A
};

template <real T>
std::unique_ptr<shared_preconditioner<T>> share(const device& home, const shared_polynomial<T>& M,
                                                std::span<const preconditioned_share<T>> gpus);

/// Levels from `least_rows` rows on are shared, the first one always; those below are kept by the GPU that home is. M
/// must outlive the result.
///
/// Throws  value_error  home is none of the GPUs; the hierarchy is not structured
template <real T>
std::unique_ptr<shared_preconditioner<T>> share(const device& home, const multigrid::shared_cycle<T>& M,
                                                std::span<const preconditioned_share<T>> gpus,
                                                std::int64_t least_rows);

}  // namespace vouch
