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
#include <vouch/solve/precond/amg/aggregation.hpp>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>
#include <vouch/sparse/trusted.hpp>

namespace vouch::multigrid {

inline constexpr double not_smoothed = std::numeric_limits<double>::infinity();
inline constexpr std::size_t most_levels = 20;

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

/// T with T c = candidate on all rows with an aggregate, columns of norm one; c, the norms, in coarse.
template <class On>
csr<double> tentative_prolongator(const On& on, const array<std::int32_t>& aggregate, std::int64_t count,
                                  const array<double>& candidate, array<double>& coarse) {
  const std::int64_t n = aggregate.size();
  csr<double> T{n, count, array<std::int64_t>(on.where(), n + 1), {}, {}};
  std::int64_t* const row_ptr = T.row_ptr.data();
  const std::int32_t* const of_row = aggregate.data();
  on.for_each("count_members", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    row_ptr[i + 1] = of_row[i] >= 0;
    if (i == 0) row_ptr[0] = 0;
  });
  on.scan(T.row_ptr);
  T.col = array<std::int32_t>(on.where(), on.last(T.row_ptr));
  T.val = array<double>(on.where(), T.col.size());
  std::int32_t* const col = T.col.data();
  double* const val = T.val.data();
  const double* const given = candidate.data();
  on.for_each("list_members", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    if (of_row[i] < 0) return;
    col[row_ptr[i]] = of_row[i];
    val[row_ptr[i]] = given[i];
  });
  const csr<double> members = detail::transpose_trusted(on.where(), T.all());
  const csr_view<const double> M = members.all();
  coarse = array<double>(on.where(), count);
  double* const norm = coarse.data();
  on.for_each("norms_of_aggregates", count, [=] VOUCH_HOST_DEVICE(std::int64_t g) {
    double sum = 0;
    for (std::int64_t k = M.row_ptr[g]; k < M.row_ptr[g + 1]; ++k)
      sum = detail::plus_product(sum, M.val[k], M.val[k]);
    norm[g] = std::sqrt(sum);
  });
  on.for_each("normalise", n, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
    if (of_row[i] < 0) return;
    const double whole = norm[of_row[i]];
    val[row_ptr[i]] = whole > 0 ? given[i] / whole : 0.0;
  });
  return T;
}

/// I - omega D_F^-1 F, where F is A without the couplings a_ij for which |a_ij c_j| is below filter times the largest
/// of its row, c the candidate; they go to the diagonal, so that F c = A c.
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
    const double sum = c[i] > 0 ? 1 + dropped / c[i] : 1;
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
void scale_coarse(const On& on, csr<double>& C, csr<double>& P, csr<double>& R, array<double>& candidate) {
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
      given[i] = scale[i] > 0 ? given[i] / scale[i] : 0.0;
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

template <class On>
coarse_level coarsen(const On& on, const level& fine, const csr<double>& T, const array<double>& candidate) {
  const device& dev = on.where();
  coarse_level coarse;
  if (fine.filter == not_smoothed) {
    coarse.P = {T.rows, T.cols, T.row_ptr.to(dev), T.col.to(dev), T.val.to(dev)};
  } else {
    const double omega = 4.0 / 3 / fine.bound;
    const csr<double> S = prolongation_smoother(on, fine.A.all(), candidate, fine.filter, omega);
    coarse.P = detail::multiply_trusted(dev, S.all(), T.all());
  }
  coarse.R = detail::transpose_trusted(dev, coarse.P.all());
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
  std::vector<level> levels;
  for (;;) {
    level& fine = levels.emplace_back();
    fine.rows = A.rows;
    fine.nonzeros = A.nonzeros();
    fine.A = std::move(A);
    fine.by_A = in_single(on, fine.A, levels.size() == 1 ? layout::automatic : coarse_layout(fine.rows));
    fine.bound = eigenvalue_bound(on, fine.by_A);
    trim(fine.by_A);
    const std::size_t depth = levels.size() - 1;
    const level* const like = request.pattern != nullptr ? &(*request.pattern)[depth] : nullptr;
    if (like != nullptr ? like->aggregates == 0
                        : fine.rows <= request.options.coarsest || depth + 1 == most_levels)
      return levels;
    if (like != nullptr) {
      fine.aggregate = like->aggregate.to(on.where());
      fine.aggregates = like->aggregates;
    } else {
      aggregation made = aggregate(on, fine.A.all(), request.options.strength, depth);
      if (made.count == 0 || static_cast<double>(made.count) > least_fall * static_cast<double>(fine.rows))
        return levels;
      fine.aggregate = std::move(made.of_row);
      fine.aggregates = made.count;
    }
    array<double> coarse_candidate;
    const csr<double> T =
        tentative_prolongator(on, fine.aggregate, fine.aggregates, candidate, coarse_candidate);
    coarse_level coarse;
    if (like != nullptr) {
      fine.filter = like->filter;
      coarse = coarsen(on, fine, T, candidate);
    } else {
      for (const double filter : {request.options.filter, 0.05, 0.25, not_smoothed}) {
        if (filter < request.options.filter) continue;
        fine.filter = filter;
        coarse = coarsen(on, fine, T, candidate);
        if (static_cast<double>(coarse.A.nonzeros()) <= most_growth * static_cast<double>(fine.nonzeros)) break;
      }
    }
    fine.A = {};
    scale_coarse(on, coarse.A, coarse.P, coarse.R, coarse_candidate);
    fine.by_P = in_single(on, coarse.P, coarse_layout(fine.rows));
    fine.by_R = in_single(on, coarse.R, coarse_layout(fine.aggregates));
    trim(fine.by_P);
    trim(fine.by_R);
    candidate = std::move(coarse_candidate);
    A = std::move(coarse.A);
  }
}

}  // namespace vouch::multigrid
