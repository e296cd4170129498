#include <vouch/solve/driver/operand.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/require.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/dense/require_entries.hpp>
#include <vouch/dense/sparsify.hpp>
#include <vouch/dense/structure.hpp>
#include <vouch/solve/direct/complex_form.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/module_factors.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/plan.hpp>
#include <vouch/solve/precond/amg/complex_amg.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// Larger factors are not worth the memory, larger matrices not the symbolic analysis.
constexpr std::int64_t most_entries = std::int64_t{1} << 28, most_nonzeros = std::int64_t{1} << 24;

matrix<double> densify(const device& cpu, csr_view<const double> A) {
  auto dense = matrix<double>::zeros(cpu, A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

// By columns, of a matrix by rows.
matrix<double> transposed(const device& cpu, matrix_view<const double> A) {
  matrix<double> result(cpu, A.cols, A.rows);
  for (std::int64_t i = 0; i < A.cols; ++i)
    for (std::int64_t j = 0; j < A.rows; ++j) result(i, j) = A(j, i);
  return result;
}

matrix<double> copy_dense(const device& to, const device& from, matrix_view<const double> A) {
  matrix<double> B(to, A.rows, A.cols);
  const auto bytes = [](std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); };
  if (A.ld == A.rows || A.cols == 1) {
    copy_bytes(B.data(), to, A.data, from, bytes(A.rows * A.cols));
    return B;
  }
  for (std::int64_t j = 0; j < A.cols; ++j)
    copy_bytes(B.data() + j * A.rows, to, A.data + j * A.ld, from, bytes(A.rows));
  return B;
}

// The pattern of A + A^T; the values are of no use.
csr<double> symmetric_pattern(const device& cpu, csr_view<const double> A) {
  const csr<double> B = transpose<double>(cpu, A);
  csr<double> sum{A.rows, A.cols, array<std::int64_t>(cpu, A.rows + 1), {}, {}};
  std::vector<std::int32_t> columns;
  columns.reserve(static_cast<std::size_t>(2 * A.nonzeros));
  sum.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    std::set_union(A.col + A.row_ptr[i], A.col + A.row_ptr[i + 1], B.col.data() + B.row_ptr[i],
                   B.col.data() + B.row_ptr[i + 1], std::back_inserter(columns));
    sum.row_ptr[i + 1] = static_cast<std::int64_t>(columns.size());
  }
  sum.col = array<std::int32_t>::from(cpu, columns);
  sum.val = array<double>::zeros(cpu, sum.col.size());
  return sum;
}

elimination_cost predict(const device& cpu, csr_view<const double> A, std::int64_t most) {
  return vouch::predict_elimination<double>(A, minimum_degree<double>(cpu, A), most);
}

// Of factors of complex numbers, counted as real ones: an entry as two, of operations four each.
elimination_cost predict(const device& cpu, const number_matrix<double>& A) {
  // The values are of no use.
  const csr_view<const double> pattern{A.rows,           A.rows,       A.nonzeros(),
                                       A.row_ptr.data(), A.col.data(), A.val.data()};
  const elimination_cost cost = predict(cpu, symmetric_pattern(cpu, pattern), most_entries / 2);
  return {2 * cost.entries, 4 * cost.flops};
}

// Whether libraries factorise the real form of a complex matrix as complex numbers. On CPUs none makes L D L^H.
bool have_complex_factors(const system_facts& facts) {
  const structure_facts& A = facts.matrix;
  const eliminator by = who_eliminates(facts);
  if (!A.square || by == eliminator::own) return false;
  return by == eliminator::gpu_library || A.complex_symmetric || !A.symmetric || not_spd_reason(A).empty();
}

// Whether the library on a GPU is to factorise: because that was asked for, or nothing and it is there.
bool is_gpu_library_taken(const solve_options& options) {
  return options.backend == cudss::backend_name || (options.backend == "auto" && cudss::is_installed());
}

