// vouch/solve/loop/operator.hpp -- what a solver needs of a matrix or a preconditioner: to be applied.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A square linear map that solvers can apply; derive from it to solve without a stored matrix.
///
/// Memory  x and y are contiguous, live on dev and do not overlap.
/// Result  The same bits for the same x, or the solver cannot promise them either.
///         On a GPU apply() only enqueues on dev's stream: it must not wait, allocate or copy to the host,
///         because solvers record it into a graph and replay it.
template <real T>
class linear_operator {
 public:
  virtual ~linear_operator() = default;
  virtual std::int64_t rows() const = 0;
  /// y := A x
  virtual void apply(const device& dev, view<const T> x, view<T> y) const = 0;
};

/// z := M r, where M approximates the inverse of A; symmetric positive definite for CG.
/// Memory, Result as for linear_operator.
template <real T>
class preconditioner {
 public:
  virtual ~preconditioner() = default;
  virtual void apply(const device& dev, view<const T> r, view<T> z) const = 0;
  /// As reported: "jacobi".
  virtual std::string name() const = 0;
  /// Elements of r and z, or -1 where it does not say; solvers refuse one for systems of another size.
  virtual std::int64_t rows() const { return -1; }
  /// A diagonal M, n elements on the device, or nullptr: solvers fuse a diagonal into their own loops.
  virtual const T* diagonal() const { return nullptr; }

 protected:
  /// Throws  shape_error  r or z has not rows() elements
  void require_lengths(view<const T> r, view<T> z) const {
    for (const std::int64_t size : {r.size(), z.size()})
      if (size != rows())
        throw shape_error("the preconditioner \"" + name() + "\" is for " + std::to_string(rows()) +
                          " elements, a vector has " + std::to_string(size));
  }
};

}  // namespace vouch
