#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/matrix_file.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/text/masked_line.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

struct entry {
  std::int64_t row = 0;  // from 1
  std::int64_t col = 0;
  std::complex<double> val = 1;
};

// Parses a line word by word: every legal line, and the complaint about every other.
class careful_line {
 public:
  careful_line(const matrix_market_header& header, const line_block& block, std::string_view line)
      : header_(header), block_(block), line_(line), words_(line) {}

  entry coordinate() {
    entry e;
    token row, col;
    e.row = index("row", header_.rows, row);
    e.col = index("column", header_.cols, col);
    if (holds_lower_triangle(header_.stored_as) && e.row < e.col)
      refuse(col, std::string("an entry above the diagonal of a ") + name(header_.stored_as) + " matrix",
             "only the lower triangle is stored");
    if (header_.stored_as == symmetry::skew_symmetric && e.row <= e.col)
      refuse(col,
             e.row == e.col ? "an entry on the diagonal of a skew-symmetric matrix"
                            : "an entry above the diagonal of a skew-symmetric matrix",
             "only the triangle below the diagonal is stored");
    if (header_.field != matrix_field::pattern) e.val = number();
    if (header_.stored_as == symmetry::hermitian && e.row == e.col && e.val.imag() != 0)
      refuse(row, "an entry on the diagonal of a hermitian matrix that is not real");
    end();
    return e;
  }
  std::complex<double> element() {
    const std::complex<double> v = number();
    end();
    return v;
  }
  [[noreturn]] void refuse_extra_entry() {
    token word;
    words_.next(word);
    if (word.text.starts_with('%')) refuse(word, "a comment after the size line");
    refuse(word, "more than the declared " + std::to_string(header_.entries) + " entries");
  }

 private:
  token take(const char* what) {
    token word;
    if (!words_.next(word)) refuse(word, std::string("the line ends before the ") + what);
    if (const auto at = word.text.find('\0'); at != word.text.npos) refuse(inside(word, at), "a NUL byte");
    if (const auto at = word.text.find('\r'); at != word.text.npos)
      refuse(inside(word, at), "a carriage return inside the line", "lines end in LF or CR LF");
    if (word.text.starts_with('%')) refuse(word, "a comment after the size line");
    return word;
  }
  static token inside(const token& word, std::size_t at) {
    return {word.text, word.column + static_cast<std::int64_t>(at)};
  }
  std::int64_t index(const char* what, std::int64_t largest, token& word) {
    word = take(what);
    const char* const last = word.text.data() + word.text.size();
    const auto number = parse_integer(word.text.data(), last);
    if (number.error == number_error::malformed || number.end != last)
      refuse(word, std::string("expected a ") + what + ", found " + quoted(word.text));
    const bool overflow = number.error == number_error::overflow;
    if (overflow ? word.text[0] == '-' : number.value < 1)
      refuse(word, std::string(what).append(" ").append(word.text).append(" is below 1"),
             "indices count from 1");
    if (overflow || number.value > largest)
      refuse(word, std::string(what).append(" ").append(word.text).append(" exceeds ") +
                       std::to_string(largest) + " " + what + "s");
    return number.value;
  }
  std::complex<double> number() {
    const bool is_complex = header_.field == matrix_field::complex;
    const double real = value(is_complex ? "real part" : "value");
    return {real, is_complex ? value("imaginary part") : 0};
  }
  double value(const char* what) {
    const token word = take(what);
    const char* const first = word.text.data();
    const char* const last = first + word.text.size();
    const auto real = parse_real(first, last);
    if (real.error == number_error::malformed || real.end != last) refuse(word, not_a_number(word.text));
    if (header_.field != matrix_field::integer) {
      if (real.error == number_error::overflow) refuse(word, not_a_number(word.text));
      return real.value;
    }
    const auto integer = parse_integer(first, last);
    if (integer.end != last) refuse(word, "expected an integer, found " + quoted(word.text));
    if (integer.error == number_error::overflow) refuse(word, quoted(word.text) + " overflows 64-bit integers");
    return static_cast<double>(integer.value);
  }
  void end() {
    token word;
    if (!words_.next(word)) return;
    refuse(word, "unexpected " + quoted(word.text) + " at the end of the line");
  }
  [[noreturn]] void refuse(const token& at, const std::string& message, const char* hint = "") const {
    const std::int64_t number = block_.first_line + std::count(block_.begin, line_.data(), '\n');
    throw parse_error(header_.file, number, at.column, message, hint);
  }