// Whether sparse matrices are factorised on a GPU: where that was asked for, or the matrix is there and a library is.
bool factorises_on_gpu(const device& home, const solve_options& options) {
  if (options.run_on) return options.run_on->is_cuda();
  return options.backend == cudss::backend_name || (home.is_cuda() && is_gpu_library_taken(options));
}

struct kind_of_factors {
  sparse_factors factors;
  int of_modules;
};
constexpr kind_of_factors of_square_matrices[] = {{sparse_factors::cholesky, VOUCH_FACTORS_CHOLESKY},
                                                  {sparse_factors::ldlt, VOUCH_FACTORS_LDLT},
                                                  {sparse_factors::lu, VOUCH_FACTORS_LU}};

// What libraries make that auto may take: of small matrices where one was asked for. On a GPU, too, what factorises matrices
// that are not square works on the CPU.
set_of<sparse_factors> libraries_for(const structure_facts& A, const solve_options& options, bool on_gpu) {
  set_of<sparse_factors> all;
  const bool by_modules = options.backend != "own" && options.precision != working_precision::single;
  const bool small = A.nonzeros < least_nonzeros_of_modules && options.backend == "auto";
  for (const kind_of_factors& kind : of_square_matrices) {
    const bool there = on_gpu ? is_gpu_library_taken(options)
                              : by_modules && !small && is_backend_there(kind.of_modules, options.backend);
    if (there) all = all.with({kind.factors});
  }
  const bool elsewhere = !options.run_on && options.backend == "auto";
  if (by_modules && (!on_gpu || elsewhere) && is_backend_there(VOUCH_FACTORS_QR, options.backend))
    all = all.with({sparse_factors::qr});
  return all;
}

}  // namespace

operand::operand(const device& home, csr_view<const double> A)
    : home_(home), cpu_(home.is_cuda() ? device::cpu() : home), given_(A) {
  look_through();
}

namespace {

array<std::int64_t> widened_offsets(const device& home, const csr32_view<const double>& A) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (A.rows > most)
    throw value_error("solver: a matrix with offsets of 32 bits has at most " + std::to_string(most) +
                      " rows, not " + std::to_string(A.rows));
  return widened(home, A.row_ptr, std::max<std::int64_t>(0, A.rows + 1));
}

}  // namespace

operand::operand(const device& home, const csr32_view<const double>& A)
    : home_(home),
      cpu_(home.is_cuda() ? device::cpu() : home),
      offsets_(widened_offsets(home, A)),
      given_{A.rows, A.cols, A.nonzeros, offsets_.data(), A.col, A.val} {
  look_through();
}

void operand::look_through() {
  const valid_csr valid("solver", home_, given_);
  facts_.form = matrix_form::sparse;
  facts_.matrix = structure<double>(home_, given_);
}

operand::operand(const device& home, matrix_view<const double> A, bool by_rows)
    : home_(home), cpu_(home.is_cuda() ? device::cpu() : home), given_dense_(A) {
  detail::require_entries("solver", A);
  facts_.form = matrix_form::dense;
  facts_.matrix = structure(cpu_, dense(cpu_));
  if (!by_rows || facts_.matrix.symmetric) return;
  if (home.is_cuda())
    throw value_error("a dense matrix by rows on a GPU has to be symmetric", "give it by columns");
  dense_ = transposed(cpu_, A);
  given_dense_ = dense_->read();
  facts_.matrix = structure(cpu_, given_dense_);
}

operand::operand(const device& home, const linear_operator<double>& A)
    : home_(home), cpu_(home.is_cuda() ? device::cpu() : home), action_(&A) {
  if (A.rows() < 0) throw shape_error("an operator on a negative number of unknowns");
  facts_.form = matrix_form::matrix_free;
  facts_.matrix.rows = facts_.matrix.cols = A.rows();
  facts_.matrix.square = facts_.matrix.symmetric = true;  // what is asked of the caller
}

