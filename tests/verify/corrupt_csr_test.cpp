// Matrices in CSR of any quality through every entry of the library: what is none is refused, and what is taken
// gets no false answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/c/vouch.h>
#include <vouch/core/error.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/distributed/row_bound.hpp>
#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/krylov/cocg.hpp>
#include <vouch/solve/krylov/gmres.hpp>
#include <vouch/solve/krylov/idr.hpp>
#include <vouch/solve/krylov/minres.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/solve/stationary/async.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>
#include <vouch/sparse/check.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/matching.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/picture.hpp>
#include <vouch/sparse/product.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/spmv.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/enclosed_residual.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using testing::dice;
using vector_of = std::vector<double>;

// Arrays that are exactly as long as the view says.
struct loose_csr {
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col;
  vector_of val;
  bool null = false;

  csr_view<const double> view() const {
    return {rows, cols, nonzeros, null ? nullptr : row_ptr.data(), col.data(), val.data()};
  }
  // What csr_view says, read line by line.
  bool is_sound() const {
    if (null || rows < 0 || cols < 0 || nonzeros < 0 || row_ptr.front() != 0 || row_ptr.back() != nonzeros)
      return false;
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i)
      if (row_ptr[i] < 0 || row_ptr[i] > row_ptr[i + 1] || row_ptr[i + 1] > nonzeros) return false;
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
      std::set<std::int32_t> before;
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const std::int32_t j = col[static_cast<std::size_t>(k)];
        if (j < 0 || j >= cols || before.count(j) > 0 || (!before.empty() && j < *before.rbegin()))
          return false;
        before.insert(j);
      }
    }
    return true;
  }
  bool is_finite() const {
    for (const double value : val)
      if (!std::isfinite(value)) return false;
    return true;
  }
};

// Few entries off a diagonal that often outweighs them; half of them symmetric.
loose_csr sound(dice& die) {
  const int rows = die.below(8), kind = die.below(8);
  const int cols = kind == 0 ? die.below(8) : rows;
  const bool mirrored = die.below(2) == 0;
  testing::entries list;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (i == j)
        list[{i, j}] = die.below(12) == 0 ? 0 : 1 + die.below(9);
      else if (die.below(3) == 0 && !(mirrored && j < i))
        list[{i, j}] = die.below(9) - 4;
  if (mirrored && rows == cols)
    for (const auto& [place, value] : testing::entries(list)) list[{place.second, place.first}] = value;
  const csr<double> A = testing::matrix_of(rows, cols, list);
  loose_csr M{rows, cols, A.nonzeros(), A.row_ptr.to_vector(), A.col.to_vector(), A.val.to_vector()};
  return M;
}

void resize(loose_csr& M, std::int64_t nonzeros) {
  M.nonzeros = nonzeros;
  M.col.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, nonzeros)));
  M.val.resize(M.col.size());
}

template <class T>
T& any_of(std::vector<T>& v, dice& die) {
  return v[static_cast<std::size_t>(die.below(static_cast<int>(v.size())))];
}

// Round the corner where it would overflow.
template <class T>
void move(T& number, int by) {
  using bits = std::make_unsigned_t<T>;
  number = static_cast<T>(static_cast<bits>(number) + static_cast<bits>(by));
}

void corrupt(loose_csr& M, dice& die) {
  constexpr std::int64_t far[] = {-1,
                                  1,
                                  -1000000,
                                  std::int64_t{1} << 40,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()};
  constexpr std::int32_t wide[] = {-1, 7, 1000000, std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min()};
  constexpr double no_numbers[] = {HUGE_VAL, -HUGE_VAL, 1e308,
                                   5e-324,   0,         std::numeric_limits<double>::quiet_NaN()};
  switch (die.below(14)) {
    case 0:
      M.row_ptr.front() = far[die.below(6)];
      break;
    case 1:
    case 2:
      any_of(M.row_ptr, die) = far[die.below(6)];
      break;
    case 3:
      move(any_of(M.row_ptr, die), die.below(5) - 2);
      break;
    case 4:
      resize(M, M.nonzeros + die.below(5) - 2);
      break;
    case 5:
      std::swap(any_of(M.row_ptr, die), any_of(M.row_ptr, die));
      break;
    case 6:
      if (M.nonzeros > 0) any_of(M.col, die) = wide[die.below(5)];
      break;
    case 7:
      if (M.nonzeros > 0) move(any_of(M.col, die), die.below(5) - 2);
      break;
    case 8:
      if (M.nonzeros > 0) std::swap(any_of(M.col, die), any_of(M.col, die));
      break;
    case 9:
      if (M.nonzeros > 0) any_of(M.col, die) = any_of(M.col, die);
      break;
    case 10:
      if (M.nonzeros > 0) any_of(M.val, die) = no_numbers[die.below(6)];
      break;
    case 11:
      M.cols += die.below(5) - 2;
      break;
    case 12:
      M.null = die.below(8) == 0;
      break;
    default:
      if (die.below(8) == 0) (die.below(2) == 0 ? M.cols : M.rows) = -1 - die.below(3);
      break;
  }
}

