// vouch/solve/precond/amg/build.hpp -- prolongators and coarse matrices, level by level; private. `on` as in
// aggregation.hpp. What decides aggregates has the same bits on every device: products are those of trusted.hpp, else
// there are sums, products and quotients that no compiler may contract.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/precond/amg/aggregation.hpp>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>
#include <vouch/sparse/trusted.hpp>

namespace vouch::multigrid {

inline constexpr double not_smoothed = std::numeric_limits<double>::infinity();

/// The matrix in single precision, laid out for products; `wanted` where that is known.
template <class On>
single_matrix in_single(const On& on, const csr<double>& A, layout wanted) {
  single_matrix made;
  made.kept = {A.rows, A.cols, array<std::int64_t>(on.where(), A.rows + 1),
               array<std::int32_t>(on.where(), A.nonzeros()), array<float>(on.where(), A.nonzeros())};
  const csr_view<const double> from = A.all();
  std::int64_t* const row_ptr = made.kept.row_ptr.data();
  std::int32_t* const col = made.kept.col.data();
  float* const val = made.kept.val.data();
  on.for_each("copy_offsets", A.rows + 1,
              [=] VOUCH_HOST_DEVICE(std::int64_t i) { row_ptr[i] = from.row_ptr[i]; });
  on.for_each("round_to_single", A.nonzeros(), [=] VOUCH_HOST_DEVICE(std::int64_t k) {
    col[k] = from.col[k];
    val[k] = static_cast<float>(from.val[k]);
  });
  made.plan.emplace(spmv_plan<float>::make(on.where(), made.kept.all(), false, wanted));
  return made;
}

/// Gives back what the plan does not refer to.
inline void trim(single_matrix& A) {
  if (A.plan->kept_as() != layout::csr) A.kept = {A.kept.rows, A.kept.cols, {}, {}, {}};
}

/// A bound of the eigenvalues of a matrix with a unit diagonal, rounded up to so few bits that devices, whose sums
/// differ, agree.
template <class On>
double eigenvalue_bound(const On& on, const single_matrix& A) {
  array<float> ones(on.where(), A.kept.rows);
  float* const out = ones.data();
  on.for_each("fill", A.kept.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) { out[i] = 1; });
  constexpr double steps = 64;
  return std::ceil(steps * largest_eigenvalue_bound("amg", on.where(), A.kept.all(), *A.plan, ones.data())) /
         steps;
}

/// The couplings of nodes of a matrix whose rows come in groups of so many unknowns: Frobenius norms of the blocks.
template <class On>
csr<double> node_couplings(const On& on, const csr<double>& A, std::int64_t unknowns) {
  const device& dev = on.where();
  const std::int64_t n = A.rows;
  csr<double> squares{n, n, A.row_ptr.to(dev), A.col.to(dev), A.val.to(dev)};
  double* val = squares.val.data();
  on.for_each("square", squares.nonzeros(), [=] VOUCH_HOST_DEVICE(std::int64_t k) { val[k] *= val[k]; });
  csr<double> node_of{n, n / unknowns, array<std::int64_t>(dev, n + 1), array<std::int32_t>(dev, n),
                      array<double>(dev, n)};
  std::int64_t* const row_ptr = node_of.row_ptr.data();
  std::int32_t* const col = node_of.col.data();
  double* const one = node_of.val.data();
  on.for_each("list_nodes", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    if (i == 0) row_ptr[0] = 0;
    row_ptr[i + 1] = i + 1;
    col[i] = static_cast<std::int32_t>(i / unknowns);
    one[i] = 1;
  });
  const csr<double> sums = detail::multiply_trusted(dev, squares.all(), node_of.all());
  const csr<double> unknowns_of = detail::transpose_trusted(dev, node_of.all());
  csr<double> norms = detail::multiply_trusted(dev, unknowns_of.all(), sums.all());
  val = norms.val.data();
  on.for_each("root", norms.nonzeros(), [=] VOUCH_HOST_DEVICE(std::int64_t k) { val[k] = std::sqrt(val[k]); });
  return norms;
}