operand::operand(const device& home, const tridiagonal_view<const double>& A)
    : home_(home), cpu_(home.is_cuda() ? device::cpu() : home), given_bands_(A) {
  const std::int64_t extent = A.shape.extent();
  detail::require_data("solver", "the lower diagonal", A.dl, extent);
  detail::require_data("solver", "the diagonal", A.d, extent);
  detail::require_data("solver", "the upper diagonal", A.du, extent);
  band_facts_ = examine(home, A);
  facts_.form = matrix_form::tridiagonal;
  structure_facts& facts = facts_.matrix;
  for (std::int64_t s = 0; s < A.shape.systems; ++s) {
    const std::int64_t n = A.shape.rows(s);
    facts.rows += n;
    facts.nonzeros += A.periodic ? 3 * n : std::max<std::int64_t>(3 * n - 2, 0);
  }
  facts.cols = facts.rows;
  facts.square = facts.pattern_symmetric = true;
  facts.symmetric = band_facts_.symmetric;
  facts.diagonal_positive = facts.rows > 0 && band_facts_.positive_diagonal;
  facts.dominance_ratio = band_facts_.dominance;
  facts.dominant = band_facts_.dominance > 1    ? dominance::strict
                   : band_facts_.dominance == 1 ? dominance::weak
                                                : dominance::none;
  facts.bandwidth_lower = facts.bandwidth_upper = A.shape.n > 1 ? 1 : 0;
}

double operand::elimination_work() {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (form() == matrix_form::matrix_free || form() == matrix_form::tridiagonal) return never;
  if (!facts_.elimination) {
    const csr_view<const double> A = sparse(cpu_);
    const bool by_qr = facts_.libraries.has(sparse_factors::qr);
    if (A.nonzeros > most_nonzeros || (!facts_.matrix.square && !by_qr))
      facts_.elimination = {never, never};
    else if (!facts_.matrix.square)
      facts_.elimination = predict_factors(VOUCH_FACTORS_QR, A).value_or(elimination_cost{never, never});
    else
      facts_.elimination = predict_square(A);
  }
  return vouch::elimination_work(facts_);
}

elimination_cost operand::predict_square(csr_view<const double> A) {
  if (facts_.complex_nonzeros > 0)
    if (const auto form = find_complex_form(cpu_, A)) {
      facts_.complex_nonzeros = form->nonzeros();
      return predict(cpu_, *form);
    }
  facts_.complex_nonzeros = 0;
  if (facts_.matrix.pattern_symmetric) return predict(cpu_, A, most_entries);
  return predict(cpu_, symmetric_pattern(cpu_, A), most_entries);
}

namespace {

bool same_pattern(const device& home, csr_view<const double> A, csr_view<const double> B) {
  if (A.rows != B.rows || A.cols != B.cols || A.nonzeros != B.nonzeros) return false;
  const auto same = [&](const auto* a, const auto* b, std::int64_t count) {
    if (a == b) return true;
    using element = std::remove_cvref_t<decltype(*a)>;
    if (!home.is_cuda()) return std::equal(a, a + count, b);
    std::vector<element> of_a(static_cast<std::size_t>(count)), of_b(of_a.size());
    const device cpu = device::cpu(1);
    copy_bytes(of_a.data(), cpu, a, home, of_a.size() * sizeof(element));
    copy_bytes(of_b.data(), cpu, b, home, of_b.size() * sizeof(element));
    return of_a == of_b;
  };
  return same(A.row_ptr, B.row_ptr, A.rows + 1) && same(A.col, B.col, A.nonzeros);
}

}  // namespace

void operand::renew(csr_view<const double> A) {
  if (form() != matrix_form::sparse || offsets_.size() > 0)
    throw value_error("new values are for a sparse matrix that was given with offsets of 64 bits");
  const valid_csr valid("solver", home_, A);
  if (!same_pattern(home_, given_, A))
    throw value_error("the new values have another pattern than the matrix", "make another solver");
  given_ = A;
  sparse_.reset();
  sparse_there_.reset();
  dense_.reset();
  dense_there_.reset();
  facts_.matrix = structure<double>(home_, given_);
}

