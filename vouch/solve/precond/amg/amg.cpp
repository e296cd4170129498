#include <vouch/solve/precond/amg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/amg/build.hpp>
#include <vouch/solve/precond/amg/complex_amg.hpp>
#include <vouch/solve/precond/amg/cycle_steps.hpp>
#include <vouch/solve/precond/amg/executor_cpu.hpp>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/solve/precond/amg/near_nullspace.hpp>
#include <vouch/solve/precond/amg/shared_cycle.hpp>
#include <vouch/solve/precond/amg/structured.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scale_factor.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {

namespace multigrid {

std::vector<level> make_levels(const device& dev, csr<double> A, array<double> candidate,
                               const setup_request& request) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return make_levels_cuda(dev, std::move(A), std::move(candidate), request);
  return make_levels_on(executor_cpu(dev), std::move(A), std::move(candidate), request);
}

namespace {

template <real T>
std::int64_t unknowns_of_a_node(const device& dev, csr_view<const T> A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return unknowns_of_a_node_cuda(dev, A);
  return find_unknowns(executor_cpu(dev), A);
}

constexpr std::int64_t chunk = 512;  // rows whose product is still in cache when it is added to

void combine(const device& dev, const spmv_plan<float>& W, const combination& terms, float* product) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return combine_cuda(dev, W, terms);
  const std::int64_t n = W.rows();
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, W.bytes() / 16)) schedule(static)
  for (std::int64_t first = 0; first < n; first += chunk) {
    const std::int64_t last = std::min(n, first + chunk);
    W.multiply_rows(terms.w, product, first, last);
    for (std::int64_t i = first; i < last; ++i) {
      const float of_u = terms.u != nullptr ? terms.a * terms.u[i] : 0.0F;
      const float of_v = terms.v != nullptr ? terms.b * terms.v[i] : 0.0F;
      terms.out[i] = of_u + (of_v + terms.c * product[i]);
    }
  }
}

#define VOUCH_SCALE_PIECE(From, To, T)                                                      \
  VOUCH_SIMD_CLONES void scale_piece(std::int64_t n, T factor, const T* __restrict__ scale, \
                                     const From* __restrict__ in, To* __restrict__ out) {   \
    for (std::int64_t i = 0; i < n; ++i)                                                    \
      out[i] = static_cast<To>(factor * (scale[i] * static_cast<T>(in[i])));                \
  }
VOUCH_SCALE_PIECE(float, float, float)
VOUCH_SCALE_PIECE(double, float, double)
VOUCH_SCALE_PIECE(float, double, double)
#undef VOUCH_SCALE_PIECE

template <class From, class To, real T>
void scale_into(const device& dev, std::int64_t n, T factor, const T* scale, const From* in, To* out) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return scale_into_cuda(dev, n, factor, scale, in, out);
  constexpr std::int64_t piece = 4096;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, n)) schedule(static)
  for (std::int64_t first = 0; first < n; first += piece)
    scale_piece(std::min(piece, n - first), factor, scale + first, in + first, out + first);
}

// In double: where the matrix is nearly singular, rounded entries of its inverse would be those of an indefinite one.
void multiply_dense(const device& dev, std::int64_t n, const double* W, const float* in, float* out) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_dense_cuda(dev, n, W, in, out);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum[8] = {};
    for (std::int64_t j = 0; j < n; ++j) sum[j % 8] += W[i * n + j] * static_cast<double>(in[j]);
    out[i] =
        static_cast<float>(((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])));
  }
}

// The Chebyshev polynomial of the fourth kind with optimal weights, degree - 1 in A, for eigenvalues up to bound:
// coefficients by powers of A.
std::vector<double> smoother_coefficients(int degree, double bound) {
  static constexpr double weights[4][4] = {
      {1.125, 0, 0, 0},
      {1.02387287570313, 1.26408905371085, 0, 0},
      {1.00842544782028, 1.08867839208730, 1.33753125909618, 0},
      {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000}};
  const auto size = static_cast<std::size_t>(degree);
  std::vector<double> x(size), r(size + 1), d(size);
  r[0] = 1;
  d[0] = 4 / (3 * bound);
  for (int i = 1;; ++i) {
    for (std::size_t k = 0; k < size; ++k) x[k] += weights[degree - 1][i - 1] * d[k];
    if (i == degree) return x;
    for (std::size_t k = 0; k + 1 < size; ++k) r[k + 1] -= d[k];
    for (std::size_t k = 0; k < size; ++k)
      d[k] = (2 * i - 1.0) / (2 * i + 3) * d[k] + (8 * i + 4.0) / ((2 * i + 3) * bound) * r[k];
  }
}