/// Numbers of unknowns: of a node, and of an aggregate, which are the vectors of the candidate.
struct node_sizes {
  std::int64_t fine = 1, coarse = 1;
};

/// Whether A is its own transpose, to the bit.
template <class On>
bool is_symmetric(const On& on, csr_view<const double> A) {
  array<std::int32_t> differing(on.where(), 1);
  std::int32_t* const differs = differing.data();
  on.set(differs, 0);
  on.for_each("compare_with_mirror", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    bool same = true;
    for (std::int64_t k = A.row_ptr[i]; same && k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      std::int64_t low = A.row_ptr[j], high = A.row_ptr[j + 1];
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (A.col[middle] < i)
          low = middle + 1;
        else
          high = middle;
      }
      same = low < A.row_ptr[j + 1] && A.col[low] == i && A.val[low] == A.val[k];
    }
    if (!same) On::raise(differs);
  });
  return on.get(differs) == 0;
}

/// (|a_ij| + |a_ji|) / 2 where A has an entry.
template <class On>
csr<double> mean_couplings(const On& on, csr_view<const double> A, csr_view<const double> transposed) {
  csr<double> mean{A.rows, A.cols, array<std::int64_t>(on.where(), A.rows + 1),
                   array<std::int32_t>(on.where(), A.nonzeros), array<double>(on.where(), A.nonzeros)};
  std::int64_t* const row_ptr = mean.row_ptr.data();
  std::int32_t* const col = mean.col.data();
  double* const val = mean.val.data();
  on.for_each("mean_couplings", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    if (i == 0) row_ptr[0] = 0;
    row_ptr[i + 1] = A.row_ptr[i + 1];
    std::int64_t other = transposed.row_ptr[i];
    const std::int64_t end = transposed.row_ptr[i + 1];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      while (other < end && transposed.col[other] < A.col[k]) ++other;
      const bool both = other < end && transposed.col[other] == A.col[k];
      col[k] = A.col[k];
      val[k] = (std::fabs(A.val[k]) + (both ? std::fabs(transposed.val[other]) : 0.0)) / 2;
    }
  });
  return mean;
}

/// The largest sum of |a_ij| of a row, which no eigenvalue exceeds.
template <class On>
double largest_row_sum(const On& on, csr_view<const double> A) {
  array<double> sums(on.where(), A.rows);
  double* const out = sums.data();
  on.for_each("row_sums", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += std::fabs(A.val[k]);
    out[i] = sum;
  });
  double largest = 1;
  if (A.rows > 0)
    copy_bytes(&largest, device::cpu(1), sums.data() + iamax<double>(on.where(), sums), on.where(),
               sizeof largest);
  return largest;
}

