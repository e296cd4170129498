// vouch/band/engine.hpp -- every method on every device behind one door; private.
#pragma once
#include <string>

#include <vouch/band/elimination.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/band/workspace.hpp>

namespace vouch::detail {

/// One batch of systems on one device, to be solved for several right-hand sides by one method.
template <real T>
class band_engine {
 public:
  /// method is none but automatic; mixed needs T = double. Without workspace it has its own.
  band_engine(const device& dev, tridiagonal_method method, bool mixed, const tridiagonal_view<const T>& A,
              tridiagonal_workspace* workspace);

  /// x := about A^-1 b. facts of every system, or nullptr where nobody asks (only GPUs mind).
  void solve(const batch_view<const T>& b, const batch_view<T>& x, elimination_facts* facts);

  /// Which implementation solved last.
  const std::string& name() const { return name_; }

 private:
  void solve_on_cpu(const batch_view<const T>& b, const batch_view<T>& x, elimination_facts* facts);
  void solve_on_gpu(const batch_view<const T>& b, const batch_view<T>& x, elimination_facts* facts);

  device dev_;
  tridiagonal_method method_;
  bool mixed_;
  tridiagonal_view<const T> A_;
  tridiagonal_workspace own_;
  tridiagonal_workspace* workspace_;
  std::string name_ = "nothing to solve";
};

}  // namespace vouch::detail