  const matrix_market_header& header_;
  const line_block& block_;
  std::string_view line_;
  tokens words_;
};

// Where entries go.
template <class T>
struct entry_target {
  std::int32_t* row;
  std::int32_t* col;
  T* val;
};

void set(double& to, double real, double) { to = real; }
void set(std::complex<double>& to, double real, double imag) { to = {real, imag}; }

// One number of the field.
template <matrix_field Field>
[[gnu::always_inline]] inline bool take_number(masked_line& line, double& number) {
  return Field == matrix_field::integer ? line.integer(number) : line.real(number);
}

// What scan_plain_entry takes, where all of a line is seen at once; nullptr also elsewhere.
template <matrix_field Field>
[[gnu::always_inline]] inline const char* scan_short_entry(const char* p, const entry_limits& limits,
                                                           plain_entry& e) {
  masked_line line(p);
  if (!line.whole(e.row) || !line.blanks() || !line.whole(e.col)) return nullptr;
  if (Field != matrix_field::pattern && (!line.blanks() || !take_number<Field>(line, e.val))) return nullptr;
  if (Field == matrix_field::complex && (!line.blanks() || !take_number<Field>(line, e.imag))) return nullptr;
  return is_within(limits, e) ? line.next() : nullptr;
}

// Parses entries of the plain form; stops before the first line of another form, at the end, or when room
// entries are there.
//
// The position of a line depends on the end of the line before: that chain bounds the speed.
template <matrix_field Field, class T>
const char* parse_plain(const char* p, const char* end, const entry_limits& limits, const entry_target<T>& to,
                        std::int64_t room, std::int64_t& found) {
  std::int64_t k = found;
  for (; p < end && k < room; ++k) {
    plain_entry e;
    const char* next = masked_line::pays ? scan_short_entry<Field>(p, limits, e) : nullptr;
    if (next == nullptr) {
      e = {};  // digits are appended to what is there
      next = scan_plain_entry<Field>(p, end, limits, e);
    }
    if (next == nullptr) break;
    to.row[k] = static_cast<std::int32_t>(e.row - 1);
    to.col[k] = static_cast<std::int32_t>(e.col - 1);
    set(to.val[k], e.val, e.imag);
    p = next;
  }
  found = k;
  return p;
}

// Takes the lines of a block one after the other: most by plain(), the others by careful(line).
template <class Plain, class Careful>
void parse_block(const matrix_market_header& header, const line_block& block, Plain plain, Careful careful) {
  const std::int64_t room = std::clamp<std::int64_t>(header.entries - block.items_before, 0, block.items);
  std::int64_t found = 0;
  for (const char* p = plain(block.begin, room, found); p < block.end; p = plain(p, room, found)) {
    const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(block.end - p)));
    std::string_view line(p, static_cast<std::size_t>(feed - p));
    if (!is_blank(line)) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      careful_line text(header, block, line);
      if (found == room) text.refuse_extra_entry();
      careful(text, found++);
    }
    p = feed + 1;
  }
}

template <matrix_field Field, class T>
void parse_coordinates(const matrix_market_header& header, const line_block& block,
                       const entry_target<T>& all) {
  const std::int64_t first = std::min(block.items_before, header.entries);
  const entry_target<T> to{all.row + first, all.col + first, all.val + first};
  const entry_limits limits = limits_of(header);
  parse_block(
      header, block,
      [&](const char* p, std::int64_t room, std::int64_t& found) {
        return parse_plain<Field>(p, block.end, limits, to, room, found);
      },
      [&](careful_line& line, std::int64_t k) {
        const entry e = line.coordinate();
        to.row[k] = static_cast<std::int32_t>(e.row - 1);
        to.col[k] = static_cast<std::int32_t>(e.col - 1);
        set(to.val[k], e.val.real(), e.val.imag());
      });
}

template <matrix_field Field, class T>
void parse_elements(const matrix_market_header& header, const line_block& block, T* all) {
  T* const val = all + std::min(block.items_before, header.entries);
  parse_block(
      header, block,
      [&](const char* p, std::int64_t room, std::int64_t& found) {
        for (; p < block.end && found < room; ++found) {
          const char* none = nullptr;
          double real = 0, imag = 0;
          const char* q = plain_value<Field>(skip_blanks(p), block.end, real, none);
          if (q == nullptr) break;
          if constexpr (Field == matrix_field::complex) {
            if (*q != ' ') break;
            q = plain_value<Field>(skip_blanks(q), block.end, imag, none);
            if (q == nullptr) break;
          }
          if (*q == '\r') ++q;
          if (*q != '\n') break;
          set(val[found], real, imag);
          p = q + 1;
        }
        return p;
      },
      [&](careful_line& line, std::int64_t k) {
        const std::complex<double> element = line.element();
        set(val[k], element.real(), element.imag());
      });
}

