#include <algorithm>
#include <string>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/factored/factored_cuda.hpp>
#include <vouch/band/factored/factored_storage.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace {

template <class T>
array<std::remove_const_t<T>> host_copy(const device& dev, T* data, std::int64_t size) {
  array<std::remove_const_t<T>> copy(device::cpu(1), size);
  copy_bytes(copy.data(), device::cpu(1), data, dev, static_cast<std::size_t>(size) * sizeof(T));
  return copy;
}

void require_rhs(const batch_shape& b, const batch_shape& x, const batch_shape& matrices) {
  const auto text = [](const batch_shape& s) {
    return std::to_string(s.systems) + " of " + std::to_string(s.n) + " rows";
  };
  detail::require_shape("factored_tridiagonal", b);
  detail::require_apart("factored_tridiagonal", x);
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

// The factors are made on the CPU. Where a GPU cannot make use of them it keeps the matrix.
template <real T>
void factor_on_gpu(const device& dev, const tridiagonal_view<const T>& A,
                   typename factored_tridiagonal<T>::storage& made, factor_report& report) {
  if constexpr (built_with_cuda) {
    using form = typename factored_tridiagonal<T>::storage::form;
    const std::int64_t size = A.shape.extent();
    const array<T> dl = host_copy(dev, A.dl, size), d = host_copy(dev, A.d, size),
                   du = host_copy(dev, A.du, size);
    detail::factor<T>(device::cpu(), {dl.data(), d.data(), du.data(), A.shape, A.periodic}, made, report);
    const bool usable = made.how == form::plain && !A.periodic && A.shape.offsets == nullptr &&
                        detail::gpu_can_use_factors(made.rows, made.decay, made.bounded);
    if (usable) {
      for (array<T>* a : {&made.lower, &made.inverse, &made.upper}) *a = a->to(dev);
      made.exchange_buffer =
          std::make_shared<array<T>>(array<T>::zeros(dev, detail::exchange_buffer_numbers(dev)));
      return;
    }
    made.how = form::again;
    made.periodic = A.periodic;
    made.rows = A.shape.n;
    const std::int64_t* offsets = made.shape.offsets;
    made.shape = A.shape;
    made.shape.offsets = offsets;
    made.lower = dl.to(dev);
    made.inverse = d.to(dev);
    made.upper = du.to(dev);
    for (array<T>* a : {&made.after, &made.border, &made.corner}) *a = array<T>();
  }
}

// Eliminates anew, for the right-hand sides that stand first of their matrices, second, and so on.
template <real T>
void eliminate_again(const typename factored_tridiagonal<T>::storage& kept, const batch_view<const T>& b,
                     const batch_view<T>& x) {
  if constexpr (built_with_cuda) {
    tridiagonal_view<const T> A{kept.lower.data(), kept.inverse.data(), kept.upper.data(), kept.shape,
                                kept.periodic};
    const bool shared = A.shape.offsets == nullptr && (A.shape.systems == 1 || A.shape.system_stride == 0);
    if (shared) {
      A.shape.systems = b.shape.systems;
      A.shape.system_stride = 0;
    }
    const std::int64_t times = b.shape.systems / A.shape.systems;
    if (times == 1) {
      detail::partition_cuda(kept.dev, A, b, x, nullptr, *kept.workspace);
      return;
    }
    for (std::int64_t s = 0; s < b.shape.systems; ++s) {
      const std::int64_t m = s / times, n = A.shape.rows(m);
      const auto one_of = [n](const batch_shape& shape) {
        return batch_shape{n, 1, shape.row_stride, 0, nullptr};
      };
      const std::int64_t first = A.shape.at(m, 0);
      const tridiagonal_view<const T> one{A.dl + first, A.d + first, A.du + first, one_of(A.shape), A.periodic};
      detail::partition_cuda<T>(kept.dev, one, {b.data + b.shape.at(s, 0), one_of(b.shape)},
                                {x.data + x.shape.at(s, 0), one_of(x.shape)}, nullptr, *kept.workspace);
    }
  }
}

template <real T>
void solve_on_gpu(const typename factored_tridiagonal<T>::storage& kept, const batch_view<const T>& b,
                  const batch_view<T>& x) {
  if constexpr (built_with_cuda) {
    if (kept.how == factored_tridiagonal<T>::storage::form::again) return eliminate_again<T>(kept, b, x);
    detail::solve_factored_cuda<T>(kept.dev, kept, b, x);
  }
}

}  // namespace

template <real T>
factored_tridiagonal<T>::factored_tridiagonal(const device& dev, const tridiagonal_view<const T>& A)
    : shape_(A.shape), periodic_(A.periodic) {
  const ieee_environment here;
  auto made = std::make_shared<storage>();
  made->dev = dev;
  if (shape_.offsets == nullptr && shape_.system_stride == 0)
    shape_.systems = std::min<std::int64_t>(shape_.systems, 1);
  if (dev.is_cuda()) {
    factor_on_gpu(dev, A, *made, report_);
  } else {
    detail::factor(dev, A, *made, report_);
  }
  if (made->shape.offsets != nullptr) shape_.offsets = made->shape.offsets;
  kept_ = std::move(made);
}

template <real T>
void factored_tridiagonal<T>::solve(const batch_view<const T>& b, const batch_view<T>& x) const {
  const ieee_environment here;
  require_rhs(b.shape, x.shape, shape_);
  if (b.shape.systems == 0 || b.shape.n == 0) return;
  if (report_.status != solve_status::converged) throw value_error("factored_tridiagonal: " + report_.reason);
  if (kept_->dev.is_cuda())
    solve_on_gpu<T>(*kept_, b, x);
  else
    detail::solve_factored_cpu(kept_->dev, *kept_, periodic_, b, x);
}

template <real T>
void factored_tridiagonal<T>::solve(view<const T> b, view<T> x) const {
  const ieee_environment here;
  solve({b.data(), {b.size(), 1, b.stride(), 0, nullptr}}, {x.data(), {x.size(), 1, x.stride(), 0, nullptr}});
}

template <real T>
const device& factored_tridiagonal<T>::where() const {
  static const device nowhere = device::cpu(1);
  return kept_ ? kept_->dev : nowhere;
}

template <real T>
bool factored_tridiagonal<T>::plain() const {
  return kept_ && kept_->how == storage::form::plain && !periodic_;
}

template <real T>
factor_view<T> factored_tridiagonal<T>::factors() const {
  if (!plain()) throw value_error("factored_tridiagonal: there are no plain factors");
  return kept_->view();
}

template <real T>
std::int64_t factored_tridiagonal<T>::decay_rows(double bound) const {
  const ieee_environment here;
  const factor_view<T> own = factors();
  if (bound == detail::dropped<T>) return kept_->decay;
  if (!kept_->dev.is_cuda()) return detail::decay_of(own, kept_->rows, bound);
  const device cpu = device::cpu(1);
  const array<T> lower = kept_->lower.to(cpu), inverse = kept_->inverse.to(cpu), upper = kept_->upper.to(cpu);
  return detail::decay_of<T>({lower.data(), inverse.data(), upper.data(), own.shape}, kept_->rows, bound);
}

template class factored_tridiagonal<float>;
template class factored_tridiagonal<double>;

}  // namespace vouch
