#include <vouch/io/npy.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <type_traits>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/npy_parts.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy elements are copied as they are");

template <class Source>
[[noreturn]] void truncated(const Source& file) {
  throw parse_error(file.path(), 0, 0, "the .npy file ends early", "it may be truncated");
}

// IEEE 754 binary16.
struct half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = std::ldexp(fraction + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    if (exponent == 31)
      value = fraction > 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return bits >> 15 != 0 ? -value : value;
  }
};

struct nearest_double {
  using result = double;
  template <class T>
  double operator()(T number) const {
    return static_cast<double>(number);
  }
};

struct nearest_complex {
  using result = std::complex<double>;
  template <class T>
  result operator()(T number) const {
    return result(number);
  }
};

// How far an element is from the double nearest to it: integers beyond 2^53 are no doubles. Both halves of one
// are, and so is either difference.
struct distance_to_double {
  using result = double;
  template <class T>
  double operator()(T number) const {
    if constexpr (std::is_integral_v<T>) {
      constexpr std::int64_t half_range = std::int64_t{1} << 32;
      const double high = static_cast<double>(number / half_range) * 0x1p32;
      return std::fabs(static_cast<double>(number) - high - static_cast<double>(number % half_range));
    }
    return 0;
  }
};

// Where the elements of a file go: lines of so many elements, one after the other or, transposed, side by side.
struct arrangement {
  std::int64_t lines, length;
  bool transposed;

  std::int64_t count() const { return lines * length; }
  std::int64_t place(std::int64_t k) const { return transposed ? k % length * lines + k / length : k; }
};

// Elements that a thread reads at once: a megabyte, whole lines of it where they are transposed and not too long,
// as many at least as fill a cache line of the result.
std::int64_t elements_at_once(const arrangement& to, std::int64_t bytes) {
  const std::int64_t piece = (1 << 20) / bytes;
  if (!to.transposed || to.length > 2 * piece) return piece;
  return to.length * std::clamp<std::int64_t>(piece / to.length, 8, 64);
}

bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

template <class T>
concept complex_number = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// The bytes of a number, and of each part of a complex one, the other way round.
template <class T>
void reverse_bytes(char* at) {
  constexpr std::size_t part = complex_number<T> ? sizeof(T) / 2 : sizeof(T);
  for (char* end = at + sizeof(T); at < end; at += part) std::reverse(at, at + part);
}

// Puts elements from number `first` on where they belong, as value() has them; the number of the first one that
// is not finite, or none.
template <class T, class Value>
std::int64_t put_elements(const std::vector<T>& some, std::int64_t first, std::int64_t count,
                          const arrangement& to, Value value, typename Value::result* result,
                          std::int64_t none) {
  std::int64_t bad = none;
  const auto put = [&](std::int64_t k, std::int64_t at) {
    const auto number = value(some[static_cast<std::size_t>(k)]);
    if (!is_finite(number)) bad = std::min(bad, first + k);
    result[at] = number;
  };
  if (to.transposed && first % to.length == 0 && count % to.length == 0) {
    for (std::int64_t j = 0; j < to.length; ++j)
      for (std::int64_t i = 0; i < count / to.length; ++i)
        put(i * to.length + j, j * to.lines + first / to.length + i);
  } else {
    for (std::int64_t k = 0; k < count; ++k) put(k, to.place(first + k));
  }
  return bad;
}