// So many sweeps of Jacobi damped by 4/3 over the bound: coefficients as above.
std::vector<double> jacobi_coefficients(int sweeps, double bound) {
  const double omega = 4 / (3 * bound);
  std::vector<double> x(static_cast<std::size_t>(sweeps));
  x[0] = omega;
  for (int s = 1; s < sweeps; ++s) {
    for (std::size_t k = x.size() - 1; k > 0; --k) x[k] -= omega * x[k - 1];
    x[0] += omega;
  }
  return x;
}

std::vector<double> entries_by_rows(const csr<double>& sparse) {
  const csr<double> A = sparse.to(device::cpu(1));
  std::vector<double> all(static_cast<std::size_t>(A.rows * A.cols));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      all[static_cast<std::size_t>(i * A.cols + A.col[k])] = A.val[k];
  return all;
}

// A generalised inverse of any matrix whose entries are of the order of one, by Gauss and Jordan's elimination with
// complete pivoting: that of its largest part with an inverse.
std::vector<double> dense_inverse_of_any(const csr<double>& sparse) {
  const auto n = static_cast<std::size_t>(sparse.rows);
  std::vector<double> W = entries_by_rows(sparse), X(n * n);
  for (std::size_t i = 0; i < n; ++i) X[i * n + i] = 1;
  std::vector<std::size_t> column_of(n, n);  // of the pivot of a row
  std::vector<bool> taken(n);                // columns
  constexpr double least_pivot = 1e-10;
  const cancellation_probe stop;
  for (;;) {
    stop.check();
    std::size_t p = n, c = n;
    double most = least_pivot;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; column_of[i] == n && j < n; ++j)
        if (!taken[j] && std::fabs(W[i * n + j]) > most) {
          most = std::fabs(W[i * n + j]);
          p = i;
          c = j;
        }
    if (p == n) break;
    column_of[p] = c;
    taken[c] = true;
    const double pivot = W[p * n + c];
    for (std::size_t j = 0; j < n; ++j) {
      W[p * n + j] /= pivot;
      X[p * n + j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = i == p ? 0 : W[i * n + c];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        W[i * n + j] -= factor * W[p * n + j];
        X[i * n + j] -= factor * X[p * n + j];
      }
    }
  }
  std::vector<double> inverse(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; column_of[i] < n && j < n; ++j) inverse[column_of[i] * n + j] = X[i * n + j];
  return inverse;
}

// A generalised inverse of a positive semidefinite matrix with a unit diagonal: that of its largest part that is
// definite, chosen by Cholesky's method with complete pivoting.
std::vector<double> dense_inverse(const csr<double>& sparse) {
  const auto size = static_cast<std::size_t>(sparse.rows);
  std::vector<double> L = entries_by_rows(sparse);  // L(i, k) at i n + k, rows in the order of the pivots
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  constexpr double least_pivot = 1e-10;
  std::size_t rank = 0;
  for (; rank < size; ++rank) {
    std::size_t best = rank;
    for (std::size_t i = rank; i < size; ++i)
      if (L[order[i] * size + order[i]] > L[order[best] * size + order[best]]) best = i;
    std::swap(order[rank], order[best]);
    const std::size_t p = order[rank];
    const double pivot = L[p * size + p];
    if (!(pivot > least_pivot)) break;
    const double root = std::sqrt(pivot);
    for (std::size_t i = rank; i < size; ++i) L[order[i] * size + p] /= root;
    for (std::size_t i = rank + 1; i < size; ++i) {
      double* const row = &L[order[i] * size];
      const double factor = row[p];
      if (factor == 0) continue;
      for (std::size_t j = rank + 1; j <= i; ++j) row[order[j]] -= factor * L[order[j] * size + p];
      for (std::size_t j = rank + 1; j < i; ++j) L[order[j] * size + order[i]] = row[order[j]];
    }
  }
  // X = L^-1 of the leading part, then X^T X.
  std::vector<double> X(rank * rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const double* const row = &L[order[i] * size];
    double* const out = &X[i * rank];
    out[i] = 1;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j <= k; ++j) out[j] -= row[order[k]] * X[k * rank + j];
    for (std::size_t j = 0; j <= i; ++j) out[j] /= row[order[i]];
  }
  std::vector<double> G(rank * rank);
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t i = 0; i <= k; ++i)
      for (std::size_t j = 0; X[k * rank + i] != 0 && j <= k; ++j)
        G[i * rank + j] += X[k * rank + i] * X[k * rank + j];
  std::vector<double> inverse(size * size);
  for (std::size_t i = 0; i < rank; ++i)
    for (std::size_t j = 0; j < rank; ++j) inverse[order[i] * size + order[j]] = G[i * rank + j];
  return inverse;
}