/// T with T R = candidate on all rows with an aggregate, R = coarse: the candidate's rows of an aggregate are
/// orthogonal columns times a triangular matrix. A column that depends on those before it is zero.
template <class On>
csr<double> tentative_prolongator(const On& on, const array<std::int32_t>& aggregate, std::int64_t count,
                                  node_sizes sizes, const array<double>& candidate, array<double>& coarse) {
  const device& dev = on.where();
  const std::int64_t nodes = aggregate.size(), per_node = sizes.fine, vectors = sizes.coarse;
  const std::int64_t n = nodes * per_node;
  csr<double> T{n, count * vectors, array<std::int64_t>(dev, n + 1), {}, {}};
  csr<double> aggregate_of{nodes, count, array<std::int64_t>(dev, nodes + 1), {}, {}};
  const std::int32_t* const of_node = aggregate.data();
  std::int64_t* const row_ptr = T.row_ptr.data();
  std::int64_t* const node_ptr = aggregate_of.row_ptr.data();
  on.for_each("count_members", nodes, [=] VOUCH_HOST_DEVICE(std::int64_t node) {
    node_ptr[node + 1] = of_node[node] >= 0;
    if (node == 0) node_ptr[0] = 0;
  });
  on.scan(aggregate_of.row_ptr);
  const std::int64_t members_in_all = on.last(aggregate_of.row_ptr);
  aggregate_of.col = array<std::int32_t>(dev, members_in_all);
  aggregate_of.val = array<double>::zeros(dev, members_in_all);
  T.col = array<std::int32_t>(dev, members_in_all * per_node * vectors);
  T.val = array<double>(dev, T.col.size());
  std::int32_t* const node_col = aggregate_of.col.data();
  std::int32_t* const col = T.col.data();
  double* const val = T.val.data();
  const double* const given = candidate.data();
  on.for_each("list_members", nodes, [=] VOUCH_HOST_DEVICE(std::int64_t node) {
    const bool is_member = of_node[node] >= 0;
    if (node == 0) row_ptr[0] = 0;
    if (is_member) node_col[node_ptr[node]] = of_node[node];
    std::int64_t at = node_ptr[node] * per_node * vectors;
    for (std::int64_t i = node * per_node; i < (node + 1) * per_node; ++i) {
      for (std::int64_t j = 0; is_member && j < vectors; ++j, ++at) {
        col[at] = static_cast<std::int32_t>(of_node[node] * vectors + j);
        val[at] = given[i * vectors + j];
      }
      row_ptr[i + 1] = at;
    }
  });
  const csr<double> members = detail::transpose_trusted(dev, aggregate_of.all());
  const csr_view<const double> M = members.all();
  coarse = array<double>::zeros(dev, count * vectors * vectors);
  double* const factor = coarse.data();
  on.for_each("orthogonalise", count, [=] VOUCH_HOST_DEVICE(std::int64_t g) {
    const auto each_row = [&](const auto& body) {
      for (std::int64_t k = M.row_ptr[g]; k < M.row_ptr[g + 1]; ++k)
        for (std::int64_t i = M.col[k] * per_node; i < (M.col[k] + 1) * per_node; ++i) body(val + row_ptr[i]);
    };
    const auto product = [&](std::int64_t one, std::int64_t other) {
      double sum = 0;
      each_row([&](const double* row) { sum = detail::plus_product(sum, row[one], row[other]); });
      return sum;
    };
    constexpr double dependent = 1e-8;
    for (std::int64_t j = 0; j < vectors; ++j) {
      const double before = j > 0 ? std::sqrt(product(j, j)) : 0;
      for (std::int64_t l = 0; l < 2 * j; ++l) {  // twice is enough
        const std::int64_t other = l % j;
        const double part = product(other, j);
        factor[(g * vectors + other) * vectors + j] += part;
        each_row([&](double* row) { row[j] = detail::plus_product(row[j], -part, row[other]); });
      }
      const double left = std::sqrt(product(j, j));
      const double whole = left > dependent * before ? left : 0;
      factor[(g * vectors + j) * vectors + j] = whole;
      each_row([&](double* row) { row[j] = whole > 0 ? row[j] / whole : 0.0; });
    }
  });
  return T;
}

/// I - omega D_F^-1 F, where F is A without the couplings a_ij for which |a_ij c_j| is below filter times the largest
/// of its row, c the candidate; they go to the diagonal, so that F c = A c. With a filter of 0 F is A.
template <class On>
csr<double> prolongation_smoother(const On& on, csr_view<const double> A, const array<double>& candidate,
                                  double filter, double omega) {
  const double* const c = candidate.data();
  array<double> largest(on.where(), A.rows);
  double* const most = largest.data();
  on.for_each("largest_terms", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    double of_row = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const double term = std::fabs(A.val[k] * c[A.col[k]]);
      if (A.col[k] != i && term > of_row) of_row = term;
    }
    most[i] = of_row;
  });
  const auto keep = [=] VOUCH_HOST_DEVICE(std::int64_t i, std::int64_t k) {
    return A.col[k] == i || std::fabs(A.val[k] * c[A.col[k]]) >= filter * most[i];
  };
  csr<double> S{A.rows, A.cols, kept_rows(on, A, keep), {}, {}};
  S.col = array<std::int32_t>(on.where(), on.last(S.row_ptr));
  S.val = array<double>(on.where(), S.col.size());
  const std::int64_t* const row_ptr = S.row_ptr.data();
  std::int32_t* const col = S.col.data();
  double* const val = S.val.data();
  on.for_each("filter_couplings", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    double dropped = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (!keep(i, k)) dropped = detail::plus_product(dropped, A.val[k], c[A.col[k]]);
    // Where next to nothing is left of the diagonal, there is nothing to divide by.
    constexpr double least = 0.1;
    const double sum = c[i] != 0 ? 1 + dropped / c[i] : 1;
    const double factor = -omega / (sum > least ? sum : 1);
    std::int64_t at = row_ptr[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      if (!keep(i, k)) continue;
      col[at] = A.col[k];
      val[at++] = A.col[k] == i ? 1 - omega : factor * A.val[k];
    }
  });
  return S;
}