template <class T>
void parse_all_blocks(const device& cpu, line_reader& reader, const matrix_market_header& header,
                      const entry_target<T>& to) {
  for_each_block(reader, cpu.threads(), [&](const line_block& block) {
    if (header.field == matrix_field::real) parse_coordinates<matrix_field::real>(header, block, to);
    if (header.field == matrix_field::integer) parse_coordinates<matrix_field::integer>(header, block, to);
    if (header.field == matrix_field::pattern) parse_coordinates<matrix_field::pattern>(header, block, to);
    if (header.field == matrix_field::complex) parse_coordinates<matrix_field::complex>(header, block, to);
  });
}

template <class T>
triplets<T> read_coordinates(const device& cpu, line_reader& reader, const matrix_market_header& header) {
  triplets<T> A = coo_for<T>(cpu, header, header.entries);
  parse_all_blocks<T>(cpu, reader, header, {A.row.data(), A.col.data(), A.val.data()});
  require_all_entries(header, reader.items(), reader.lines());
  return A;
}

// Triplets of the elements that are not zero, column by column.
template <class T>
triplets<T> read_array(const device& cpu, line_reader& reader, const matrix_market_header& header) {
  const array<T> elements = read_array_elements<T>(cpu, reader, header);
  const bool whole = header.stored_as == symmetry::general;
  const std::int64_t below = header.stored_as == symmetry::skew_symmetric ? 1 : 0;
  // Column j starts at row first_row(j), with element start(j).
  const auto first_row = [&](std::int64_t j) { return whole ? 0 : std::min(j + below, header.rows); };
  const auto start = [&](std::int64_t j) {
    return whole ? j * header.rows : j * (header.rows - below) - j * (j - 1) / 2;
  };

  std::vector<std::int64_t> kept(static_cast<std::size_t>(header.cols) + 1, 0);
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static)
  for (std::int64_t j = 0; j < header.cols; ++j) {
    const T* column = elements.data() + start(j);
    const std::int64_t length = header.rows - first_row(j);
    kept[static_cast<std::size_t>(j) + 1] = length - std::count(column, column + length, T{0});
  }
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  triplets<T> A = coo_for<T>(cpu, header, kept.back());
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static)
  for (std::int64_t j = 0; j < header.cols; ++j) {
    std::int64_t out = kept[static_cast<std::size_t>(j)];
    std::int64_t in = start(j);
    for (std::int64_t i = first_row(j); i < header.rows; ++i, ++in) {
      if (elements[in] == T{0}) continue;
      A.row[out] = static_cast<std::int32_t>(i);
      A.col[out] = static_cast<std::int32_t>(j);
      A.val[out++] = elements[in];
    }
  }
  return A;
}

template <class T>
triplets<T> read_entries(const device& cpu, line_reader& reader, const matrix_market_header& header) {
  if (header.format == matrix_format::array) return read_array<T>(cpu, reader, header);
  return read_coordinates<T>(cpu, reader, header);
}

}  // namespace

void require_all_entries(const matrix_market_header& header, std::int64_t items, std::int64_t lines) {
  if (items >= header.entries) return;
  throw parse_error(
      header.file, lines, 0,
      "the file ends after " + std::to_string(items) + " of " + std::to_string(header.entries) + " entries",
      "it may be truncated");
}

// Room for all that may come is asked for, and what is not used never touched.
coordinate_part read_coordinate_part(const device& cpu, line_reader& reader, const matrix_market_header& header,
                                     std::int64_t items_before, std::int64_t most_items) {
  const ieee_environment here;
  // More lines than that are too short for entries, and one of them is complained of; none is written behind the end.
  matrix_market_header limited = header;
  limited.entries = std::min(header.entries, items_before + most_items);
  coordinate_part part;
  coo room = coo_for<double>(cpu, header, limited.entries);
  parse_all_blocks<double>(cpu, reader, limited, {room.row.data(), room.col.data(), room.val.data()});
  part.entries = std::move(room);
  part.lines = reader.lines();
  part.items = reader.items();
  return part;
}

