#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/int128.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/matrix_set.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/ordered_writer.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece_values = 1 << 16;  // that a thread prints at a time

// Texts of the numbers 0 to 9999, without and with leading zeros.
struct small_numbers {
  char text[10000][4];
  std::uint8_t length[10000];
  char four[10000][4];

  small_numbers() {
    for (int n = 0; n < 10000; ++n) {
      length[n] = static_cast<std::uint8_t>(print_number(print_buffer, n) - print_buffer);
      std::memcpy(text[n], print_buffer, 4);
      for (int k = 0, rest = n; k < 4; ++k, rest /= 10) four[n][3 - k] = static_cast<char>('0' + rest % 10);
    }
  }
  char print_buffer[number_width] = {};
};

char* print(char* to, std::int64_t value, const small_numbers& small) {
  if (value <= -100000000 || value >= 100000000) return print_number(to, value);
  *to = '-';
  to += value < 0;
  const auto magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
  const std::uint32_t high = magnitude / 10000;
  if (high == 0) {
    std::memcpy(to, small.text[magnitude], 4);
    return to + small.length[magnitude];
  }
  std::memcpy(to, small.text[high], 4);
  to += small.length[high];
  std::memcpy(to, small.four[magnitude % 10000], 4);
  return to + 4;
}

void check(const matrix_set_problem& p) {
  constexpr std::int64_t most_elements = 1 << 24;
  if (p.count <= 0 || p.rows <= 0 || p.cols <= 0)
    throw value_error("a set has at least one matrix, with rows and columns");
  if (p.rows > most_elements / p.cols) throw value_error("the matrices have more than 2^24 elements");
  if (p.least > p.most)
    throw value_error("the range from " + std::to_string(p.least) + " to " + std::to_string(p.most) +
                      " is empty");
}

// Offsets from the least value: several of them, for small ranges, from each word of 64 random bits.
class value_stream {
 public:
  // The low half of word * range is again a random word, if a coarser one: it serves until 24 bits are left
  // beyond the range of what is drawn, so that no value's probability errs by more than 2^-24, relative.
  explicit value_stream(const matrix_set_problem& p)
      : seed_(p.seed), range_(static_cast<std::uint64_t>(p.most) - static_cast<std::uint64_t>(p.least) + 1) {
    constexpr std::uint64_t most_drawn = std::uint64_t{1} << 40;
    for (std::uint64_t drawn = range_; range_ > 1 && drawn <= most_drawn / range_; drawn *= range_) ++draws_;
  }
  /// Values first, first + 1, ... of the stream.
  void fill(std::uint64_t first, std::span<std::uint64_t> values) const {
    std::uint64_t* to = values.data();
    std::uint64_t* const end = to + values.size();
    std::uint64_t skip = first % draws_;
    for (std::uint64_t word = first / draws_; to < end; ++word) {
      std::uint64_t bits = random_bits(seed_, word);
      for (std::uint64_t k = 0; k < skip; ++k) bits *= range_;
      const auto now = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(draws_ - skip), end - to);
      for (std::uint64_t* const last = to + now; to < last; ++to) {
        const uint128 wide = range_ == 0 ? uint128{bits} << 64 : uint128{bits} * range_;
        *to = static_cast<std::uint64_t>(wide >> 64);
        bits = static_cast<std::uint64_t>(wide);
      }
      skip = 0;
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t range_;      // how many different ones; 0 for 2^64
  std::uint64_t draws_ = 1;  // from one word
};

class set_printer {
 public:
  explicit set_printer(const matrix_set_problem& problem) : problem_(problem), stream_(problem) {}

  std::int64_t matrices_a_piece() const { return std::max<std::int64_t>(1, piece_values / elements()); }
  std::int64_t elements() const { return problem_.rows * problem_.cols; }

  /// Prints matrices; text has most_bytes() for each and number_width more, values room for all elements.
  char* matrices(char* to, std::span<std::uint64_t> values, std::int64_t first) const {
    stream_.fill(static_cast<std::uint64_t>(first * elements()), values);
    const bool digits = problem_.least >= 0 && problem_.most <= 9;
    for (const std::uint64_t *v = values.data(), *end = v + values.size(); v < end; v += elements()) {
      std::memcpy(to, "***\n", 4);
      to = digits ? print_digits(to + 4, v) : print_numbers(to + 4, v);
    }
    return to;
  }
  /// No matrix has more bytes.
  std::size_t most_bytes() const {
    char digits[number_width];
    const auto width =
        std::max(print_number(digits, problem_.least) - digits, print_number(digits, problem_.most) - digits);
    return static_cast<std::size_t>(4 + elements() * (width + 1));
  }

 private:
  char* print_digits(char* to, const std::uint64_t* offsets) const {
    const auto zero = static_cast<std::uint64_t>('0' + problem_.least);
    for (std::int64_t i = 0; i < problem_.rows; ++i, offsets += problem_.cols) {
      for (std::int64_t j = 0; j < problem_.cols; ++j) {
        const char both[] = {static_cast<char>(zero + offsets[j]), ' '};
        std::memcpy(to + 2 * j, both, sizeof both);
      }
      to += 2 * problem_.cols;
      to[-1] = '\n';
    }
    return to;
  }
  char* print_numbers(char* to, const std::uint64_t* offsets) const {
    for (std::int64_t i = 0; i < problem_.rows; ++i) {
      for (std::int64_t j = 0; j < problem_.cols; ++j) {
        const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(problem_.least) + *offsets++);
        to = print(to, value, small_);
        *to++ = ' ';
      }
      to[-1] = '\n';
    }
    return to;
  }

  matrix_set_problem problem_;
  value_stream stream_;
  small_numbers small_;
};

}  // namespace

void write_matrix_set(const device& cpu, const std::string& path, const matrix_set_problem& problem) {
  const ieee_environment here;
  check(problem);
  const set_printer printer(problem);
  const std::int64_t step = printer.matrices_a_piece();
  const std::int64_t pieces = ceil_div(problem.count, step);
  atomic_file file(path);
  file.write(std::to_string(problem.count) + "\n");
  write_in_order(file, pieces, cpu.threads(), [&] {
    return [&, text = std::vector<char>(), values = std::vector<std::uint64_t>()](std::int64_t piece) mutable {
      const std::int64_t first = piece * step, matrices = std::min(problem.count - first, step);
      // A printed number may touch a few bytes behind it.
      text.resize(printer.most_bytes() * static_cast<std::size_t>(matrices) + number_width);
      values.resize(static_cast<std::size_t>(matrices * printer.elements()));
      return std::string_view(text.data(), printer.matrices(text.data(), values, first));
    };
  });
  file.commit();
}

}  // namespace vouch