/// Scales the columns of P, and C = P^T A P with it, so that C has a unit diagonal, and the coarse candidate
/// accordingly. A column of next to no energy is a part of the null space: it is left out.
template <class On>
void scale_coarse(const On& on, csr<double>& C, csr<double>& P, csr<double>& R, std::int64_t vectors,
                  array<double>& candidate) {
  constexpr double nothing = 1e-12;
  array<double> scales(on.where(), C.rows);
  array<std::int32_t> negative(on.where(), 1);
  std::int32_t* const bad = negative.data();
  on.set(bad, 0);
  double* const scale = scales.data();
  double* const given = candidate.data();
  {
    const csr_view<const double> view = C.all();
    on.for_each("scale_candidate", C.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
      double diagonal = 0;
      for (std::int64_t k = view.row_ptr[i]; k < view.row_ptr[i + 1]; ++k)
        if (view.col[k] == i) diagonal = view.val[k];
      if (!(diagonal > -nothing)) On::raise(bad);
      scale[i] = diagonal > nothing ? 1 / std::sqrt(diagonal) : 0.0;
      for (std::int64_t j = i * vectors; j < (i + 1) * vectors; ++j)
        given[j] = scale[i] > 0 ? given[j] / scale[i] : 0.0;
    });
  }
  if (on.get(bad) != 0)
    throw value_error(
        "amg: a coarse matrix has a negative diagonal entry: the matrix is not positive definite");
  const std::int64_t* row_ptr = C.row_ptr.data();
  const std::int32_t* col = C.col.data();
  double* val = C.val.data();
  on.for_each("scale_matrix", C.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const double both = scale[i] * scale[col[k]];  // symmetric
      val[k] = col[k] == i ? 1.0 : both * val[k];
    }
  });
  row_ptr = P.row_ptr.data();
  col = P.col.data();
  val = P.val.data();
  on.for_each("scale_prolongator", P.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) val[k] *= scale[col[k]];
  });
  row_ptr = R.row_ptr.data();
  val = R.val.data();
  on.for_each("scale_restriction", R.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) val[k] *= scale[i];
  });
}

/// A coarse matrix and the way to it.
struct coarse_level {
  csr<double> A, P, R;
};

inline double omega_of(const level& fine) { return 4.0 / 3 / fine.bound; }

template <class On>
coarse_level coarsen(const On& on, const level& fine, const csr<double>& T, const array<double>& candidate) {
  const device& dev = on.where();
  coarse_level coarse;
  if (fine.filter == not_smoothed) {
    coarse.P = {T.rows, T.cols, T.row_ptr.to(dev), T.col.to(dev), T.val.to(dev)};
  } else {
    const csr<double> S = prolongation_smoother(on, fine.A.all(), candidate, fine.filter, omega_of(fine));
    coarse.P = detail::multiply_trusted(dev, S.all(), T.all());
  }
  if (fine.symmetric || fine.filter == not_smoothed) {
    coarse.R = detail::transpose_trusted(dev, coarse.P.all());
  } else {  // as P, of the transpose
    const csr<double> transposed = detail::transpose_trusted(dev, fine.A.all());
    const csr<double> S = prolongation_smoother(on, transposed.all(), candidate, fine.filter, omega_of(fine));
    coarse.R = detail::transpose_trusted(dev, detail::multiply_trusted(dev, S.all(), T.all()).all());
  }
  const csr<double> product = detail::multiply_trusted(dev, fine.A.all(), coarse.P.all());
  coarse.A = detail::multiply_trusted(dev, coarse.R.all(), product.all());
  return coarse;
}

