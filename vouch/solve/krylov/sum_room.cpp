#include <vouch/core/config.hpp>
#include <vouch/solve/krylov/sum_room.hpp>

namespace vouch {

sum_room::sum_room(const device& dev) : dev_(dev), ticket_(array<unsigned>::zeros(dev, dev.is_cuda() ? 1 : 0)) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) box_ = pinned_sums_cuda();
}

double* sum_room::parts(std::int64_t count) {
  if (parts_.size() < count) parts_ = array<double>(dev_, count);
  return parts_.data();
}

}  // namespace vouch
