#include <algorithm>

#include <vouch/solve/stationary/anderson.hpp>
#include <vouch/solve/stationary/anderson_coefficients.hpp>

namespace vouch {
namespace {

template <real T>
double dot(const std::vector<T>& x, const std::vector<T>& y) {
  double sum[8] = {};
  const std::size_t n = x.size();
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t l = 0; l < 8; ++l) sum[l] += double{x[i + l]} * double{y[i + l]};
  for (; i < n; ++i) sum[0] += double{x[i]} * double{y[i]};
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

template <real T>
anderson_acceleration<T>::anderson_acceleration(std::int64_t n, int depth)
    : n_(static_cast<std::size_t>(n)),
      depth_(depth),
      last_change_(n_),
      last_g_(n_),
      changes_(static_cast<std::size_t>(depth), std::vector<T>(n_)),
      images_(static_cast<std::size_t>(depth), std::vector<T>(n_)),
      products_(static_cast<std::size_t>(depth * depth)) {}

template <real T>
void anderson_acceleration<T>::clear() {
  kept_ = next_ = 0;
  has_last_ = false;
}

template <real T>
void anderson_acceleration<T>::keep(solver_state& state) {
  const auto vector = [&](std::vector<T>& v) {
    state.vector("vector of Anderson", device::cpu(1), v.data(), static_cast<std::int64_t>(v.size()));
  };
  vector(last_change_);
  vector(last_g_);
  for (std::vector<T>& v : changes_) vector(v);
  for (std::vector<T>& v : images_) vector(v);
  state.numbers("products of Anderson", products_.data(), static_cast<std::int64_t>(products_.size()));
  state.integer("steps of Anderson", kept_, depth_);
  state.integer("next step of Anderson", next_, depth_ - 1);
  state.truth("whether there was a step", has_last_);
}

template <real T>
bool anderson_acceleration<T>::mix(const T* d, T* g) {
  const auto m = static_cast<std::size_t>(depth_);
  if (has_last_) {
    const auto slot = static_cast<std::size_t>(next_);
    for (std::size_t i = 0; i < n_; ++i) {
      changes_[slot][i] = (g[i] - d[i]) - last_change_[i];
      images_[slot][i] = g[i] - last_g_[i];
    }
    next_ = (next_ + 1) % depth_;
    kept_ = std::min(kept_ + 1, depth_);
    for (std::size_t k = 0; k < static_cast<std::size_t>(kept_); ++k)
      products_[slot * m + k] = products_[k * m + slot] = dot(changes_[slot], changes_[k]);
  }
  for (std::size_t i = 0; i < n_; ++i) last_change_[i] = g[i] - d[i];
  std::copy(g, g + n_, last_g_.begin());
  has_last_ = true;

  std::vector<double> weight(static_cast<std::size_t>(kept_));
  for (std::size_t k = 0; k < weight.size(); ++k) weight[k] = dot(changes_[k], last_change_);
  if (kept_ == 0 || !anderson_coefficients(products_.data(), depth_, kept_, weight.data())) return false;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    const auto w = static_cast<T>(weight[k]);
    for (std::size_t i = 0; i < n_; ++i) g[i] -= w * images_[k][i];
  }
  return true;
}

template class anderson_acceleration<float>;
template class anderson_acceleration<double>;

}  // namespace vouch
