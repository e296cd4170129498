#include <vouch/solve/distributed/residual.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/residual_row.hpp>

namespace vouch {
namespace {

using detail::residual_norms;

constexpr std::size_t sums_of_norms = 9, maxima_of_norms = 4;

void put_sums(const residual_norms& norms, double* leaf) {
  for (const detail::square_sum* s : {&norms.r, &norms.b, &norms.product}) {
    *leaf++ = s->big;
    *leaf++ = s->medium;
    *leaf++ = s->small;
  }
}

residual_norms norms_of(std::span<const double> sums, std::span<const double> most) {
  residual_norms norms;
  norms.r = {sums[0], sums[1], sums[2]};
  norms.b = {sums[3], sums[4], sums[5]};
  norms.product = {sums[6], sums[7], sums[8]};
  norms.r_max = most[0];
  norms.b_max = most[1];
  norms.matrix_max = most[2];
  norms.x_max = most[3];
  return norms;
}

residual_norms norms_of_block(csr_view<const double> A, const double* b, const double* x, const double* x_lo,
                              double* r, std::int64_t block) {
  residual_norms norms;
  const std::int64_t first = block * row_partition::block_rows;
  for (std::int64_t i = first; i < std::min(first + row_partition::block_rows, A.rows); ++i) {
    const double b_i = b[i];
    detail::row_residual<double> row(b_i);
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int32_t j = A.col[k];
      row.subtract(A.val[k], x[j], x_lo != nullptr ? x_lo[j] : 0.0);
    }
    r[i] = row.rounded();
    norms.add_row(r[i], b_i, row.magnitude, row.product);
    norms.add_x(x_lo != nullptr ? x[i] + x_lo[i] : x[i]);
  }
  return norms;
}

}  // namespace

residual_facts residual(const device& cpu, const row_matrix& A, block_sums& sums, const double* b, double* x,
                        double* x_lo, double* r) {
  const ieee_environment here;
  A.fetch_halo(x);
  if (x_lo != nullptr) A.fetch_halo(x_lo);
  const csr_view<const double> local = A.local();
  const std::int64_t blocks = A.blocks();
  std::vector<residual_norms> norms(static_cast<std::size_t>(blocks));
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static) if (blocks > 1)
  for (std::int64_t block = 0; block < blocks; ++block)
    norms[static_cast<std::size_t>(block)] = norms_of_block(local, b, x, x_lo, r, block);

  std::vector<double> leaves(norms.size() * sums_of_norms);
  residual_norms all;
  for (std::size_t block = 0; block < norms.size(); ++block) {
    put_sums(norms[block], leaves.data() + block * sums_of_norms);
    all.merge(norms[block]);
  }
  std::array<double, sums_of_norms> totals{};
  std::array<double, maxima_of_norms> most{all.r_max, all.b_max, all.matrix_max, all.x_max};
  sums.add_up(leaves, totals, most);
  return norms_of(totals, most).facts(static_cast<double>(A.all_nonzeros() + A.all_rows()));
}

}  // namespace vouch
