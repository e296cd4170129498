#include <vouch/solve/precond/ilu0.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/incomplete_lu.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr double least_pivot = 1e-8;  // of the largest entry in its row of U
constexpr double most_shift = 1024;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Where the diagonal stands in each row.
std::vector<std::int64_t> find_diagonal(const sparse_rows& B) {
  std::vector<std::int64_t> diagonal(at(B.rows()));
  for (std::int64_t i = 0; i < B.rows(); ++i)
    diagonal[at(i)] =
        std::lower_bound(B.col.begin() + B.row_ptr[at(i)], B.col.begin() + B.row_ptr[at(i) + 1], i) -
        B.col.begin();
  return diagonal;
}

sparse_rows part_of(const sparse_rows& B, const std::vector<std::int64_t>& diagonal, bool lower) {
  sparse_rows part;
  for (std::int64_t i = 0; i < B.rows(); ++i) {
    const std::int64_t first = lower ? B.row_ptr[at(i)] : diagonal[at(i)] + 1;
    const std::int64_t last = lower ? diagonal[at(i)] : B.row_ptr[at(i) + 1];
    part.col.insert(part.col.end(), B.col.begin() + first, B.col.begin() + last);
    part.val.insert(part.val.end(), B.val.begin() + first, B.val.begin() + last);
    part.row_ptr.push_back(std::ssize(part.col));
  }
  return part;
}

// Factors B in place, L left of the diagonal and U from it on.
class in_place {
 public:
  in_place(sparse_rows& B, int threads)
      : B_(B), diagonal_(find_diagonal(B)), threads_(threads), place_(at(threads)) {
    levels_ = find_levels(part_of(B, diagonal_, true), part_of(B, diagonal_, false));
  }

  // The first row whose pivot is too small, or the number of rows.
  std::int64_t run() {
    const cancellation_probe stop;
    std::int64_t bad = B_.rows();
    for (std::int64_t s = 0; s < levels_.count() && bad == B_.rows(); ++s) {
      stop.check();
      const std::int64_t first = levels_.start[at(s)], last = levels_.start[at(s) + 1];
      const int team = last - first < 512 ? 1 : threads_;
#pragma omp parallel for firstprivate(ieee) num_threads(team) schedule(static) reduction(min : bad)
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t i = levels_.rows[at(k)];
        std::vector<std::int64_t>& place = place_[at(team > 1 ? omp_get_thread_num() : 0)];
        place.resize(at(B_.rows()), -1);
        eliminate(i, place);
        if (!(ratio(i) >= least_pivot)) bad = std::min(bad, i);
      }
    }
    return bad;
  }

  // |u_ii| beside the largest of row i of U.
  double ratio(std::int64_t i) const {
    double most = 0;
    for (std::int64_t k = diagonal_[at(i)]; k < B_.row_ptr[at(i) + 1]; ++k) {
      if (!std::isfinite(B_.val[at(k)])) return std::numeric_limits<double>::quiet_NaN();
      most = std::max(most, std::fabs(B_.val[at(k)]));
    }
    return most > 0 ? std::fabs(B_.val[at(diagonal_[at(i)])]) / most : 0;
  }

  unit_factor take() const {
    unit_factor F{part_of(B_, diagonal_, true), {}, part_of(B_, diagonal_, false)};
    for (std::int64_t i = 0; i < B_.rows(); ++i) {
      F.pivots.push_back(B_.val[at(diagonal_[at(i)])]);
      for (std::int64_t k = F.upper.row_ptr[at(i)]; k < F.upper.row_ptr[at(i) + 1]; ++k)
        F.upper.val[at(k)] /= F.pivots.back();
    }
    return F;
  }

 private:
  // b_ij -= l_ik u_kj for all k before i; place is -1 everywhere before and after.
  void eliminate(std::int64_t i, std::vector<std::int64_t>& place) {
    const std::int64_t first = B_.row_ptr[at(i)], last = B_.row_ptr[at(i) + 1];
    for (std::int64_t k = first; k < last; ++k) place[at(B_.col[at(k)])] = k;
    for (std::int64_t k = first; k < diagonal_[at(i)]; ++k) {
      const std::int64_t row = B_.col[at(k)];
      const double l = B_.val[at(k)] /= B_.val[at(diagonal_[at(row)])];
      const std::int64_t begin = diagonal_[at(row)] + 1, end = B_.row_ptr[at(row) + 1];
      if (constexpr std::int64_t much_longer = 32; end - begin > much_longer * (last - k)) {
        subtract_few(k + 1, last, l, begin, end);
        continue;
      }
      for (std::int64_t m = begin; m < end; ++m)
        if (const std::int64_t to = place[at(B_.col[at(m)])]; to >= 0) B_.val[at(to)] -= l * B_.val[at(m)];
    }
    for (std::int64_t k = first; k < last; ++k) place[at(B_.col[at(k)])] = -1;
  }

  // The same for entries first to last - 1 and a row of U, entries begin to end - 1, that is far longer: its entries are
  // searched for.
  void subtract_few(std::int64_t first, std::int64_t last, double l, std::int64_t begin, std::int64_t end) {
    const auto columns = B_.col.begin();
    for (std::int64_t to = first; to < last; ++to) {
      const auto found = std::lower_bound(columns + begin, columns + end, B_.col[at(to)]);
      if (found != columns + end && *found == B_.col[at(to)]) B_.val[at(to)] -= l * B_.val[at(found - columns)];
    }
  }

  sparse_rows& B_;
  std::vector<std::int64_t> diagonal_;
  level_sets levels_;
  int threads_;
  std::vector<std::vector<std::int64_t>> place_;  // of a column in the row at work, for each thread
};

