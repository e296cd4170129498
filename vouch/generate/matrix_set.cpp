#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/int128.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/matrix_set.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece_values = 1 << 17;  // that a thread prints at a time

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

class set_printer {
 public:
  explicit set_printer(const matrix_set_problem& problem)
      : problem_(problem),
        values_(static_cast<std::uint64_t>(problem.most) - static_cast<std::uint64_t>(problem.least) + 1) {}

  std::int64_t matrices_a_piece() const { return std::max<std::int64_t>(1, piece_values / elements()); }
  std::int64_t elements() const { return problem_.rows * problem_.cols; }

  /// Appends matrices to text, which must have room.
  char* matrices(char* to, std::int64_t first, std::int64_t last) const {
    auto counter = static_cast<std::uint64_t>(first * elements());
    for (std::int64_t m = first; m < last; ++m) {
      std::memcpy(to, "***\n", 4);
      to += 4;
      for (std::int64_t i = 0; i < problem_.rows; ++i) {
        for (std::int64_t j = 0; j < problem_.cols; ++j) {
          to = print(to, value(counter++), small_);
          *to++ = ' ';
        }
        to[-1] = '\n';
      }
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
  // The high half of random times range; the whole of 64 bits where the range is all of them.
  std::int64_t value(std::uint64_t counter) const {
    const std::uint64_t bits = random_bits(problem_.seed, counter);
    if (values_ == 0) return static_cast<std::int64_t>(bits);
    const auto offset = static_cast<std::uint64_t>(uint128{bits} * values_ >> 64);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(problem_.least) + offset);
  }

  matrix_set_problem problem_;
  std::uint64_t values_;  // how many different ones; 0 for 2^64
  small_numbers small_;
};

}  // namespace

void write_matrix_set(const device& cpu, const std::string& path, const matrix_set_problem& problem) {
  check(problem);
  const set_printer printer(problem);
  const std::int64_t step = printer.matrices_a_piece();
  atomic_file file(path);
  file.write(std::to_string(problem.count) + "\n");
  std::exception_ptr failure;
#pragma omp parallel num_threads(cpu.threads())
  {
    std::vector<char> text;
#pragma omp for ordered schedule(dynamic, 1)
    for (std::int64_t first = 0; first < problem.count; first += step) {
      const std::int64_t last = std::min(problem.count, first + step);
      std::exception_ptr failed;
      char* end = nullptr;
      try {
        // A printed number may touch a few bytes behind it.
        text.resize(printer.most_bytes() * static_cast<std::size_t>(std::min(step, problem.count)) +
                    number_width);
        end = printer.matrices(text.data(), first, last);
      } catch (...) {
        failed = std::current_exception();
      }
#pragma omp ordered
      try {
        if (failure == nullptr) failure = failed;
        if (failure == nullptr) file.write({text.data(), static_cast<std::size_t>(end - text.data())});
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  file.commit();
}

}  // namespace vouch