void operand::complete_facts(const solve_options& options) {
  facts_.factorised_on_gpu = form() == matrix_form::sparse && factorises_on_gpu(home_, options);
  facts_.libraries = libraries_for(facts_.matrix, options, facts_.factorised_on_gpu);
  if (form() == matrix_form::dense) {
    const bool cuda = options.run_on ? options.run_on->is_cuda() : home_.is_cuda();
    facts_.dense_factors = cuda ? cusolver::present() : lapack::present();
  }
  const structure_facts& A = facts_.matrix;
  if (form() == matrix_form::sparse && !home_.is_cuda() && A.square && !A.symmetric)
    facts_.aligned_numbers = (A.complex_symmetric || detail::holds_complex_numbers(home_, given_)) &&
                             multigrid::has_aligned_numbers(home_, given_);
  if (form() == matrix_form::sparse && have_complex_factors(facts_) &&
      (A.complex_symmetric || detail::holds_complex_numbers(home_, given_)))
    facts_.complex_nonzeros = A.nonzeros / 4;
  if (is_elimination_worth_predicting(facts_, options)) elimination_work();
}

csr_view<const double> operand::sparse(const device& dev) const {
  if (form() == matrix_form::sparse && is_same_place(dev, home_)) return given_;
  if (dev.is_cuda()) {
    if (!sparse_there_ || sparse_there_->where() != dev) sparse_there_ = copy(dev, cpu_, sparse(cpu_));
    return sparse_there_->all();
  }
  if (!sparse_)
    sparse_ = form() == matrix_form::sparse ? copy(cpu_, home_, given_) : sparsify(cpu_, dense(cpu_));
  return sparse_->all();
}

matrix_view<const double> operand::dense(const device& dev) const {
  if (form() == matrix_form::dense && is_same_place(dev, home_)) return given_dense_;
  if (dev.is_cuda()) {
    if (!dense_there_ || dense_there_->where() != dev) dense_there_ = copy_dense(dev, cpu_, dense(cpu_));
    return dense_there_->read();
  }
  if (!dense_)
    dense_ =
        form() == matrix_form::sparse ? densify(cpu_, sparse(cpu_)) : copy_dense(cpu_, home_, given_dense_);
  return dense_->read();
}

tridiagonal_view<const double> operand::bands(const device& dev) const {
  if (is_same_place(dev, home_)) return given_bands_;
  tridiagonal_view<const double> there = given_bands_;
  if (!bands_ || !is_same_place(bands_->d.where(), dev)) {
    const auto copied = [&](const double* from) {
      array<double> to(dev, there.shape.extent());
      copy_bytes(to.data(), dev, from, home_, static_cast<std::size_t>(to.size()) * sizeof(double));
      return to;
    };
    bands_ = {copied(there.dl), copied(there.d), copied(there.du)};
  }
  there.dl = bands_->dl.data();
  there.d = bands_->d.data();
  there.du = bands_->du.data();
  return there;
}

std::int64_t operand::bytes_on(const device& dev) const {
  if (!dev.is_cuda()) return 0;
  const auto of_sparse = [](csr_view<const double> A) { return 8 * (A.rows + 1) + 12 * A.nonzeros; };
  std::int64_t bytes = 0;
  if (dev == home_ && form() == matrix_form::sparse) bytes += of_sparse(given_);
  if (dev == home_ && form() == matrix_form::dense) bytes += 8 * given_dense_.rows * given_dense_.cols;
  if (sparse_there_ && sparse_there_->where() == dev) bytes += of_sparse(*sparse_there_);
  if (dense_there_ && dense_there_->where() == dev) bytes += 8 * dense_there_->rows() * dense_there_->cols();
  return bytes;
}

}  // namespace vouch
