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
std::vector<T> narrowed(const std::vector<double>& values, const std::string& who) {
  std::vector<T> result(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    result[k] = static_cast<T>(values[k]);
    if (!std::isfinite(result[k]))
      throw value_error(who + ": an entry of the factor overflows", "scale the matrix first");
  }
  return result;
}

template <real T>
std::vector<T> inverted(const std::vector<double>& pivots, const std::string& who) {
  std::vector<T> result(pivots.size());
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    result[k] = static_cast<T>(1 / pivots[k]);
    if (!(std::isfinite(result[k]) && result[k] > 0))
      throw value_error(who + ": a pivot of the factor has no inverse in this precision",
                        "scale the matrix first");
  }
  return result;
}

template <real T>
std::unique_ptr<preconditioner<T>> make_triangular_pair(const device& dev, const factored_matrix& F,
                                                        std::string name) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return triangular_pair_cuda<T>(dev, F, std::move(name));
  return triangular_pair_cpu<T>(dev, F, std::move(name));
}

#define VOUCH_INSTANTIATE(T)                                                                              \
  template std::vector<T> narrowed(const std::vector<double>&, const std::string&);                       \
  template std::vector<T> inverted(const std::vector<double>&, const std::string&);                       \
  template std::unique_ptr<preconditioner<T>> make_triangular_pair(const device&, const factored_matrix&, \
                                                                   std::string);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
