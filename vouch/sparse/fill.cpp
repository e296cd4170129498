#include <vouch/sparse/fill.hpp>

#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {

// Row k of L has an entry in every column that is met on the way from the columns of A's entries up the
// elimination tree to k.
template <real T>
elimination_cost predict_elimination(csr_view<const T> A, view<const std::int32_t> order,
                                     std::int64_t most_entries) {
  const device cpu = device::cpu(1);
  const valid_csr valid("predict_elimination", cpu, A);
  if (A.rows != A.cols || order.size() != A.rows)
    throw shape_error("predict_elimination: the matrix is not square, or the order is another one's");
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto n = at(A.rows);
  const array<std::int32_t> place = inverse_order(cpu, order);
  std::vector<std::int32_t> parent(n, -1), met_by(n, -1);
  std::vector<std::int64_t> below(n, 0);  // entries of a column of L below the diagonal
  std::int64_t entries = 0;
  for (std::int32_t k = 0; k < A.rows; ++k) {
    met_by[at(k)] = k;
    const std::int64_t row = order[k];
    for (std::int64_t e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e)
      for (std::int32_t j = place[A.col[e]]; j < k && met_by[at(j)] != k; j = parent[at(j)]) {
        if (parent[at(j)] < 0) parent[at(j)] = k;
        met_by[at(j)] = k;
        ++below[at(j)];
        ++entries;
      }
    if (entries > most_entries) {
      constexpr double beyond = std::numeric_limits<double>::infinity();
      return {beyond, beyond};
    }
  }
  elimination_cost cost{static_cast<double>(A.rows + 2 * entries), 0};
  for (const std::int64_t length : below) {
    const auto m = static_cast<double>(length);
    cost.flops += m + 2 * m * m;
  }
  return cost;
}

template VOUCH_PUBLIC elimination_cost predict_elimination(csr_view<const float>, view<const std::int32_t>,
                                                           std::int64_t);
template VOUCH_PUBLIC elimination_cost predict_elimination(csr_view<const double>, view<const std::int32_t>,
                                                           std::int64_t);

}  // namespace vouch