// A level ready to be visited.
struct working_level {
  level made;
  std::vector<double> smoother;
  mutable array<float> b, x, r, y, other;

  working_level(const device& dev, level given, int degree)
      : made(std::move(given)),
        smoother(made.symmetric ? smoother_coefficients(degree, made.bound)
                                : jacobi_coefficients(degree, made.bound)),
        b(dev, made.rows),
        x(dev, made.rows),
        r(dev, made.rows),
        y(dev, made.rows),
        other(dev, degree > 2 ? made.rows : 0) {}
  std::int64_t rows() const { return made.rows; }
  bool is_coarsest() const { return !made.by_P.plan && !made.between; }
  std::int64_t matrix_bytes() const {
    return made.by_stencil ? made.by_stencil->bytes() : made.by_A.plan->bytes();
  }
  std::int64_t bytes_held() const {
    const std::int64_t vectors = 16 * rows();
    const std::int64_t ways = is_coarsest()  ? 0
                              : made.between ? made.between->bytes()
                                             : made.by_P.plan->bytes() + made.by_R.plan->bytes();
    return matrix_bytes() + vectors + ways;
  }
  // By a visit: two products a degree, each with a vector besides, the way down and up.
  std::int64_t bytes_moved() const {
    if (is_coarsest()) return std::int64_t{sizeof(double)} * rows() * rows();
    const auto products = static_cast<std::int64_t>(2 * smoother.size());
    const std::int64_t ways =
        made.between ? 2 * made.between->bytes() : made.by_P.plan->bytes() + made.by_R.plan->bytes();
    return products * (matrix_bytes() + 4 * rows()) + ways;
  }
};

void check_options(const amg_options& options) {
  const auto refuse = [](const char* what, const std::string& allowed) {
    throw value_error(std::string("amg: ") + what + " out of range", allowed);
  };
  if (!(options.strength >= 0 && options.strength < 1)) refuse("strength", "it goes from 0 to below 1");
  if (!(options.filter >= 0 && options.filter < 1)) refuse("filter", "it goes from 0 to below 1");
  if (options.degree < 1 || options.degree > 4) refuse("degree", "it goes from 1 to 4");
  if (options.coarsest < 1 || options.coarsest > 2000) refuse("coarsest", "it goes from 1 to 2000");
}

template <real T>
class v_cycle final : public amg<T>, public shared_cycle<T> {
 public:
  v_cycle(const device& dev, csr_view<const T> A, const amg_options& options,
          const std::vector<level>* pattern = nullptr)
      : dev_(dev), options_(options) {
    make(A, pattern);
  }

