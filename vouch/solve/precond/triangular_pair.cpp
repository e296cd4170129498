#include <algorithm>
#include <cmath>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>

namespace vouch {

std::string describe_order(const factored_matrix& F, bool on_gpu) {
  if (F.order.colours > 0) return std::to_string(F.order.colours) + " colours";
  return on_gpu ? std::to_string(F.levels.count()) + " levels" : "";
}

template <real T>
std::vector<T> inverted(const std::vector<double>& pivots) {
  std::vector<T> result(pivots.size());
  std::transform(pivots.begin(), pivots.end(), result.begin(), [](double d) { return static_cast<T>(1 / d); });
  return result;
}

namespace {

// An infinity or a zero would spread without a word.
template <real T>
void check_range(const unit_factor& factor, const std::string& who) {
  const std::vector<double>& entries = factor.lower.val;
  const bool finite =
      std::all_of(entries.begin(), entries.end(), [](double l) { return std::isfinite(static_cast<T>(l)); });
  const std::vector<T> inverse = inverted<T>(factor.pivots);
  const bool positive =
      std::all_of(inverse.begin(), inverse.end(), [](T d) { return d > 0 && std::isfinite(d); });
  if (!finite || !positive)
    throw value_error(who + ": the factor overflows in this precision", "scale the matrix first");
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_triangular_pair(const device& dev, const factored_matrix& F,
                                                        std::string name) {
  check_range<T>(F.factor, name);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return triangular_pair_cuda<T>(dev, F, std::move(name));
  return triangular_pair_cpu<T>(dev, F, std::move(name));
}

#define VOUCH_INSTANTIATE(T)                                                                              \
  template std::vector<T> inverted(const std::vector<double>&);                                           \
  template std::unique_ptr<preconditioner<T>> make_triangular_pair(const device&, const factored_matrix&, \
                                                                   std::string);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