// Reads elements that begin at a byte of the file, by all threads where it can be read anywhere; the number of
// the first one that is not finite, or as many as there are.
template <class T, class Source, class Value>
std::int64_t read_elements(const device& cpu, Source& file, std::int64_t start, bool big_endian,
                           const arrangement& to, Value value, typename Value::result* result) {
  const std::int64_t count = to.count(), piece = elements_at_once(to, sizeof(T));
  const bool anywhere = file.random_access();
  const auto read = [&](std::int64_t first, char* at, std::size_t bytes) {
    return anywhere ? file.read_at(start + first * static_cast<std::int64_t>(sizeof(T)), at, bytes)
                    : file.read(at, bytes);
  };
  const int threads = anywhere && count > piece ? cpu.threads() : 1;
  std::int64_t bad = count;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // the first
  const cancellation_probe stop;
#pragma omp parallel firstprivate(ieee) num_threads(threads) reduction(min : bad)
  {
    std::vector<T> some(static_cast<std::size_t>(std::min(count, piece)));
    char* const bytes = reinterpret_cast<char*>(some.data());
#pragma omp for schedule(monotonic : dynamic)
    for (std::int64_t first = 0; first < count; first += piece) try {
        if (failed) continue;
        stop.check();
        const std::int64_t now = std::min(piece, count - first);
        const std::size_t wanted = static_cast<std::size_t>(now) * sizeof(T);
        if (read(first, bytes, wanted) != wanted) truncated(file);
        if (big_endian)
          for (char* at = bytes; at < bytes + wanted; at += sizeof(T)) reverse_bytes<T>(at);
        bad = std::min(bad, put_elements(some, first, now, to, value, result, count));
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
  }
  if (failure) std::rethrow_exception(failure);
  char extra = 0;
  if (read(count, &extra, 1) != 0)
    throw parse_error(file.path(), 0, 0, "bytes behind the end of the .npy array");
  return bad;
}

// read(T{}) reads elements of type T.
template <class Read>
void with_real_type(npy_element type, Read read) {
  const auto read_integers = [&](auto one, auto two, auto four, auto eight) {
    if (type.bytes == 1) read(one);
    if (type.bytes == 2) read(two);
    if (type.bytes == 4) read(four);
    if (type.bytes == 8) read(eight);
  };
  if (type.kind == 'i') read_integers(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
  if (type.kind == 'u') read_integers(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
  if (type.kind == 'b') read(std::uint8_t{});
  if (type.kind == 'f' && type.bytes == 8) read(double{});
  if (type.kind == 'f' && type.bytes == 4) read(float{});
  if (type.kind == 'f' && type.bytes == 2) read(half{});
}

template <class Read>
void with_complex_type(npy_element type, Read read) {
  if (type.bytes == 8) read(std::complex<float>{});
  if (type.bytes == 16) read(std::complex<double>{});
}

template <class Source, class Value>
std::int64_t read_elements_as(npy_element type, const device& cpu, Source& file, std::int64_t start,
                              const arrangement& to, Value value, typename Value::result* result) {
  std::int64_t bad = 0;
  const auto read = [&]<class T>(T) {
    bad = read_elements<T>(cpu, file, start, type.big_endian, to, value, result);
  };
  if constexpr (complex_number<typename Value::result>)
    with_complex_type(type, read);
  else
    with_real_type(type, read);
  return bad;
}

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 64 * 1024;

struct npy_header {
  npy_element type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// The header is a Python dictionary of three known keys, in any order.
class header_parser {
 public:
  header_parser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  npy_header parse() {
    npy_header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !descr) {
        header.type = type();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        refuse("unexpected key " + quoted(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ < text_.size()) refuse("unexpected text behind the dictionary");
    if (!descr || !order || !shape) refuse("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    const bool there = at_ < text_.size() && text_[at_] == c;
    at_ += there;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) refuse(std::string("expected '") + c + "'");
  }
  std::string_view string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') refuse("expected a string");
    const std::size_t start = ++at_;
    at_ = text_.find(quote, start);
    if (at_ == text_.npos) refuse("a string does not end");
    return text_.substr(start, at_++ - start);
  }
  npy_element type() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') refuse("structured elements are not supported");
    const std::string_view name = string();
    if (name == "<c16" || name == ">c16") return {'c', 16, name[0] == '>'};
    if (name.size() == 3 && std::string_view("<>|").find(name[0]) != std::string_view::npos) {
      const npy_element found{name[1], name[2] - '0', name[0] == '>'};
      for (const std::string_view known :
           {"f2", "f4", "f8", "c8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
        if (name.substr(1) == known && (name[0] != '|' || found.bytes == 1)) return found;
      if (name == "|S3") return found;
      if (name.substr(1) == "U3") return {'U', 12, found.big_endian};
    }
    refuse("elements of type " + quoted(name) + " are not supported");
  }
  bool boolean() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse("expected True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      skip();
      const auto number = parse_integer(text_.data() + at_, text_.data() + text_.size());
      if (number.error != number_error::none || number.value < 0) refuse("expected a length");
      numbers.push_back(number.value);
      at_ = static_cast<std::size_t>(number.end - text_.data());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw parse_error(
        file_, 0, 0, ".npy header: " + what,
        "elements must be numbers of at most 8 bytes, complex ones of 8 or 16, in one or two dimensions");
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// Bytes that are there already, read as a file is.
class memory_source {
 public:
  memory_source(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  const std::string& path() const { return name_; }
  std::int64_t most_bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  bool random_access() const { return true; }
  std::size_t read_at(std::int64_t offset, char* to, std::size_t bytes) const {
    return bytes_.copy(to, bytes, std::min(bytes_.size(), static_cast<std::size_t>(offset)));
  }
  std::size_t read(char* to, std::size_t bytes) {
    const std::size_t some = read_at(at_, to, bytes);
    at_ += static_cast<std::int64_t>(some);
    return some;
  }

 private:
  const std::string& name_;
  std::string_view bytes_;
  std::int64_t at_ = 0;
};

// Takes the header off; returns the bytes that it had.
template <class Source>
npy_header take_header(Source& file, std::int64_t& bytes) {
  unsigned char start[12];
  const auto read = [&](unsigned char* to, std::size_t count) {
    if (file.read(reinterpret_cast<char*>(to), count) != count) truncated(file);
  };
  read(start, 8);
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    throw parse_error(
        file.path(), 0, 0,
        ".npy version " + std::to_string(version) + "." + std::to_string(start[7]) + " is not supported",
        "versions 1.0, 2.0 and 3.0 are");
  const std::size_t width = version == 1 ? 2 : 4;
  read(start + 8, width);
  std::size_t length = 0;
  for (std::size_t k = width; k-- > 0;) length = length * 256 + start[8 + k];
  if (length > longest_header) throw parse_error(file.path(), 0, 0, ".npy header: too long");
  std::string text(length, ' ');
  read(reinterpret_cast<unsigned char*>(text.data()), length);
  bytes = static_cast<std::int64_t>(8 + width + length);
  return header_parser(file.path(), text).parse();
}

// The product, or -1 where it exceeds int64.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &c) ? -1 : c;
}

// Elements of all, for which there are this many bytes.
template <class Source>
std::int64_t count_elements(const npy_header& header, const Source& file, std::int64_t bytes) {
  if (header.shape.empty() || header.shape.size() > 2)
    throw parse_error(file.path(), 0, 0, ".npy array of " + std::to_string(header.shape.size()) + " dimensions",
                      "one or two are supported");
  if (header.type.kind == 'S' || header.type.kind == 'U')
    throw parse_error(file.path(), 0, 0, ".npy header: elements of text are not supported");
  const std::int64_t count = product(header.shape.front(), header.shape.size() == 2 ? header.shape.back() : 1);
  const std::int64_t needed = product(count, header.type.bytes);
  if (needed < 0 || needed > bytes) truncated(file);
  return count;
}

// Of an element of `rows` rows, column after column; counted from 1 as in all messages.
std::string place_text(std::int64_t at, std::int64_t rows, std::int64_t cols) {
  if (cols == 1) return "element " + std::to_string(at + 1);
  return "entry (" + std::to_string(at % rows + 1) + ", " + std::to_string(at / rows + 1) + ")";
}

std::string text_of(double value) { return number_text(value); }
std::string text_of(std::complex<double> value) {
  return number_text(value.real()) + ", " + number_text(value.imag());
}

template <class Source>
void require_real(const Source& file, const npy_header& header) {
  if (header.type.kind == 'c')
    throw parse_error(file.path(), 0, 0,
                      "the array is complex, and what was asked for takes real numbers alone");
}

// By columns, each element as value() has it.
template <class Result, class Value>
Result read_columns(const device& cpu, input_file& file, const npy_header& header, std::int64_t header_bytes,
                    Value value) {
  const std::int64_t count = count_elements(header, file, file.most_bytes() - header_bytes);
  const std::int64_t rows = header.shape[0];
  const std::int64_t cols = header.shape.size() == 2 ? header.shape[1] : 1;

  Result result{rows, cols, array<typename Value::result>(cpu, count)};
  const arrangement to{rows, cols, !header.fortran_order && rows > 1 && cols > 1};
  const std::int64_t bad =
      read_elements_as(header.type, cpu, file, header_bytes, to, value, result.values.data());
  if (bad < count) {
    const std::int64_t at = to.place(bad);
    throw parse_error(file.path(), 0, 0, place_text(at, rows, cols) + " is " + text_of(result.values[at]),
                      "NaN and infinity are not allowed");
  }
  return result;
}

template <class Value>
vectors read_real_columns(const device& cpu, input_file& file, Value value) {
  std::int64_t header_bytes = 0;
  const npy_header header = take_header(file, header_bytes);
  require_real(file, header);
  return read_columns<vectors>(cpu, file, header, header_bytes, value);
}

}  // namespace

bool is_npy(std::string_view start) { return start.starts_with(magic); }

vectors read_npy(const device& cpu, input_file& file) {
  const ieee_environment here;
  return read_real_columns(cpu, file, nearest_double{});
}

vectors read_npy_radii(const device& cpu, input_file& file) {
  const ieee_environment here;
  return read_real_columns(cpu, file, distance_to_double{});
}

std::variant<vectors, complex_vectors> read_any_npy(const device& cpu, input_file& file) {
  const ieee_environment here;
  std::int64_t header_bytes = 0;
  const npy_header header = take_header(file, header_bytes);
  if (header.type.kind == 'c')
    return read_columns<complex_vectors>(cpu, file, header, header_bytes, nearest_complex{});
  return read_columns<vectors>(cpu, file, header, header_bytes, nearest_double{});
}

npy_bytes look_at_npy(const std::string& name, std::string_view bytes) {
  memory_source source(name, bytes);
  if (!is_npy(bytes)) throw parse_error(name, 0, 0, "this is no .npy array");
  std::int64_t header_bytes = 0;
  const npy_header header = take_header(source, header_bytes);
  std::int64_t size = header.type.bytes;
  for (const std::int64_t length : header.shape) size = product(size, length);
  const std::int64_t there = source.most_bytes() - header_bytes;
  if (size < 0 || size > there) truncated(source);
  if (size < there) throw parse_error(name, 0, 0, "bytes behind the end of the .npy array");
  return {name, header.type, header.fortran_order, header.shape,
          bytes.substr(static_cast<std::size_t>(header_bytes))};
}

array<double> npy_doubles(const device& cpu, const npy_bytes& from, read_as what) {
  if (from.type.kind == 'S' || from.type.kind == 'U')
    throw parse_error(from.name, 0, 0, ".npy header: elements of text are not supported");
  if (from.type.kind == 'c')
    throw parse_error(from.name, 0, 0, "sparse matrices of complex numbers are read from .mtx");
  memory_source source(from.name, from.elements);
  array<double> result(cpu, from.size());
  const arrangement to{1, from.size(), false};
  const std::int64_t bad =
      what == read_as::double_nearest
          ? read_elements_as(from.type, cpu, source, 0, to, nearest_double{}, result.data())
          : read_elements_as(from.type, cpu, source, 0, to, distance_to_double{}, result.data());
  if (bad < from.size())
    throw parse_error(from.name, 0, 0, "element " + std::to_string(bad) + " is " + number_text(result[bad]),
                      "NaN and infinity are not allowed");
  return result;
}

npy_array parse_npy(const std::string& name, std::string_view bytes) {
  const ieee_environment here;
  memory_source source(name, bytes);
  if (!is_npy(bytes)) throw parse_error(name, 0, 0, "this is no .npy array");
  std::int64_t header_bytes = 0;
  const npy_header header = take_header(source, header_bytes);
  require_real(source, header);
  const std::int64_t count = count_elements(header, source, source.most_bytes() - header_bytes);
  npy_array result{header.shape, std::vector<double>(static_cast<std::size_t>(count))};
  const std::int64_t rows = header.shape.front(), cols = header.shape.back();
  const arrangement to = header.fortran_order && header.shape.size() == 2 ? arrangement{cols, rows, true}
                                                                          : arrangement{1, count, false};
  read_elements_as(header.type, device::cpu(1), source, header_bytes, to, nearest_double{},
                   result.values.data());
  return result;
}

std::string npy_header_text(const char* type, std::span<const std::int64_t> shape, bool by_columns) {
  std::string header = std::string("{'descr': '") + type + "', 'fortran_order': ";
  header.append(by_columns && shape.size() > 1 ? "True" : "False");
  header.append(", 'shape': (");
  for (std::size_t k = 0; k < shape.size(); ++k)
    header.append(k > 0 ? " " : "")
        .append(number_text(shape[k]))
        .append(k == 0 || k + 1 < shape.size() ? "," : "");
  header.append("), }");
  constexpr std::size_t before = 10;  // magic, version, length
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  const char fixed[] = {1, 0, static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  return std::string(magic).append(fixed, sizeof fixed) + header;
}

namespace {

template <class T>
void write_array(atomic_file& file, const char* type, view<const T> values, std::span<const std::int64_t> shape,
                 bool by_columns) {
  file.write(npy_header_text(type, shape, by_columns));
  for (std::int64_t k = 0; k < values.size(); ++k) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &values[k], sizeof bytes);
    file.write({bytes, sizeof bytes});
  }
}

}  // namespace

void write_npy(atomic_file& file, view<const double> values, std::span<const std::int64_t> shape,
               bool by_columns) {
  write_array(file, "<f8", values, shape, by_columns);
}

void write_npy(atomic_file& file, view<const std::complex<double>> values, std::span<const std::int64_t> shape,
               bool by_columns) {
  write_array(file, "<c16", values, shape, by_columns);
}

}  // namespace vouch
