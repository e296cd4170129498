#include "interval/itl_run.hpp"
namespace vouch::testing {
itl_counts check_host_operations(const std::vector<itl_assertion>&) { return {}; }
}  // namespace vouch::testing
