#include <algorithm>
#include <string>

#include <vouch/band/factored_storage.hpp>
#include <vouch/core/error.hpp>

namespace vouch {
namespace {

template <class T>
array<std::remove_const_t<T>> host_copy(const device& dev, T* data, std::int64_t size) {
  array<std::remove_const_t<T>> copy(device::cpu(1), size);
  copy_bytes(copy.data(), device::cpu(1), data, dev, static_cast<std::size_t>(size) * sizeof(T));
  return copy;
}

std::int64_t extent(const batch_shape& shape) {
  if (shape.offsets != nullptr) return shape.offsets[shape.systems];
  return shape.n == 0 || shape.systems == 0 ? 0 : shape.at(shape.systems - 1, shape.n - 1) + 1;
}

void require_rhs(const batch_shape& b, const batch_shape& x, const batch_shape& matrices) {
  const auto text = [](const batch_shape& s) {
    return std::to_string(s.systems) + " of " + std::to_string(s.n) + " rows";
  };
  if (b.n != matrices.n || x.n != b.n || x.systems != b.systems ||
      (b.offsets == nullptr) != (matrices.offsets == nullptr) ||
      (x.offsets == nullptr) != (b.offsets == nullptr))
    throw shape_error("factored_tridiagonal: matrices: " + text(matrices) + ", b: " + text(b) +
                      ", x: " + text(x));
  if (b.systems == 0) return;
  if (matrices.systems == 0 || b.systems % matrices.systems != 0)
    throw shape_error("factored_tridiagonal: " + std::to_string(b.systems) + " right-hand sides for " +
                      std::to_string(matrices.systems) + " matrices");
  for (std::int64_t s = 0; matrices.offsets != nullptr && s < b.systems; ++s)
    if (b.rows(s) != matrices.rows(s / (b.systems / matrices.systems)) || x.rows(s) != b.rows(s))
      throw shape_error("factored_tridiagonal: right-hand side " + std::to_string(s) + " has " +
                        std::to_string(b.rows(s)) + " rows");
}

}  // namespace

template <real T>
factored_tridiagonal<T>::factored_tridiagonal(const device& dev, const tridiagonal_view<const T>& A)
    : shape_(A.shape), periodic_(A.periodic) {
  auto made = std::make_shared<storage>();
  made->dev = dev;
  if (shape_.offsets == nullptr && shape_.system_stride == 0)
    shape_.systems = std::min<std::int64_t>(shape_.systems, 1);
  if (dev.is_cuda()) {
    const std::int64_t size = extent(A.shape);
    const array<T> dl = host_copy(dev, A.dl, size), d = host_copy(dev, A.d, size),
                   du = host_copy(dev, A.du, size);
    detail::factor<T>(device::cpu(), {dl.data(), d.data(), du.data(), A.shape, A.periodic}, *made, report_);
  } else {
    detail::factor(dev, A, *made, report_);
  }
  if (made->shape.offsets != nullptr) shape_.offsets = made->shape.offsets;
  kept_ = std::move(made);
}

template <real T>
void factored_tridiagonal<T>::solve(const batch_view<const T>& b, const batch_view<T>& x) const {
  require_rhs(b.shape, x.shape, shape_);
  if (b.shape.systems == 0 || b.shape.n == 0) return;
  if (report_.status != solve_status::converged) throw value_error("factored_tridiagonal: " + report_.reason);
  if (!kept_->dev.is_cuda()) return detail::solve_factored_cpu(kept_->dev, *kept_, periodic_, b, x);
  const device& dev = kept_->dev;
  const array<T> from = host_copy(dev, b.data, extent(b.shape));
  array<T> to = host_copy(dev, x.data, extent(x.shape));
  detail::solve_factored_cpu<T>(device::cpu(), *kept_, periodic_, {from.data(), b.shape}, {to.data(), x.shape});
  copy_bytes(x.data, dev, to.data(), device::cpu(1), static_cast<std::size_t>(to.size()) * sizeof(T));
}

template <real T>
void factored_tridiagonal<T>::solve(view<const T> b, view<T> x) const {
  solve({b.data(), {b.size(), 1, b.stride(), 0, nullptr}}, {x.data(), {x.size(), 1, x.stride(), 0, nullptr}});
}

template <real T>
const device& factored_tridiagonal<T>::where() const {
  static const device nowhere = device::cpu(1);
  return kept_ ? kept_->dev : nowhere;
}

template <real T>
factor_view<T> factored_tridiagonal<T>::factors() const {
  if (!plain() || !kept_) throw value_error("factored_tridiagonal: there are no plain factors");
  return kept_->view();
}

template <real T>
std::int64_t factored_tridiagonal<T>::decay_rows(double bound) const {
  const factor_view<T> here = factors();
  return bound == detail::dropped<T> ? kept_->decay : detail::decay_of(here, kept_->rows, bound);
}

template class factored_tridiagonal<float>;
template class factored_tridiagonal<double>;

}  // namespace vouch