stopping_criterion few_steps() {
  stopping_criterion goal;
  goal.max_iterations = 40;
  return goal;
}

// What is asked of an answer, in rational numbers: |b - A x|, or of a system that is not square |A^T (b - A x)|.
void expect_converged(const loose_csr& M, const vector_of& b, const array<double>& x, solve_status status,
                      const std::string& what) {
  if (status != solve_status::converged) return;
  mpq_class square = 0, size = 0, matrix = 0;
  std::vector<mpq_class> gradient(static_cast<std::size_t>(M.cols));
  for (std::int64_t i = 0; i < M.rows; ++i) {
    const auto first = static_cast<std::size_t>(M.row_ptr[static_cast<std::size_t>(i)]);
    const auto last = static_cast<std::size_t>(M.row_ptr[static_cast<std::size_t>(i + 1)]);
    mpq_class r = b[static_cast<std::size_t>(i)];
    for (std::size_t k = first; k < last; ++k) r -= mpq_class(M.val[k]) * mpq_class(x[M.col[k]]);
    for (std::size_t k = first; k < last; ++k) {
      gradient[static_cast<std::size_t>(M.col[k])] += mpq_class(M.val[k]) * r;
      matrix += mpq_class(M.val[k]) * mpq_class(M.val[k]);
    }
    square += r * r;
    size += mpq_class(b[static_cast<std::size_t>(i)]) * b[static_cast<std::size_t>(i)];
  }
  const mpq_class tolerance(1.0000001e-16);
  if (M.rows == M.cols || square <= size * tolerance) {
    EXPECT_LE(square, size * tolerance) << what;
    return;
  }
  mpq_class steepness = 0;
  for (const mpq_class& g : gradient) steepness += g * g;
  EXPECT_LE(steepness, matrix * square * tolerance) << what;
}

void expect_within(const std::optional<std::vector<mpq_class>>& exact, const array<double>& x,
                   const vector_of& radius, const std::string& what) {
  ASSERT_TRUE(exact.has_value()) << what << " of a matrix without full rank";
  EXPECT_TRUE(testing::contains(*exact, x.to_vector(), radius)) << what;
}

// One matrix through everything that takes one. Nothing but the exceptions of the library may come out, nothing
// at all but they of what is no matrix, and no answer may be false.
class gauntlet {
 public:
  gauntlet(const device& dev, const loose_csr& M, int number)
      : dev_(dev),
        M_(M),
        A_(M.view()),
        case_("case " + std::to_string(number) + ", "),
        sound_(M.is_sound()),
        n_(std::max<std::int64_t>(0, std::min<std::int64_t>(M.cols, 100))),
        m_(std::max<std::int64_t>(0, M.rows)) {
    for (std::int64_t i = 0; i < m_; ++i) b_.push_back(static_cast<double>(1 + (3 * i + number) % 5));
    for (std::int64_t j = 0; j < n_; ++j) x_.push_back(static_cast<double>((5 * j + number) % 7 - 3));
    if (!sound_ || !M.is_finite()) return;
    exact_ = M.rows == M.cols ? testing::exact_solution(dense(), b_)
                              : testing::exact_least_squares(dense(), static_cast<std::size_t>(M.cols), b_);
  }

  int refusals() const { return refusals_; }

  void run() {
    sparse_operations();
    sparse_facts();
    preconditioners();
    solvers();
    rows_of_ranks();
    front_door();
    if (M_.is_finite() || !sound_) proofs();
  }

