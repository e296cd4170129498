#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/ordered_writer.hpp>

namespace vouch {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

bool in_lower(symmetry stored_as, std::int64_t i, std::int64_t j) {
  if (stored_as == symmetry::general) return true;
  return holds_lower_triangle(stored_as) ? j <= i : j < i;
}

bool finite(double value) { return std::isfinite(value); }
bool finite(std::complex<double> value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

// What stands at (j, i) where value stands at (i, j).
double counterpart(symmetry stored_as, double value) {
  return stored_as == symmetry::skew_symmetric ? -value : value;
}
std::complex<double> counterpart(symmetry stored_as, std::complex<double> value) {
  if (stored_as == symmetry::hermitian) return std::conj(value);
  return stored_as == symmetry::skew_symmetric ? -value : value;
}

const char* field_of(double) { return "real"; }
const char* field_of(std::complex<double>) { return "complex"; }

char* print_value(char* to, double value) { return print_number(to, value); }
char* print_value(char* to, std::complex<double> value) {
  to = print_number(to, value.real());
  *to++ = ' ';
  return print_number(to, value.imag());
}

// Whether A(j, i) is what the symmetry asks for beside A(i, j) = value.
template <class T>
bool has_mirror(csr_view<const T> A, std::int64_t i, std::int64_t j, T value, symmetry stored_as) {
  if (stored_as == symmetry::skew_symmetric && i == j) return false;
  const std::int32_t* first = A.col + A.row_ptr[j];
  const std::int32_t* last = A.col + A.row_ptr[j + 1];
  const std::int32_t* at = std::lower_bound(first, last, static_cast<std::int32_t>(i));
  if (at == last || *at != i) return false;
  return A.val[at - A.col] == counterpart(stored_as, value);
}

std::string place(std::int64_t i, std::int64_t j) {
  return "(" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ")";
}

constexpr std::int64_t piece = 8192;  // entries that are worth a thread

template <class T>
int team_for(csr_view<const T> A) {
  return A.nonzeros < piece ? 1 : device::cpu().threads();
}

template <class T>
void check(csr_view<const T> A, symmetry stored_as) {
  const bool whole = stored_as == symmetry::general;
  if (!whole && A.rows != A.cols)
    throw shape_error(std::string("a ") + name(stored_as) + " matrix must be square, this is " +
                      std::to_string(A.rows) + " by " + std::to_string(A.cols));
  std::int64_t bad = none;
#pragma omp parallel for firstprivate(ieee) num_threads(team_for(A)) schedule(static) reduction(min : bad)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (!finite(A.val[k]) || !(whole || has_mirror(A, i, A.col[k], A.val[k], stored_as)))
        bad = std::min(bad, k);
  if (bad == none) return;
  const std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows, bad) - A.row_ptr - 1;
  if (!finite(A.val[bad])) throw value_error("entry " + place(i, A.col[bad]) + " is not finite");
  throw value_error("entry " + place(i, A.col[bad]) + " has no " + name(stored_as) + " counterpart",
                    "write the matrix as general");
}

template <class T>
void write_coordinates(atomic_file& file, csr_view<const T> A, symmetry stored_as) {
  const valid_csr valid("write_matrix_market", device::cpu(), A);
  check(A, stored_as);
  std::int64_t entries = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(team_for(A)) schedule(static) reduction(+ : entries)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) entries += in_lower(stored_as, i, A.col[k]);

  file.write(std::string("%%MatrixMarket matrix coordinate ") + field_of(T{}) + " " + name(stored_as) + "\n" +
             std::to_string(A.rows) + " " + std::to_string(A.cols) + " " + std::to_string(entries) + "\n");
  write_in_order(file, ceil_div(A.nonzeros, piece), device::cpu().threads(), [&] {
    return [&, text = std::string()](std::int64_t number) mutable -> std::string_view {
      text.clear();
      const std::int64_t first = number * piece;
      const std::int64_t last = std::min(first + piece, A.nonzeros);
      std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, first) - A.row_ptr - 1;
      for (std::int64_t k = first; k < last; ++k) {
        while (A.row_ptr[i + 1] <= k) ++i;
        if (!in_lower(stored_as, i, A.col[k])) continue;
        char line[4 * number_width];
        char* end = print_number(line, i + 1);
        *end++ = ' ';
        end = print_number(end, A.col[k] + std::int64_t{1});
        *end++ = ' ';
        end = print_value(end, A.val[k]);
        *end++ = '\n';
        text.append(line, end);
      }
      return text;
    };
  });
  file.finish();
}

}  // namespace

void write_matrix_market(atomic_file& file, csr_view<const double> A, symmetry stored_as) {
  const ieee_environment here;
  write_coordinates(file, A, stored_as == symmetry::hermitian ? symmetry::symmetric : stored_as);
}

void write_matrix_market(atomic_file& file, csr_view<const std::complex<double>> A, symmetry stored_as) {
  const ieee_environment here;
  write_coordinates(file, A, stored_as);
}

void write_matrix_market(const std::string& path, csr_view<const double> A, symmetry stored_as) {
  atomic_file file(path);
  write_matrix_market(file, A, stored_as);
  file.commit();
}

void write_matrix_market(const std::string& path, csr_view<const std::complex<double>> A, symmetry stored_as) {
  atomic_file file(path);
  write_matrix_market(file, A, stored_as);
  file.commit();
}

}  // namespace vouch