  std::string name() const override {
    const std::string systems =
        vectors_ > 1
            ? string_printf(", %d unknowns a node, a near-nullspace of %d vectors",
                            static_cast<int>(hierarchy_.levels.front().unknowns), static_cast<int>(vectors_))
            : "";
    return string_printf("amg (%s, %zu level%s, operator complexity %.2f%s)",
                         is_structured() ? "structured" : "smoothed aggregation", levels_.size(),
                         levels_.size() == 1 ? "" : "s", hierarchy_.operator_complexity(), systems.c_str());
  }
  std::int64_t rows() const override { return scale_.size(); }
  const amg_hierarchy& hierarchy() const override { return hierarchy_; }
  std::vector<std::int32_t> aggregates(std::int64_t level) const override {
    if (level < 0 || level >= std::ssize(levels_))
      throw value_error("amg: there is no level " + std::to_string(level) + ", they go from 0 to " +
                        std::to_string(std::ssize(levels_) - 1));
    if (is_structured()) throw value_error("amg: a structured hierarchy has no aggregates");
    const multigrid::level& of = levels_[static_cast<std::size_t>(level)].made;
    const std::vector<std::int32_t> nodes = of.aggregate.to_vector();
    std::vector<std::int32_t> rows(nodes.size() * static_cast<std::size_t>(of.unknowns));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = nodes[i / static_cast<std::size_t>(of.unknowns)];
    return rows;
  }

  std::vector<shared_level> shared_levels() const override {
    std::vector<shared_level> all;
    for (const working_level& l : levels_)
      if (is_structured())
        all.push_back({&*l.made.by_stencil, l.made.between ? &*l.made.between : nullptr, l.made.grid, l.made.by,
                       l.smoother, l.b.data(), l.x.data()});
    return all;
  }
  const T* scale() const override { return scale_.data(); }
  T factor() const override { return factor_; }
  void visit_from(const device& dev, std::size_t depth) const override {
    visit(steps_on_one{*this, dev}, depth);
  }

