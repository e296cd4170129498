#include "cholmod_peer.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "peer_module.hpp"
#include "peers/cholmod.hpp"

namespace vouch::bench {

std::optional<double> cholmod_seconds(csr_view<const double> A, std::span<const double> b) {
  constexpr int runs = 3;
  std::string why;
  auto* const solve =
      reinterpret_cast<vouch_cholmod_solve_function*>(cholmod_peer_function("vouch_cholmod_solve", why));
  if (solve == nullptr || A.nonzeros > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  // The upper triangle by rows is the lower one by columns.
  std::vector<std::int32_t> start{0}, row;
  std::vector<double> val, x(b.size());
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      if (A.col[k] < i) continue;
      row.push_back(A.col[k]);
      val.push_back(A.val[k]);
    }
    start.push_back(static_cast<std::int32_t>(row.size()));
  }
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    double seconds = 0;
    if (solve(static_cast<int>(A.rows), start.data(), row.data(), val.data(), b.data(), x.data(), &seconds) !=
        0)
      return std::nullopt;
    best = std::min(best, seconds);
  }
  return best;
}

}  // namespace vouch::bench