 private:
  static testing::rational_matrix dense(csr_view<const double> A) {
    testing::rational_matrix D(static_cast<std::size_t>(A.rows),
                               std::vector<mpq_class>(static_cast<std::size_t>(A.cols)));
    for (std::size_t i = 0; i < D.size(); ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        D[i][static_cast<std::size_t>(A.col[k])] = A.val[k];
    return D;
  }
  testing::rational_matrix dense() const { return dense(A_); }

  void attempt(const char* what, const std::function<void()>& call) {
    try {
      call();
      EXPECT_TRUE(sound_) << case_ << what << " took what is no matrix";
    } catch (const error& refused) {
      ++refusals_;
      EXPECT_STRNE(refused.what(), "") << what;
    }
  }

  array<double> b() const { return array<double>::from(dev_, b_); }
  array<double> x() const { return array<double>::from(dev_, x_); }

  void sparse_operations() {
    array<double> y(dev_, m_);
    const bool finite = sound_ && M_.is_finite();
    attempt("spmv", [&] {
      spmv<double>(dev_, 1, A_, x(), 0, y);
      if (!finite) return;
      const testing::rational_matrix D = dense();
      for (std::size_t i = 0; i < D.size(); ++i) {
        mpq_class sum = 0, size = 0;
        for (std::size_t j = 0; j < x_.size(); ++j) sum += D[i][j] * x_[j], size += abs(D[i][j] * x_[j]);
        const double found = y[static_cast<std::int64_t>(i)];
        EXPECT_TRUE(!std::isfinite(found) || abs(sum - mpq_class(found)) <= size * mpq_class(1e-14)) << case_;
      }
    });
    for (const layout kept : {layout::automatic, layout::csr, layout::dia, layout::bsr, layout::tile})
      attempt("spmv_plan", [&] { spmv_plan<double>::make(dev_, A_, false, kept).multiply(1, x(), 0, y); });
    attempt("residual", [&] { residual<double>(dev_, A_, b(), x(), nullptr, y); });
    attempt("residual_bound", [&] { residual_bound<double>(dev_, A_, b(), x(), y); });
    attempt("enclosed_residual", [&] {
      array<interval<double>> r(dev_, m_);
      enclosed_residual(dev_, A_, b(), x(), nullptr, r);
    });
    attempt("right_hand_side", [&] { right_hand_side(dev_, A_, x()); });
    attempt("copy", [&] { copy(dev_, dev_, A_); });
    attempt("convert_values", [&] { convert_values<float>(dev_, A_); });
    attempt("transpose", [&] {
      const csr<double> B = transpose<double>(dev_, A_);
      if (!finite) return;
      const testing::rational_matrix D = dense(), T = dense(B);
      for (std::size_t i = 0; i < D.size(); ++i)
        for (std::size_t j = 0; j < T.size(); ++j) EXPECT_EQ(D[i][j], T[j][i]) << case_;
    });
    const csr<double> upper = bidiagonal(n_), lower = bidiagonal(m_);
    attempt("multiply from the left", [&] { expect_product(A_, upper, finite); });
    attempt("multiply from the right", [&] { expect_product(lower, A_, finite); });
    attempt("write_matrix_market", [&] { write_matrix_market("/dev/null", A_); });
    attempt("write_matrix_market symmetric",
            [&] { write_matrix_market("/dev/null", A_, symmetry::symmetric); });
    const auto order = array<std::int32_t>::from(dev_, ascending());
    attempt("predict_elimination", [&] { predict_elimination<double>(A_, order, 1000); });
    attempt("permute", [&] { permute<double>(dev_, A_, order); });
  }

  csr<double> bidiagonal(std::int64_t n) const {
    testing::entries list;
    for (int i = 0; i < n; ++i) list[{i, i}] = 2;
    for (int i = 0; i + 1 < n; ++i) list[{i, i + 1}] = -3;
    return testing::matrix_of(static_cast<int>(n), static_cast<int>(n), list).to(dev_);
  }
  void expect_product(csr_view<const double> A, csr_view<const double> B, bool finite) const {
    const csr<double> C = multiply<double>(dev_, A, B);
    if (!finite) return;
    const testing::rational_matrix left = dense(A), right = dense(B);
    for (std::int64_t i = 0; i < C.rows; ++i)
      for (std::int64_t k = C.row_ptr[i]; k < C.row_ptr[i + 1]; ++k) {
        mpq_class sum = 0, size = 0;
        for (std::size_t l = 0; l < right.size(); ++l) {
          const mpq_class part =
              left[static_cast<std::size_t>(i)][l] * right[l][static_cast<std::size_t>(C.col[k])];
          sum += part;
          size += abs(part);
        }
        EXPECT_TRUE(!std::isfinite(C.val[k]) || abs(sum - mpq_class(C.val[k])) <= size * mpq_class(1e-14))
            << case_;
      }
  }

  std::vector<std::int32_t> ascending() const {
    std::vector<std::int32_t> order;
    for (std::int64_t i = 0; i < m_; ++i) order.push_back(static_cast<std::int32_t>(i));
    return order;
  }

  void sparse_facts() {
    attempt("structure", [&] { structure<double>(dev_, A_); });
    attempt("connected_components", [&] { connected_components<double>(dev_, A_); });
    attempt("pattern_text", [&] { pattern_text<double>(dev_, A_, picture_style::ascii, 20); });
    attempt("pattern_svg", [&] { pattern_svg<double>(dev_, A_, "title"); });
    attempt("factorise", [&] { factorise<double>(dev_, A_); });
    attempt("reverse_cuthill_mckee", [&] { reverse_cuthill_mckee<double>(dev_, A_); });
    attempt("minimum_degree", [&] { minimum_degree<double>(dev_, A_); });
    attempt("minimum_column_degree", [&] { minimum_column_degree<double>(dev_, A_); });
    attempt("scale_symmetric", [&] { scale_symmetric<double>(dev_, A_); });
    attempt("natural_block", [&] { natural_block<double>(dev_, A_); });
    attempt("check_spd", [&] { check_spd<double>(dev_, A_); });
    attempt("check_symmetric", [&] { check_symmetric<double>(dev_, A_); });
    EXPECT_EQ(check<double>(dev_, A_).empty(), sound_ && M_.is_finite()) << case_;
    attempt("maximum_product_matching", [&] { expect_matching(maximum_product_matching<double>(dev_, A_)); });
  }

  // Every entry after scaling is at most 1, and matched ones are 1, where there is a full matching.
  void expect_matching(const product_matching& found) const {
    if (found.deficient_row >= 0) return;
    std::set<std::int32_t> rows;
    for (std::int64_t j = 0; j < n_; ++j) rows.insert(found.row_of[j]);
    EXPECT_EQ(std::ssize(rows), n_) << case_;
    for (std::int64_t i = 0; i < m_; ++i)
      for (std::int64_t k = M_.row_ptr[static_cast<std::size_t>(i)];
           k < M_.row_ptr[static_cast<std::size_t>(i + 1)]; ++k) {
        const std::int32_t j = M_.col[static_cast<std::size_t>(k)];
        const double scaled =
            std::fabs(M_.val[static_cast<std::size_t>(k)]) * found.row_scale[i] * found.column_scale[j];
        EXPECT_FALSE(std::isnormal(scaled) && scaled > 1 + 1e-11) << case_;
      }
  }

  void preconditioners() {
    for (const char* spec :
         {"jacobi", "block-jacobi", "block-jacobi:2", "ssor", "ic0", "chebyshev:3", "ilu0", "ilut"})
      attempt(spec, [&] {
        const auto M = make_preconditioner<double>(dev_, A_, spec);
        array<double> z(dev_, m_);
        M->apply(dev_, b(), z);
      });
    attempt("amg", [&] {
      amg_options small;
      small.coarsest = 2;
      const auto M = make_amg<double>(dev_, A_, small);
      array<double> z(dev_, m_);
      M->apply(dev_, b(), z);
      M->refill(A_);
    });
  }

  template <class Solve>
  void solver(const char* what, const Solve& solve) {
    attempt(what, [&] {
      array<double> solution = array<double>::zeros(dev_, n_);
      const solve_report report = solve(b(), solution);
      if (M_.is_finite()) expect_converged(M_, b_, solution, report.status, case_ + what);
      if (report.error_bound && M_.is_finite())
        expect_within(exact_, solution, vector_of(b_.size(), *report.error_bound), case_ + what);
    });
  }

  void solvers() {
    using result = view<double>;
    using given = view<const double>;
    cg_options few;
    few.max_iterations = 40;
    solver("cg", [&](given b, result x) { return cg<double>(dev_, A_, b, x, few); });
    solver("cg_mixed", [&](given b, result x) { return cg_mixed(dev_, A_, b, x, few); });
    solver("cg_many", [&](given b, result x) { return cg_many<double>(dev_, A_, 1, b, x, few).front(); });
    cg_options unchecked = few;
    unchecked.matrix_checked = true;
    solver("cg unchecked", [&](given b, result x) { return cg<double>(dev_, A_, b, x, unchecked); });
    gmres_options restarted{few_steps(), 5};
    solver("gmres", [&](given b, result x) { return gmres<double>(dev_, A_, b, x, restarted); });
    solver("fgmres", [&](given b, result x) { return fgmres<double>(dev_, A_, b, x, restarted); });
    solver("minres", [&](given b, result x) { return minres<double>(dev_, A_, b, x, {few_steps()}); });
    solver("bicgstab", [&](given b, result x) { return bicgstab<double>(dev_, A_, b, x, {few_steps()}); });
    solver("cocg", [&](given b, result x) { return cocg<double>(dev_, A_, b, x, {few_steps()}); });
    solver("idr", [&](given b, result x) { return idr<double>(dev_, A_, b, x, {few_steps()}); });
    solver("jacobi", [&](given b, result x) { return jacobi<double>(dev_, A_, b, x, {few_steps()}); });
    solver("gauss_seidel",
           [&](given b, result x) { return gauss_seidel<double>(dev_, A_, b, x, {few_steps()}); });
    sor_options symmetric{few_steps(), 1.2, sweep_order::symmetric};
    solver("sor", [&](given b, result x) { return sor<double>(dev_, A_, b, x, symmetric); });
    symmetric.mixed = true;
    symmetric.ordering = sweep_ordering::multicolor;
    solver("sor mixed", [&](given b, result x) { return sor<double>(dev_, A_, b, x, symmetric); });
    solver("async", [&](given b, result x) { return async_relaxation<double>(dev_, A_, b, x, {few_steps()}); });
    solver("sparse_lu", [&](given b, result x) { return sparse_lu<double>(dev_, A_, b, x, few_steps()); });
  }

  // Rows as ranks share them, of a process that is alone; lists of entries know no offsets.
  void rows_of_ranks() {
    const auto& offsets = M_.row_ptr;
    if (M_.null || M_.rows < 0 || M_.rows != M_.cols || std::ssize(offsets) != M_.rows + 1 ||
        offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
        offsets.back() != M_.nonzeros || std::ssize(M_.col) != M_.nonzeros || std::ssize(M_.val) != M_.nonzeros)
      return;
    try {
      std::vector<matrix_entry> entries;
      for (std::int64_t i = 0; i < M_.rows; ++i)
        for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
          entries.push_back({static_cast<std::int32_t>(i), M_.col[k], M_.val[k]});
      const std::unique_ptr<communicator> alone = make_single_rank();
      const row_matrix rows = row_matrix::from_entries(*alone, M_.rows, entries);
      for (const row_method method : {row_method::cg, row_method::jacobi}) {
        array<double> solution = array<double>::zeros(dev_, M_.rows);
        const solve_report report = solve_rows(dev_, rows, b(), solution, {few_steps(), method});
        const solution_proof bound = bound_rows(dev_, rows, b(), solution);
        if (!sound_) continue;  // entries that stand twice, or in any order, are taken
        if (M_.is_finite()) expect_converged(M_, b_, solution, report.status, case_ + "solve_rows");
        if (bound.verified) expect_within(exact_, solution, bound.radius.to_vector(), case_ + "bound_rows");
      }
    } catch (const error&) {  // refused
    }
  }

  // Through the classes that choose and prove.
  void front_door() {
    for (const char* method : {"auto", "cg", "minres", "gmres", "fgmres", "bicgstab", "idr", "jacobi", "sor",
                               "sparse-lu", "lu", "partition"})
      attempt(method, [&] {
        solve_options how;
        how.method = method;
        how.goal.max_iterations = 40;
        class solver by(dev_, A_, how);
        const array<double> right = b();
        array<double> solution = array<double>::zeros(dev_, n_);
        const solve_result result = by.solve(right, solution);
        const std::string what = case_ + "solver, " + method;
        if (M_.is_finite()) expect_converged(M_, b_, solution, result.status, what);
        const solution_proof proof = by.prove({right.data(), m_, 1, m_}, {solution.data(), n_, 1, n_}, {});
        if (proof.verified) expect_within(exact_, solution, proof.radius.to_vector(), what);
      });
    attempt("offsets of 32 bits", [&] {
      if (!fits_32_bits()) throw value_error("not to be had in 32 bits");
      const std::vector<std::int32_t> offsets(M_.row_ptr.begin(), M_.row_ptr.end());
      const csr32_view<const double> narrow{M_.rows,        M_.cols,       M_.nonzeros,
                                            offsets.data(), M_.col.data(), M_.val.data()};
      class solver by(dev_, narrow, {});
      array<double> solution = array<double>::zeros(dev_, n_);
      const solve_result result = by.solve(b(), solution);
      if (M_.is_finite()) expect_converged(M_, b_, solution, result.status, case_ + "offsets of 32 bits");
    });
    // An interface of pointers cannot know how long its arrays are.
    if (M_.null || std::ssize(M_.row_ptr) != M_.rows + 1 || M_.row_ptr.back() != M_.nonzeros ||
        M_.rows != M_.cols)
      return;
    attempt("vouch_solver_create_csr", [&] {
      vouch_solver* made = nullptr;
      if (vouch_solver_create_csr(&made, M_.rows, M_.row_ptr.data(), M_.col.data(), M_.val.data(), nullptr) !=
          VOUCH_OK)
        throw value_error(vouch_message());
      const std::unique_ptr<vouch_solver, void (*)(vouch_solver*)> by(made, vouch_solver_free);
      array<double> solution = array<double>::zeros(dev_, n_);
      vouch_report report{};
      if (vouch_solver_solve(by.get(), 1, b_.data(), solution.data(), &report) != VOUCH_OK) return;
      const bool converged = report.status == std::string("converged");
      if (M_.is_finite() && converged)
        expect_converged(M_, b_, solution, solve_status::converged, case_ + "vouch_solver_solve");
      vector_of radius(b_.size());
      vouch_proof proof{};
      if (vouch_solver_prove(by.get(), 1, b_.data(), solution.data(), 0, radius.data(), &proof) == VOUCH_OK &&
          proof.verified != 0)
        expect_within(exact_, solution, radius, case_ + "vouch_solver_prove");
    });
  }

  bool fits_32_bits() const {
    for (const std::int64_t offset : M_.row_ptr)
      if (offset != static_cast<std::int32_t>(offset)) return false;
    return !M_.null;
  }

  void bound_by(const char* what, const std::unique_ptr<certificate>& proof) {
    if (proof == nullptr) return;
    array<double> solution = array<double>::zeros(dev_, n_);
    const error_bound bound = bound_error(dev_, A_, *proof, b(), solution);
    if (bound.verified) expect_within(exact_, solution, bound.radius.to_vector(), case_ + what);
  }

  void proofs() {
    std::string reason;
    attempt("h_matrix", [&] { bound_by("h_matrix", h_matrix::prove(dev_, A_, {}, reason)); });
    attempt("positive_definite",
            [&] { bound_by("positive_definite", positive_definite::prove(dev_, A_, {}, reason)); });
    attempt("sparse_inverse", [&] { bound_by("sparse_inverse", sparse_inverse::prove(dev_, A_, {}, reason)); });
    attempt("dense_inverse", [&] { bound_by("dense_inverse", dense_inverse::prove(dev_, A_, {}, reason)); });
    structure_facts facts;
    facts.square = facts.symmetric = facts.diagonal_positive = M_.rows == M_.cols;
    attempt("prove_by_structure",
            [&] { bound_by("structure", prove_by_structure(dev_, A_, facts, {}, reason)); });
    attempt("prove_nonsingular",
            [&] { bound_by("nonsingular", prove_nonsingular(dev_, A_, facts, {}, reason)); });
  }

  device dev_;
  const loose_csr& M_;
  csr_view<const double> A_;
  std::string case_;
  bool sound_;
  std::int64_t n_, m_;
  vector_of b_, x_;
  std::optional<std::vector<mpq_class>> exact_;
  int refusals_ = 0;
};

TEST(corrupt_csr, is_refused_everywhere_and_nothing_false_is_said_of_the_rest) {
  const device cpu = device::cpu(1);
  const int cases = testing::campaign(100000);
  int no_matrix = 0, refusals = 0;
  for (int c = 0; c < cases; ++c) {
    dice die(static_cast<std::uint64_t>(c) + 77000000);
    loose_csr M = sound(die);
    const int corruptions = die.below(16) == 0 ? 0 : 1 + die.below(2);
    for (int k = 0; k < corruptions; ++k) corrupt(M, die);
    no_matrix += !M.is_sound();
    gauntlet all(cpu, M, c);
    all.run();
    refusals += all.refusals();
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(no_matrix, cases / 3);
  EXPECT_LT(no_matrix, cases);
  std::printf("%d cases, %d of them no matrix, %d refusals\n", cases, no_matrix, refusals);
}

std::string refusal(const device& dev, const loose_csr& M) {
  const auto offsets = array<std::int64_t>::from(dev, M.row_ptr);
  const auto columns = array<std::int32_t>::from(dev, M.col);
  const auto values = array<double>::from(dev, M.val);
  try {
    const valid_csr valid(
        "spmv", dev,
        csr_view<const double>{M.rows, M.cols, M.nonzeros, offsets.data(), columns.data(), values.data()});
  } catch (const error& refused) {
    return refused.what();
  }
  return "";
}

TEST(valid_csr, names_row_and_entry) {
  for (const device& dev : testing::devices()) {
    const loose_csr good{3, 3, 4, {0, 2, 2, 4}, {0, 2, 1, 2}, {1, 2, 3, 4}};
    EXPECT_EQ(refusal(dev, good), "");
    const auto changed = [&](auto&& change) {
      loose_csr M = good;
      change(M);
      return refusal(dev, M);
    };
    EXPECT_EQ(changed([](auto& M) { M.row_ptr[0] = 1; }), "spmv: row_ptr[0] is 1, not 0");
    EXPECT_EQ(changed([](auto& M) { M.row_ptr[2] = 1; }), "spmv: row 1 ends at entry 1, before it begins at 2");
    EXPECT_EQ(changed([](auto& M) { M.row_ptr[2] = 9; }),
              "spmv: row 1 ends at entry 9, but there are 4 entries");
    EXPECT_EQ(changed([](auto& M) { M.row_ptr[3] = 3; }),
              "spmv: row 2 ends at entry 3, but there are 4 entries");
    EXPECT_EQ(changed([](auto& M) { M.col[2] = -1; }),
              "spmv: entry 2 of row 2 is in column -1, the matrix has 3 columns");
    EXPECT_EQ(changed([](auto& M) { M.col[3] = 3; }),
              "spmv: entry 3 of row 2 is in column 3, the matrix has 3 columns");
    EXPECT_EQ(changed([](auto& M) { M.col[1] = 0; }),
              "spmv: entry 1 of row 0 is in column 0, as the one before");
    EXPECT_EQ(changed([](auto& M) { std::swap(M.col[2], M.col[3]); }),
              "spmv: entry 3 of row 2 is in column 1, behind one in column 2");
  }
}

// Many rows, long ones and empty ones: the first bad row is named, whichever thread finds it.
TEST(valid_csr, names_the_first_row_for_any_number_of_threads) {
  loose_csr M{20000, 5000, 0, {0}, {}, {}};
  for (std::int64_t i = 0; i < M.rows; ++i) {
    const int entries = i == 7000 ? 4000 : i % 5 == 0 ? 0 : static_cast<int>(i % 9);
    for (int k = 0; k < entries; ++k) M.col.push_back(static_cast<std::int32_t>(k + i % 900));
    M.row_ptr.push_back(std::ssize(M.col));
  }
  resize(M, std::ssize(M.col));
  std::vector<device> devices = testing::devices();
  devices.push_back(device::cpu(4));
  for (const device& dev : devices) {
    EXPECT_EQ(refusal(dev, M), "");
    loose_csr other = M;
    other.col[static_cast<std::size_t>(M.row_ptr[7000] + 3999)] = 5000;
    EXPECT_EQ(
        refusal(dev, other).find("spmv: entry " + std::to_string(M.row_ptr[7000] + 3999) + " of row 7000 "),
        0u);
    other.col[static_cast<std::size_t>(M.row_ptr[6001] + 1)] = -5;
    EXPECT_EQ(refusal(dev, other).find("spmv: entry " + std::to_string(M.row_ptr[6001] + 1) + " of row 6001 "),
              0u);
    other.row_ptr[5001] = M.nonzeros + 1;
    EXPECT_EQ(refusal(dev, other).find("spmv: row 5000 ends"), 0u) << refusal(dev, other);
  }
}

// What vouches for a matrix does so for no other, and no longer than it lives.
// One that ended before the one made after it was left in the list; a known pattern let values that are null through.
TEST(valid_csr, may_end_in_any_order_and_knows_no_values) {
  const device cpu = device::cpu(1);
  csr<double> A = poisson_2d(cpu, 3, 3);
  const csr<double> B = poisson_2d(cpu, 2, 2);
  const auto x = array<double>::from(cpu, std::vector<double>(9, 1.0));
  array<double> y(cpu, 9);
  std::optional<valid_csr> first, second;
  first.emplace("first", cpu, A);
  second.emplace("second", cpu, B);
  first.reset();
  second.reset();
  second.emplace("second", cpu, A);
  EXPECT_THROW(
      spmv<double>(cpu, 1, {A.rows, A.cols, A.nonzeros(), A.row_ptr.data(), A.col.data(), nullptr}, x, 0, y),
      value_error);
  second.reset();
  A.col[0] = -1;
  EXPECT_THROW(spmv<double>(cpu, 1, A, x, 0, y), value_error);
}

TEST(valid_csr, is_not_asked_twice_for_the_same_matrix) {
  const device cpu = device::cpu(1);
  csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 3}});
  const csr<double> bad = [] {
    csr<double> M = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{1, 1}, 3}});
    M.col[1] = 2;
    return M;
  }();
  const auto x = array<double>::zeros(cpu, 2);
  array<double> y(cpu, 2);
  {
    const valid_csr valid("caller", cpu, A);
    EXPECT_NO_THROW(spmv<double>(cpu, 1, A, x, 0, y));
    EXPECT_THROW(spmv<double>(cpu, 1, bad, x, 0, y), value_error);
    EXPECT_NO_THROW(spmv<double>(cpu, 1, A, x, 0, y));
  }
  A.col[1] = 2;
  EXPECT_THROW(spmv<double>(cpu, 1, A, x, 0, y), value_error);
}