template <class On>
std::vector<level> make_levels_on(const On& on, csr<double> A, array<double> candidate,
                                  const setup_request& request) {
  constexpr double most_growth = 0.6, least_fall = 0.95;
  // On GPUs slices suit what is no grid, and nobody need look for blocks; where rows are few several threads each.
  const auto coarse_layout = [&](std::int64_t rows) {
    constexpr std::int64_t many = 200000;
    if (!on.where().is_cuda()) return layout::automatic;
    return rows < many ? layout::csr : layout::sell;
  };
  const bool symmetric = is_symmetric(on, A.all());
  std::vector<level> levels;
  for (;;) {
    level& fine = levels.emplace_back();
    fine.rows = A.rows;
    fine.nonzeros = A.nonzeros();
    fine.A = std::move(A);
    fine.by_A = in_single(on, fine.A, levels.size() == 1 ? layout::automatic : coarse_layout(fine.rows));
    fine.symmetric = symmetric;
    fine.bound = symmetric ? eigenvalue_bound(on, fine.by_A) : largest_row_sum(on, fine.A.all());
    trim(fine.by_A);
    const std::size_t depth = levels.size() - 1;
    const level* const like = request.pattern != nullptr ? &(*request.pattern)[depth] : nullptr;
    if (like != nullptr ? like->aggregates == 0
                        : fine.rows <= request.options.coarsest || depth + 1 == most_levels)
      return levels;
    const node_sizes sizes{depth == 0 ? request.unknowns : request.vectors, request.vectors};
    fine.unknowns = sizes.fine;
    if (like != nullptr) {
      fine.aggregate = like->aggregate.to(on.where());
      fine.aggregates = like->aggregates;
    } else {
      csr<double> couplings;
      if (sizes.fine > 1) couplings = node_couplings(on, fine.A, sizes.fine);
      if (!symmetric) {
        const csr_view<const double> of = sizes.fine > 1 ? couplings.all() : fine.A.all();
        couplings = mean_couplings(on, of, detail::transpose_trusted(on.where(), of).all());
      }
      const bool is_own = sizes.fine == 1 && symmetric;
      aggregation made =
          aggregate(on, is_own ? fine.A.all() : couplings.all(), request.options.strength, depth);
      if (made.count == 0 ||
          static_cast<double>(made.count * sizes.coarse) > least_fall * static_cast<double>(fine.rows))
        return levels;
      fine.aggregate = std::move(made.of_row);
      fine.aggregates = made.count;
    }
    array<double> coarse_candidate;
    const csr<double> T =
        tentative_prolongator(on, fine.aggregate, fine.aggregates, sizes, candidate, coarse_candidate);
    coarse_level coarse;
    if (like != nullptr) {
      fine.filter = like->filter;
      coarse = coarsen(on, fine, T, candidate);
    } else {
      // What is left out goes to the diagonal for the sake of one vector; there are several.
      const bool is_filtered = sizes.coarse == 1;
      for (const double filter : {is_filtered ? request.options.filter : 0.0, 0.05, 0.25, not_smoothed}) {
        if (is_filtered ? filter < request.options.filter : filter > 0 && filter < not_smoothed) continue;
        fine.filter = filter;
        coarse = coarsen(on, fine, T, candidate);
        if (static_cast<double>(coarse.A.nonzeros()) <= most_growth * static_cast<double>(fine.nonzeros)) break;
      }
    }
    fine.A = {};
    scale_coarse(on, coarse.A, coarse.P, coarse.R, sizes.coarse, coarse_candidate);
    fine.by_P = in_single(on, coarse.P, coarse_layout(fine.rows));
    fine.by_R = in_single(on, coarse.R, coarse_layout(coarse.R.rows));
    trim(fine.by_P);
    trim(fine.by_R);
    candidate = std::move(coarse_candidate);
    A = std::move(coarse.A);
  }
}

}  // namespace vouch::multigrid