// Rows of B have entries of about 1.
void shift_diagonal(sparse_rows& B, double shift) {
  const std::vector<std::int64_t> diagonal = find_diagonal(B);
  for (const std::int64_t k : diagonal) B.val[at(k)] += std::copysign(shift, B.val[at(k)]);
}

// A with whole blocks of 2 by 2, zeros included: what elimination drops are complex numbers then, and the factors
// are those of the complex matrix.
template <real T>
csr<T> with_whole_blocks(const device& cpu, csr_view<const T> A) {
  csr<T> B{A.rows, A.cols, array<std::int64_t>(cpu, A.rows + 1), {}, {}};
  std::vector<std::int32_t> columns;  // of a row of blocks
  const auto list_blocks = [&](std::int64_t i) {
    columns.clear();
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 2]; ++k) columns.push_back(A.col[k] / 2);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  };
  B.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < A.rows; i += 2) {
    list_blocks(i);
    for (const std::int64_t row : {i, i + 1}) B.row_ptr[row + 1] = B.row_ptr[row] + 2 * std::ssize(columns);
  }
  B.col = array<std::int32_t>(cpu, B.row_ptr[B.rows]);
  B.val = array<T>::zeros(cpu, B.row_ptr[B.rows]);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    if (i % 2 == 0) list_blocks(i);
    const std::int64_t first = B.row_ptr[i];
    for (std::size_t k = 0; k < columns.size(); ++k)
      for (std::int32_t c = 0; c < 2; ++c)
        B.col[first + 2 * static_cast<std::int64_t>(k) + c] = 2 * columns[k] + c;
    std::int64_t to = first;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      while (B.col[to] != A.col[k]) ++to;
      B.val[to] = A.val[k];
    }
  }
  return B;
}

unit_factor factorise(const scaled_rows& B, double& shift, int threads) {
  for (;; shift *= 2) {
    sparse_rows work = B.rows;
    shift_diagonal(work, shift);
    in_place elimination_of(work, threads);
    const std::int64_t bad = elimination_of.run();
    if (bad == B.rows.rows()) return elimination_of.take();
    if (shift == 0 || 2 * shift > most_shift) throw_small_pivot("ilu0", B, bad, elimination_of.ratio(bad));
  }
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_ilu0(const device& dev, csr_view<const T> A, double shift) {
  const ieee_environment here;
  if (!(shift >= 0 && shift <= most_shift))
    throw value_error("ilu0: the shift must be a number from 0 to 1024");
  const valid_csr valid("ilu0", dev, A);
  check_square("ilu0", A.rows, A.cols);
  const host_matrix<T> host(dev, A);
  const int threads = host.cpu().threads();
  const csr<T> whole =
      has_imaginary_parts<T>(host.cpu(), host.all()) ? with_whole_blocks<T>(host.cpu(), host.all()) : csr<T>{};
  scaled_rows B = scale_and_match(whole.rows > 0 ? whole.all() : csr_view<const T>(host.all()),
                                  matching_use::where_weak, threads, "ilu0");
  unit_factor factor = factorise(B, shift, threads);
  const bool matched = B.matched;
  const factored_matrix F = unscaled("ilu0", std::move(B), std::move(factor));
  return make_triangular_pair<T>(
      dev, F,
      with_remarks("ilu0", {shift > 0 ? string_printf("shift %g", shift) : "", matched ? "rows matched" : "",
                            describe_order(F, dev.is_cuda())}));
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_ilu0(const device&, csr_view<const float>,
                                                                       double);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_ilu0(const device&, csr_view<const double>,
                                                                        double);

}  // namespace vouch