  void refill(csr_view<const T> A) override {
    const ieee_environment here;
    if (A.rows != rows() || A.nonzeros != hierarchy_.levels.front().nonzeros)
      throw shape_error("amg: the new matrix has not as many rows and entries as the one before");
    const valid_csr valid("amg", dev_, A);
    std::vector<level> pattern(levels_.size());
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      pattern[k].aggregate = levels_[k].made.aggregate.to(dev_);
      pattern[k].aggregates = levels_[k].made.aggregates;
      pattern[k].filter = levels_[k].made.filter;
      pattern[k].grid = levels_[k].made.grid;
      pattern[k].by = levels_[k].made.by;
    }
    v_cycle made(dev_, A, options_, &pattern);  // what fails leaves everything as it was
    if (!is_structured()) made.hierarchy_.why_not_structured = hierarchy_.why_not_structured;
    *this = std::move(made);
  }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    if (rows() == 0) return;
    scale_into(dev, rows(), T{1}, scale_.data(), r.data(), levels_.front().b.data());
    visit_from(dev, 0);
    scale_into(dev, rows(), factor_, scale_.data(), levels_.front().x.data(), z.data());
  }

 private:
  bool is_structured() const { return hierarchy_.type == amg_type::structured; }

  void make(csr_view<const T> A, const std::vector<level>* pattern) {
    const stopwatch clock;
    scale_ = inverse_diagonal(dev_, A, "amg");
    const diagonal_range diagonal = range_of_inverse(dev_, scale_);
    require_near(diagonal);
    scale_factors(dev_, scale_rounding::nearest, scale_);
    const bool was_structured = pattern != nullptr && pattern->front().grid.points() == A.rows;
    std::string why = "";
    if (pattern == nullptr || was_structured)
      why = make_structured(A, diagonal, was_structured ? pattern : nullptr);
    if (is_structured()) {
      finish_scale();
    } else {
      if (options_.type == amg_type::structured)
        throw value_error("amg: no structured hierarchy: " + why,
                          "the type auto takes smoothed aggregation then");
      aggregate(A, was_structured ? nullptr : pattern);
    }
    hierarchy_.why_not_structured = why;
    hierarchy_.setup_seconds = clock.seconds();
  }

  // The roots of their quotients scale vectors in single precision.
  static void require_near(const diagonal_range& diagonal) {
    constexpr double most = 0x1p240;
    if (diagonal.largest / diagonal.least <= most || !std::isfinite(diagonal.largest)) return;
    throw value_error(
        string_printf("amg: diagonal entries from %.3g to %.3g are further apart than its numbers "
                      "of single precision reach",
                      diagonal.least, diagonal.largest),
        "jacobi and factorisations take them");
  }

  // A structured hierarchy, or why there is none.
  std::string make_structured(csr_view<const T> A, const diagonal_range& diagonal,
                              const std::vector<level>* pattern) {
    if (options_.type == amg_type::smoothed_aggregation) return "smoothed aggregation was asked for";
    if (options_.near) return "a near-nullspace is given";
    if (A.rows <= options_.coarsest) return "the matrix is as small as a coarsest level";
    found_stencil found = find_stencil(dev_, A, diagonal);
    if (!found.matrix) return found.why;
    if (pattern != nullptr && found.matrix->grid != pattern->front().grid) pattern = nullptr;
    structured_levels made =
        make_structured_levels(dev_, std::move(*found.matrix), A.nonzeros, options_, pattern);
    if (!made.why.empty()) return made.why;
    vectors_ = 1;
    assemble(std::move(made.levels), amg_type::structured);
    if (contracts(made.row_sums_zero)) return "";
    hierarchy_ = {};
    levels_.clear();
    return "three steps with it do not reduce the residual enough";
  }

  void aggregate(csr_view<const T> A, const std::vector<level>* pattern) {
    csr<double> scaled = scaled_matrix(A);
    array<double> candidate = finish_scale();
    setup_request request{options_, pattern};
    request.unknowns =
        options_.near && options_.near->unknowns > 0 ? options_.near->unknowns : unknowns_of_a_node(dev_, A);
    if (options_.near || request.unknowns > 1) {
      const near_nullspace own = options_.near ? near_nullspace{} : translations(A.rows, request.unknowns);
      const near_nullspace& near = options_.near ? *options_.near : own;
      request.vectors = near.vectors;
      candidate = scaled_rows(near, candidate);
    }
    vectors_ = request.vectors;
    assemble(make_levels(dev_, std::move(scaled), std::move(candidate), request),
             amg_type::smoothed_aggregation);
  }

  void assemble(std::vector<level> made, amg_type type) {
    hierarchy_ = {};
    hierarchy_.type = type;
    levels_.clear();
    levels_.reserve(made.size());
    for (level& l : made) {
      const std::array<std::int64_t, 3> grid = is_structured() ? l.grid.size : std::array<std::int64_t, 3>{};
      hierarchy_.levels.push_back({l.rows, l.nonzeros, l.filter, l.unknowns, grid});
      levels_.emplace_back(dev_, std::move(l), options_.degree);
      hierarchy_.bytes += levels_.back().bytes_held();
      hierarchy_.cycle_bytes += levels_.back().bytes_moved();
    }
    hierarchy_.cycle_bytes += rows() * static_cast<std::int64_t>(4 * sizeof(T) + 2 * sizeof(float));
    product_ = array<float>(dev_, dev_.is_cuda() || is_structured() ? 0 : rows());
    hierarchy_.coarsest_solved = levels_.back().rows() <= std::max(options_.coarsest, most_rows_of_an_inverse);
    if (hierarchy_.coarsest_solved) {
      const level& last = levels_.back().made;
      inverse_ =
          array<double>::from(dev_, last.symmetric ? dense_inverse(last.A) : dense_inverse_of_any(last.A));
      hierarchy_.bytes += inverse_.size() * std::int64_t{sizeof(double)};
    }
    levels_.back().made.A = {};
    dev_.synchronize();
  }

  // Whether at most three steps of conjugate gradients with the cycle, on hashed numbers, reduce the residual by a factor
  // of 64.
  bool contracts(bool row_sums_zero) const {
    constexpr std::uint64_t stream = 0x616d67;
    constexpr int steps = 3;
    constexpr float enough = 1.0F / 64;
    const std::int64_t n = rows();
    array<float> r(dev_, n), p(dev_, n), q(dev_, n);
    fill_hashed<float>(dev_, stream, r);
    if (row_sums_zero) without_constants(r);
    const float before = nrm2<float>(dev_, r);
    float product = 0;
    const cancellation_probe stop;
    for (int step = 0; step < steps; ++step) {
      stop.check();
      copy<float, float>(dev_, r, levels_.front().b);
      visit_from(dev_, 0);
      const array<float>& z = levels_.front().x;
      const float last = product;
      product = dot<float, float>(dev_, r, z);
      if (step == 0)
        copy<float, float>(dev_, z, p);
      else
        scal<float>(dev_, product / last, p), axpy<float, float>(dev_, 1, z, p);
      steps_on_one{*this, dev_}.combine(0, {0, nullptr, 0, nullptr, 1, p.data(), q.data()});
      const float energy = dot<float, float>(dev_, p, q);
      if (!(product > 0) || !(energy > 0)) return false;
      axpy<float, float>(dev_, -product / energy, q, r);
      if (nrm2<float>(dev_, r) <= enough * before) return true;
    }
    return false;
  }

  // S^-1 1 but for a factor.
  void fill_constant(array<float>& c) const {
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) return scaled_constant_cuda(dev_, c.size(), scale_.data(), c.data());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, c.size())) schedule(static)
    for (std::int64_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(scale_[0] / scale_[i]);
  }

  // r less its part along S^-1 1, the null space of S A S where constants are that of A.
  void without_constants(array<float>& r) const {
    array<float> c(dev_, r.size());
    fill_constant(c);
    axpy<float, float>(dev_, -dot<float, float>(dev_, c, r) / dot<float, float>(dev_, c, c), c, r);
  }

  // S A S for S = diag(scale_).
  csr<double> scaled_matrix(csr_view<const T> A) const {
    csr<double> B{A.rows, A.cols, array<std::int64_t>(dev_, A.rows + 1), array<std::int32_t>(dev_, A.nonzeros),
                  array<double>(dev_, A.nonzeros)};
    const T* const scale = scale_.data();
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) {
        copy_bytes(B.row_ptr.data(), dev_, A.row_ptr, dev_,
                   static_cast<std::size_t>(A.rows + 1) * sizeof(std::int64_t));
        copy_bytes(B.col.data(), dev_, A.col, dev_,
                   static_cast<std::size_t>(A.nonzeros) * sizeof(std::int32_t));
        scale_to_unit_diagonal_cuda(dev_, A, scale, B.val.data());
        return B;
      }
    B.row_ptr[0] = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, A.rows)) schedule(static)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      B.row_ptr[i + 1] = A.row_ptr[i + 1];
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        B.col[k] = A.col[k];
        B.val[k] = unit_diagonal_entry(A, scale, i, k);
      }
    }
    return B;
  }

  // The constant vector as the scaled matrix has it, S^-1 1; then S times a power of two such that numbers of single
  // precision hold what it scales.
  array<double> finish_scale() {
    const std::int64_t n = scale_.size();
    array<double> candidate(dev_, n);
    if (n == 0) return candidate;
    T largest;
    copy_bytes(&largest, device::cpu(1), scale_.data() + iamax<T>(dev_, scale_), dev_, sizeof largest);
    const T power = std::ldexp(T{1}, -std::ilogb(largest));
    constexpr int most = sizeof(T) == 4 ? 60 : 900;  // inner products with it are numbers, too
    factor_ = std::ldexp(T{1}, std::clamp(2 * std::ilogb(largest), -most, most));
    T* const scale = scale_.data();
    double* const out = candidate.data();
    if constexpr (built_with_cuda)
      if (dev_.is_cuda()) {
        finish_scale_cuda(dev_, n, power, scale, out);
        return candidate;
      }
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, n)) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) out[i] = candidate_and_scale(power, scale[i]);
    return candidate;
  }

  // The steps of a cycle on one device (cycle_steps.hpp).
  struct steps_on_one {
    const v_cycle& cycle;
    const device& dev;

    const working_level& level(std::size_t depth) const { return cycle.levels_[depth]; }
    std::span<const double> smoother(std::size_t depth) const { return level(depth).smoother; }
    float* at(std::size_t depth, part which) const {
      const working_level& l = level(depth);
      float* const all[parts_of_level] = {l.b.data(), l.x.data(), l.r.data(), l.y.data(), l.other.data()};
      return all[static_cast<std::size_t>(which)];
    }
    void share(std::size_t, part) const {}
    void combine(std::size_t depth, const combination& terms) const {
      const multigrid::level& l = level(depth).made;
      if (l.by_stencil) return l.by_stencil->combine(dev, terms);
      multigrid::combine(dev, *l.by_A.plan, terms, cycle.product_.data());
    }
    void combine_both(std::size_t depth, const combination& one, const combination& other) const {
      const multigrid::level& l = level(depth).made;
      if (l.by_stencil) return l.by_stencil->combine_both(dev, one, other);
      combine(depth, one);
      combine(depth, other);
    }
    void restrict_to_next(std::size_t depth, const float* r) const {
      const multigrid::level& l = level(depth).made;
      float* const b = level(depth + 1).b.data();
      if (l.between) return l.between->restrict_to(dev, r, b);
      multigrid::combine(dev, *l.by_R.plan, {0, nullptr, 0, nullptr, 1, r, b}, cycle.product_.data());
    }
    void prolongate(std::size_t depth, float a, const float* u, float* out) const {
      const multigrid::level& l = level(depth).made;
      const float* const coarse = level(depth + 1).x.data();
      if (l.between) return l.between->prolongate(dev, coarse, a, u, out);
      multigrid::combine(dev, *l.by_P.plan, {a, u, 0, nullptr, 1, coarse, out}, cycle.product_.data());
    }
    bool solve(std::size_t depth) const {
      const working_level& l = level(depth);
      if (!l.is_coarsest()) return false;
      const float* const b = l.b.data();
      float* const x = l.x.data();
      const auto first = static_cast<float>(l.smoother[0]);
      if (cycle.hierarchy_.coarsest_solved)
        multiply_dense(dev, l.rows(), cycle.inverse_.data(), b, x);
      else if (l.smoother.size() == 1)
        combine(depth, {2 * first, b, 0, nullptr, -first * first, b, x});
      else
        apply_polynomial(*this, depth, b, 0, nullptr, part::x);
      return true;
    }
  };

  device dev_;
  amg_options options_;
  array<T> scale_;            // S over a power of two
  T factor_ = 1;              // its square, as far as that goes
  std::int64_t vectors_ = 1;  // of the near-nullspace
  std::vector<working_level> levels_;
  array<double> inverse_;  // of the coarsest level, by rows
  mutable array<float> product_;
  amg_hierarchy hierarchy_;
};

}  // namespace
}  // namespace multigrid

