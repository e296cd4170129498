// vouch/io/matrix_market_parts.hpp -- what readers and writers of Matrix Market files share: the header, an entry in its
// plain form on CPUs and GPUs, the reader on a GPU; private.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/device.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/text/digits.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/lines.hpp>

namespace vouch {

/// Takes the header off a file that is read from its start, and checks that the declared entries can stand in
/// what is left of it.
matrix_market_header take_matrix_market_header(line_reader& reader);

/// Throws parse_error where the field is complex.
void require_real(const matrix_market_header& header, const char* hint = "");

/// Whether the triangle that a file holds has the diagonal.
inline bool holds_lower_triangle(symmetry stored_as) {
  return stored_as == symmetry::symmetric || stored_as == symmetry::hermitian;
}

/// read_csr and read_complex_csr of a file whose header is taken.
csr<double> read_csr(const device& dev, line_reader& reader, const matrix_market_header& header);
csr<std::complex<double>> read_complex_csr(const device& cpu, line_reader& reader,
                                           const matrix_market_header& header);

/// Entries of some lines of a coordinate file, which the reader is at; and how many there are with those before.
struct coordinate_part {
  coo entries;
  std::int64_t lines = 0, items = 0;
};

/// The entries in the blocks that the reader was given by take_part(). That they are all is for the caller to see.
///
/// Throws  parse_error  as read_coo(), where the reader knows how many lines and items stand before
coordinate_part read_coordinate_part(const device& cpu, line_reader& reader, const matrix_market_header& header,
                                     std::int64_t items_before, std::int64_t most_items);
/// Throws parse_error where a file has fewer entries than it declares.
void require_all_entries(const matrix_market_header& header, std::int64_t items, std::int64_t lines);

/// The elements of an array file in the order of the file: column by column, the lower triangle alone for
/// symmetric, without its diagonal for skew-symmetric.
template <class T>
array<T> read_array_elements(const device& cpu, line_reader& reader, const matrix_market_header& header);

/// Triplets of what the header describes, not filled yet.
template <class T = double>
triplets<T> coo_for(const device& cpu, const matrix_market_header& header, std::int64_t entries) {
  return {header.rows,
          header.cols,
          header.stored_as,
          array<std::int32_t>(cpu, entries),
          array<std::int32_t>(cpu, entries),
          array<T>(cpu, entries)};
}

/// What the entries of a file must keep.
struct entry_limits {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::int64_t least_below = 0;  // row - col of an entry is at least this
  bool real_diagonal = false;
};
entry_limits limits_of(const matrix_market_header& header);

struct plain_entry {
  std::uint64_t row = 0;  // from 1
  std::uint64_t col = 0;
  double val = 1;
  double imag = 0;
  const char* rare = nullptr;  // on a GPU: where a value stands that only a CPU rounds; val is meaningless
};

/// Zero, as a row or a column, wraps around to the largest number.
VOUCH_HOST_DEVICE inline bool is_within(const entry_limits& limits, const plain_entry& e) {
  return e.row - 1 < limits.rows && e.col - 1 < limits.cols &&
         static_cast<std::int64_t>(e.row) - static_cast<std::int64_t>(e.col) >= limits.least_below &&
         !(limits.real_diagonal && e.row == e.col && e.imag != 0);
}

VOUCH_HOST_DEVICE inline const char* skip_blanks(const char* p) {
  while (*p == ' ') ++p;
  return p;
}

/// More digits may wrap around.
VOUCH_HOST_DEVICE inline bool plain_length(std::ptrdiff_t digits) { return digits >= 1 && digits <= 18; }

/// One number of the field at p, in its plain forms; nullptr where the careful parser must look.
template <matrix_field Field>
VOUCH_HOST_DEVICE inline const char* plain_value(const char* p, const char* end, double& value,
                                                 [[maybe_unused]] const char*& rare) {
  if constexpr (Field == matrix_field::integer) {
    const bool negative = *p == '-';
    p += negative;
    std::uint64_t magnitude = 0;
    const char* const stop = digits::scan(p, end, magnitude);
    if (!plain_length(stop - p)) return nullptr;
    const auto integer = static_cast<std::int64_t>(magnitude);
    value = static_cast<double>(negative ? -integer : integer);
    return stop;
  } else {
#if defined(__CUDA_ARCH__)
    const digits::decimal_text number = digits::scan_decimal(p, end);
    if (number.count == 0) return nullptr;
    if (number.composable)
      value = digits::composed(number);
    else
      rare = p;
    return number.end;
#else
    const auto number = digits::scan_real(p, end);
    value = number.value;
    return number.error == number_error::none ? number.end : nullptr;
#endif
  }
}

/// Reads "ROW COL VALUE", any blanks between, from the front of a line at p. Returns the next line; nullptr
/// where the careful parser must look, as at everything that is wrong.
///
/// Shapes  A line feed stands before end.
template <matrix_field Field>
VOUCH_HOST_DEVICE inline const char* scan_plain_entry(const char* p, const char* end,
                                                      const entry_limits& limits, plain_entry& e) {
  const char* const row_text = skip_blanks(p);
  const char* q = digits::scan(row_text, end, e.row);
  if (!plain_length(q - row_text) || *q != ' ') return nullptr;
  const char* const col_text = skip_blanks(q);
  q = digits::scan(col_text, end, e.col);
  if (!plain_length(q - col_text)) return nullptr;
  if constexpr (Field != matrix_field::pattern) {
    if (*q != ' ') return nullptr;
    q = plain_value<Field>(skip_blanks(q), end, e.val, e.rare);
    if (q == nullptr) return nullptr;
  }
  if constexpr (Field == matrix_field::complex) {
    if (*q != ' ') return nullptr;
    q = plain_value<Field>(skip_blanks(q), end, e.imag, e.rare);
    if (q == nullptr) return nullptr;
  }
  if (*q == '\r') ++q;
  return *q == '\n' && is_within(limits, e) ? q + 1 : nullptr;
}

/// Of a build with CUDA: the matrix whose entries stand in a coordinate file with random access from byte `body` on, on gpu.
///
/// Memory  On the GPU, beside the result, the text and 40 bytes an entry, 80 where entries stand for two.
/// Result  As read_csr on a CPU, bit by bit. Nothing where a line is not of the plain form: the CPU knows what
///         to make of it.
/// Throws  out_of_memory, device_error
std::optional<csr<double>> read_coordinates_cuda(const device& gpu, const input_file& file, std::int64_t body,
                                                 const matrix_market_header& header);

}  // namespace vouch
