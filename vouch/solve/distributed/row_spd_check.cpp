#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch::distributed {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// What one rank finds; rows of the whole matrix, or `none`.
struct findings {
  unsymmetric_entry unsymmetric{none, none, 0, 0};
  std::int64_t zero = none, not_positive = none;
  bool all_negative = true;
};

bool comes_before(const unsymmetric_entry& a, const unsymmetric_entry& b) {
  return a.row != b.row ? a.row < b.row : a.col < b.col;
}

// An entry of a rank's rows whose column is another rank's row.
struct crossing {
  std::int64_t row, col;
  double value;
};

class checker {
 public:
  explicit checker(const row_matrix& A) : A_(A), local_(A.local()) {}

  findings look() {
    std::vector<crossing> crossings;
    std::vector<std::int64_t> count(static_cast<std::size_t>(A_.ranks().size()), 0);
    for (std::int64_t i = 0; i < A_.rows(); ++i) look_at_row(i, crossings);
    std::stable_sort(crossings.begin(), crossings.end(), [&](const crossing& a, const crossing& b) {
      return A_.partition().owner(a.col) < A_.partition().owner(b.col);
    });
    for (const crossing& c : crossings) ++count[static_cast<std::size_t>(A_.partition().owner(c.col))];
    for (const crossing& c : distribute<crossing>(A_.ranks(), crossings, count))
      compare({c.row, c.col, c.value, entry(c.col - A_.first_row(), c.row)});
    return found_;
  }

 private:
  void look_at_row(std::int64_t i, std::vector<crossing>& crossings) {
    const std::int64_t row = A_.first_row() + i;
    double diagonal = 0;
    for (std::int64_t k = local_.row_ptr[i]; k < local_.row_ptr[i + 1]; ++k) {
      const std::int32_t j = local_.col[k];
      if (j == i)
        diagonal = local_.val[k];
      else if (j < A_.rows())
        compare({row, A_.column(j), local_.val[k], entry(j, row)});
      else
        crossings.push_back({row, A_.column(j), local_.val[k]});
    }
    if (diagonal == 0) found_.zero = std::min(found_.zero, row);
    if (!(diagonal > 0)) found_.not_positive = std::min(found_.not_positive, row);
    found_.all_negative = found_.all_negative && diagonal < 0;
  }

  // Of local row i, in a column of the whole matrix.
  double entry(std::int64_t i, std::int64_t column) const {
    const std::int32_t *const begin = local_.col + local_.row_ptr[i], *const end =
                                                                          local_.col + local_.row_ptr[i + 1];
    const std::int32_t* const at =
        std::lower_bound(begin, end, column, [&](std::int32_t j, std::int64_t c) { return A_.column(j) < c; });
    return at != end && A_.column(*at) == column ? local_.val[at - local_.col] : 0;
  }

  void compare(const unsymmetric_entry& e) {
    if (e.value != e.mirrored && comes_before(e, found_.unsymmetric)) found_.unsymmetric = e;
  }

  const row_matrix& A_;
  csr_view<const double> local_;
  findings found_;
};

}  // namespace

structure_facts symmetry_facts(const row_matrix& A) {
  const ieee_environment here;
  findings all;
  for (const findings& f : gather(A.ranks(), checker(A).look())) {
    if (comes_before(f.unsymmetric, all.unsymmetric)) all.unsymmetric = f.unsymmetric;
    all.zero = std::min(all.zero, f.zero);
    all.not_positive = std::min(all.not_positive, f.not_positive);
    all.all_negative = all.all_negative && f.all_negative;
  }
  structure_facts facts;
  facts.square = true;
  facts.symmetric = all.unsymmetric.row == none;
  if (!facts.symmetric) facts.first_unsymmetric = all.unsymmetric;
  if (all.zero != none) facts.first_zero_diagonal = all.zero;
  if (all.not_positive != none) facts.first_nonpositive_diagonal = all.not_positive;
  facts.diagonal_negative = all.all_negative;
  return facts;
}

std::string not_spd_reason(const row_matrix& A) {
  const ieee_environment here;
  return vouch::not_spd_reason(symmetry_facts(A));
}

}  // namespace vouch::distributed