namespace {

double share(const std::vector<amg_level>& levels, std::int64_t amg_level::*what) {
  std::int64_t all = 0;
  for (const amg_level& l : levels) all += l.*what;
  return levels.empty() || levels.front().*what == 0
             ? 0
             : static_cast<double>(all) / static_cast<double>(levels.front().*what);
}

}  // namespace

const char* name(amg_type type) {
  return type == amg_type::automatic ? "auto" : type == amg_type::structured ? "structured" : "sa";
}
amg_type parse_amg_type(std::string_view given) {
  for (const amg_type type : {amg_type::automatic, amg_type::smoothed_aggregation, amg_type::structured})
    if (given == name(type)) return type;
  throw value_error("unknown type of multigrid \"" + std::string(given) + "\"",
                    "there are auto, sa, structured");
}

double amg_hierarchy::operator_complexity() const { return share(levels, &amg_level::nonzeros); }
double amg_hierarchy::grid_complexity() const { return share(levels, &amg_level::rows); }

template <real T>
std::unique_ptr<amg<T>> make_amg(const device& dev, csr_view<const T> A, const amg_options& options) {
  const ieee_environment here;
  multigrid::check_options(options);
  check_square("amg", A.rows, A.cols);
  const valid_csr valid("amg", dev, A);
  if (options.near)
    multigrid::require_usable(*options.near, A.rows);
  else if (multigrid::is_complex_not_hermitian(dev, A))
    return multigrid::make_complex_amg(dev, A, options);
  return std::make_unique<multigrid::v_cycle<T>>(dev, A, options);
}

template VOUCH_PUBLIC std::unique_ptr<amg<float>> make_amg(const device&, csr_view<const float>,
                                                           const amg_options&);
template VOUCH_PUBLIC std::unique_ptr<amg<double>> make_amg(const device&, csr_view<const double>,
                                                            const amg_options&);

}  // namespace vouch
