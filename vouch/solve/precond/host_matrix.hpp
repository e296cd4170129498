// vouch/solve/precond/host_matrix.hpp -- a matrix within reach of the CPU; private.
#pragma once
#include <optional>

#include <vouch/sparse/csr.hpp>

namespace vouch {

/// A itself where it lives on the CPU, else a copy of it.
template <real T>
class host_matrix {
 public:
  host_matrix(const device& dev, csr_view<const T> A) : view_(A), cpu_(dev.is_cuda() ? device::cpu() : dev) {
    if (!dev.is_cuda()) return;
    copy_ = csr<T>{A.rows, A.cols, array<std::int64_t>(cpu_, A.rows + 1), array<std::int32_t>(cpu_, A.nonzeros),
                   array<T>(cpu_, A.nonzeros)};
    fetch(copy_->row_ptr, A.row_ptr, dev);
    fetch(copy_->col, A.col, dev);
    fetch(copy_->val, A.val, dev);
    view_ = copy_->all();
  }
  csr_view<const T> all() const { return view_; }
  /// The CPU that set-up work runs on.
  const device& cpu() const { return cpu_; }

 private:
  template <class Element>
  void fetch(array<Element>& to, const Element* from, const device& dev) const {
    copy_bytes(to.data(), cpu_, from, dev, static_cast<std::size_t>(to.size()) * sizeof(Element));
  }

  csr_view<const T> view_;
  device cpu_;
  std::optional<csr<T>> copy_;
};

}  // namespace vouch