entry_limits limits_of(const matrix_market_header& header) {
  std::int64_t least_below = std::numeric_limits<std::int64_t>::min();
  if (holds_lower_triangle(header.stored_as)) least_below = 0;
  if (header.stored_as == symmetry::skew_symmetric) least_below = 1;
  return {static_cast<std::uint64_t>(header.rows), static_cast<std::uint64_t>(header.cols), least_below,
          header.stored_as == symmetry::hermitian};
}

template <class T>
array<T> read_array_elements(const device& cpu, line_reader& reader, const matrix_market_header& header) {
  const ieee_environment here;
  array<T> elements(cpu, header.entries);
  for_each_block(reader, cpu.threads(), [&](const line_block& block) {
    if (header.field == matrix_field::integer)
      parse_elements<matrix_field::integer>(header, block, elements.data());
    else if (header.field == matrix_field::complex)
      parse_elements<matrix_field::complex>(header, block, elements.data());
    else
      parse_elements<matrix_field::real>(header, block, elements.data());
  });
  require_all_entries(header, reader.items(), reader.lines());
  return elements;
}
template array<double> read_array_elements(const device&, line_reader&, const matrix_market_header&);
template array<std::complex<double>> read_array_elements(const device&, line_reader&,
                                                         const matrix_market_header&);

namespace {
constexpr const char* complex_reader = "read_complex_csr() of vouch/io/matrix_market.hpp takes it";
}

coo read_coo(const device& cpu, input_file file, matrix_market_header& header) {
  const ieee_environment here;
  const file_content content = content_of(file);
  if (is_other_format(content)) return read_other_format(content, cpu, std::move(file), header);
  line_reader reader(std::move(file));
  header = take_matrix_market_header(reader);
  require_real(header, complex_reader);
  return read_entries<double>(cpu, reader, header);
}

coo read_coo(const device& cpu, const std::string& path, matrix_market_header* header) {
  matrix_market_header unused;
  return read_coo(cpu, open_part(path), header != nullptr ? *header : unused);
}

namespace {

// By the GPU, where it takes the file and has room for its text, too.
std::optional<csr<double>> read_on_gpu(const device& gpu, const line_reader& reader,
                                       const matrix_market_header& header) {
  if constexpr (built_with_cuda) {
    if (header.format != matrix_format::coordinate || !reader.file().random_access()) return std::nullopt;
    try {
      return read_coordinates_cuda(gpu, reader.file(), reader.offset(), header);
    } catch (const out_of_memory&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

csr<double> read_csr(const device& dev, line_reader& reader, const matrix_market_header& header) {
  const ieee_environment here;
  require_real(header, complex_reader);
  if (!dev.is_cuda()) return to_csr(dev, read_entries<double>(dev, reader, header));
  if (auto A = read_on_gpu(dev, reader, header)) return std::move(*A);
  const device cpu = device::cpu();
  return to_csr(cpu, read_entries<double>(cpu, reader, header)).to(dev);
}

csr<double> read_csr(const device& dev, const std::string& path, matrix_market_header* header) {
  const ieee_environment here;
  matrix_market_header unused;
  matrix_market_header& facts = header != nullptr ? *header : unused;
  input_file file = open_part(path);
  const file_content content = content_of(file);
  if (is_other_format(content)) return read_other_format_csr(content, dev, std::move(file), facts);
  line_reader reader(std::move(file));
  facts = take_matrix_market_header(reader);
  return read_csr(dev, reader, facts);
}

csr<std::complex<double>> read_complex_csr(const device& cpu, line_reader& reader,
                                           const matrix_market_header& header) {
  const ieee_environment here;
  return to_csr(cpu, read_entries<std::complex<double>>(cpu, reader, header));
}

csr<std::complex<double>> read_complex_csr(const device& cpu, const std::string& path,
                                           matrix_market_header* header) {
  const ieee_environment here;
  matrix_market_header unused;
  matrix_market_header& facts = header != nullptr ? *header : unused;
  input_file file = open_part(path);
  const file_content content = content_of(file);
  if (is_other_format(content)) {
    csr<double> A = read_other_format_csr(content, cpu, std::move(file), facts);
    array<std::complex<double>> values(cpu, A.nonzeros());
    std::copy(A.val.begin(), A.val.end(), values.begin());
    return {A.rows, A.cols, std::move(A.row_ptr), std::move(A.col), std::move(values)};
  }
  line_reader reader(std::move(file));
  facts = take_matrix_market_header(reader);
  return read_complex_csr(cpu, reader, facts);
}

}  // namespace vouch