TEST(csr, arrays_of_other_sizes_are_refused) {
  const device cpu = device::cpu(1);
  csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{1, 1}, 3}});
  A.col = array<std::int32_t>::zeros(cpu, 1);
  EXPECT_THROW(A.all(), shape_error);
  csr<double> B = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{1, 1}, 3}});
  B.rows = 3;
  EXPECT_THROW(B.all(), shape_error);
}

// The diagonal stored twice, -1 and then 2: half the solution was claimed to be exact to 0.5.
TEST(corrupt_csr, entries_stored_twice_prove_nothing) {
  const device cpu = device::cpu(1);
  const loose_csr M{1, 1, 2, {0, 2}, {0, 0}, {-1, 2}};
  std::string reason;
  EXPECT_THROW(prove_nonsingular(cpu, M.view(), structure_facts{}, {}, reason), value_error);
  EXPECT_THROW(h_matrix::prove(cpu, M.view(), {}, reason), value_error);
}

TEST(corrupt_csr, radii_in_no_place_are_refused) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 2}, {{0, 1}, 1}, {{1, 1}, 3}});
  std::string reason;
  const auto proof = h_matrix::prove(cpu, A, {}, reason);
  const auto b = array<double>::from(cpu, vector_of{1, 1});
  array<double> x = array<double>::zeros(cpu, 2);
  error_bound bound = bound_error(cpu, A, *proof, b, x);
  data_radii radii{A.to(cpu), array<double>::zeros(cpu, 2)};
  radii.matrix.col[1] = 1 << 30;
  EXPECT_THROW(widen_to_data(cpu, *proof, radii, x, 0, bound), value_error);
  radii.matrix.col = array<std::int32_t>::zeros(cpu, 1);
  EXPECT_THROW(widen_to_data(cpu, *proof, radii, x, 0, bound), shape_error);
}

}  // namespace
}  // namespace vouch
