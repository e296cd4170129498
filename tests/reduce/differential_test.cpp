// Generated and broken files: every path of the reader against a slow and obvious one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fuzz/memory_file.hpp>

#include <vouch/core/error.hpp>

#include "devices.hpp"
#include "dice.hpp"
#include "host_chunk.hpp"
#include "slow_set.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

using testing::dice;
using testing::quad;
using testing::slow_set;

std::string number(dice& d, int kind) {
  std::string text = d.one_in(3) ? "-" : d.one_in(40) ? "+" : "";
  std::uint64_t most = 10;
  switch (kind) {
    case 0:
      return std::to_string(d.below(10));
    case 1:
      return text += std::to_string(d.below(10));
    case 2:
      for (std::uint64_t k = d.below(5); k > 0; --k) most *= 10;
      return text += std::to_string(d.below(most));
    case 3:
      for (std::uint64_t k = d.below(18); k > 0; --k) most *= 10;
      return text += std::to_string(d.below(most));
    default: {
      if (!d.one_in(10)) text += std::to_string(d.below(1000));
      const std::uint64_t decimals = d.one_in(4) ? d.below(19) : d.below(6);
      text += '.';
      for (std::uint64_t k = 0; k < decimals; ++k) text += static_cast<char>('0' + d.below(10));
      if (text.find_first_of("0123456789") == std::string::npos) text += '0';
      if (d.one_in(40)) text += d.one_in(2) ? "e-3" : "E+02";
      return text;
    }
  }
}

// A sound file, with the layout that its seed asks for.
std::string make_set(dice& d) {
  const std::uint64_t rows = 1 + d.below(4), cols = d.one_in(20) ? 1 + d.below(70) : 1 + d.below(4);
  const std::uint64_t count = 1 + d.below(cols > 4 ? 6 : 40);
  const int kind = static_cast<int>(d.below(5));
  const bool loose = d.one_in(3), windows = d.one_in(4), mixed = d.one_in(6);
  const std::string feed = windows ? "\r\n" : "\n";
  std::string text = std::to_string(count) + feed;
  for (std::uint64_t m = 0; m < count; ++m) {
    if (loose && d.one_in(3)) text += feed;
    text += std::string(loose && d.one_in(5) ? " ***\t" : "***") + feed;
    for (std::uint64_t i = 0; i < rows; ++i) {
      if (loose && d.one_in(9)) text += " " + feed;
      for (std::uint64_t j = 0; j < cols; ++j) {
        if (j > 0) text += loose && d.one_in(5) ? "  \t" : " ";
        text += number(d, mixed && d.one_in(9) ? static_cast<int>(d.below(5)) : kind);
      }
      text += (loose && d.one_in(4) ? " " : "") + feed;
    }
  }
  if (d.one_in(4)) text += "***" + feed;
  if (d.one_in(6)) text.pop_back();
  return text;
}

void mutate(std::string& text, dice& d) {
  static const std::string bytes = "0123456789-+*. \t\r\n,exE\0\xff";
  for (std::uint64_t k = 1 + d.below(2); k > 0 && !text.empty(); --k) {
    const std::size_t at = d.below(text.size());
    const char byte = bytes[d.below(bytes.size())];
    switch (d.below(6)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text = text.substr(0, text.find('\n', at) + 1) + text.substr(at);
        break;
      default:
        text.erase(at, text.find('\n', at) - at + 1);
    }
  }
}

const std::vector<reduction> extremes{reduction::min, reduction::max};
const std::vector<reduction> everything{reduction::min,      reduction::max,    reduction::sum,
                                        reduction::mean,     reduction::argmin, reduction::argmax,
                                        reduction::variance, reduction::norm1};

quad result_of(const reduced& r, std::size_t e) {
  return r.integral ? static_cast<quad>(r.integers[e]) : static_cast<quad>(r.reals[e]);
}

// A result that is an integer where all are, and rounded once to double elsewhere.
quad as_result(quad exact, bool integers) {
  return integers ? exact : static_cast<quad>(static_cast<double>(exact));
}

void expect_values(const reduce_result& r, const slow_set& slow) {
  ASSERT_EQ(r.count, static_cast<std::int64_t>(slow.matrices.size()));
  ASSERT_EQ(r.rows, slow.rows);
  ASSERT_EQ(r.cols, slow.cols);
  bool integers = true;
  for (const auto& m : slow.matrices)
    for (const auto& v : m) integers &= !v.real;
  ASSERT_EQ(r.integers, integers);
  const auto n = static_cast<quad>(slow.matrices.size());
  for (std::size_t e = 0; e < slow.matrices[0].size(); ++e) {
    quad least = slow.matrices[0][e].value, most = least, sum = 0, magnitudes = 0, squares = 0;
    std::size_t argmin = 0, argmax = 0;
    for (std::size_t m = 0; m < slow.matrices.size(); ++m) {
      const quad v = slow.matrices[m][e].value;
      if (v < least) least = v, argmin = m;
      if (v > most) most = v, argmax = m;
      sum += v;
      magnitudes += v < 0 ? -v : v;
      squares += v * v;
    }
    const quad mean = sum / n, variance = squares / n - mean * mean;
    for (const reduced& got : r.results) {
      if (!got.failure.empty()) continue;
      const quad value = result_of(got, e);
      switch (got.operation) {
        case reduction::min:
          EXPECT_TRUE(value == as_result(least, integers));
          break;
        case reduction::max:
          EXPECT_TRUE(value == as_result(most, integers));
          break;
        case reduction::sum:
          EXPECT_TRUE(value == as_result(sum, integers));
          break;
        case reduction::mean:
          EXPECT_TRUE(value == as_result(mean, false));
          break;
        case reduction::argmin:
          EXPECT_EQ(got.integers[e], static_cast<int128>(argmin));
          break;
        case reduction::argmax:
          EXPECT_EQ(got.integers[e], static_cast<int128>(argmax));
          break;
        case reduction::norm1:
          EXPECT_TRUE(value == as_result(magnitudes, integers));
          break;
        default: {
          const quad error = value - variance, scale = squares / n;
          EXPECT_LE(std::abs(static_cast<double>(error)),
                    2e-16 * static_cast<double>(variance) + 1e-30 * static_cast<double>(scale));
        }
      }
    }
  }
}

bool has_huge(const slow_set& slow) {
  const quad huge = 1e150;
  for (const auto& m : slow.matrices)
    for (const auto& v : m)
      if (v.value > huge || v.value < -huge) return true;
  return false;
}

void expect_like(const std::string& path, const std::string& text, const slow_set& slow,
                 const reduce_options& options, matrix_set_reducer reduce, int threads) {
  SCOPED_TRACE(::testing::Message() << name(options.instructions) << ", " << threads << " threads, units of "
                                    << options.unit_bytes << ":\n"
                                    << text);
  try {
    const std::string files[] = {path};
    const reduce_result r = reduce(files, options);
    ASSERT_EQ(slow.bad_line, 0) << "accepted";
    expect_values(r, slow);
    for (const reduced& got : r.results)
      EXPECT_TRUE(got.failure.empty() || has_huge(slow)) << got.failure;  // the variance overflows
  } catch (const parse_error& e) {
    EXPECT_EQ(e.line(), slow.bad_line) << e.what();
    EXPECT_GT(e.column(), 0) << e.what();
  } catch (const value_error& e) {
    EXPECT_TRUE(has_huge(slow)) << e.what();  // the variance overflows
  }
}

void expect_like(const std::string& path, const std::string& text, const slow_set& slow,
                 const reduce_options& options, int threads) {
  expect_like(path, text, slow, options, matrix_set_reducer(device::cpu(threads)), threads);
}

// The GPU's way, played by the host, with and without sums.
void compare_chunks(const std::string& path, const std::string& text, const slow_set& slow, dice& d) {
  static const std::vector<std::shared_ptr<text_chunk>> ring{std::make_shared<testing::host_chunk>(),
                                                             std::make_shared<testing::host_chunk>()};
  std::vector<reduction> operations = extremes;
  if (d.one_in(2)) operations.insert(operations.end(), {reduction::sum, reduction::mean, reduction::norm1});
  expect_like(path, text, slow, {.operations = operations}, {1, ring}, 1);
  expect_like(path, text, slow,
              {.operations = operations, .unit_bytes = static_cast<std::int64_t>(16 + d.below(100))}, {1, ring},
              1);
}

// On a GPU, where there is one; opened once.
void compare_gpu(const std::string& path, const std::string& text, const slow_set& slow, dice& d) {
  static std::vector<matrix_set_reducer> gpus = [] {
    std::vector<matrix_set_reducer> all;
    for (const device& gpu : testing::gpus()) all.emplace_back(gpu, 2);
    return all;
  }();
  for (const matrix_set_reducer& gpu : gpus) {
    expect_like(path, text, slow, {.operations = extremes}, gpu, 2);
    expect_like(path, text, slow, {.operations = {reduction::sum, reduction::norm1}, .unit_bytes = 100}, gpu,
                2);
    // Parts of it are the CPU's, which takes over.
    if (d.one_in(4)) expect_like(path, text, slow, {.operations = everything}, gpu, 2);
  }
}

void compare_all_paths(const std::string& text, dice& d) {
  const slow_set slow = testing::read_slowly(text);
  const fuzz::memory_file file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const int threads = d.one_in(20) ? 3 : 1;
  expect_like(file.path(), text, slow, {.operations = extremes}, threads);
  expect_like(file.path(), text, slow,
              {.operations = everything, .unit_bytes = static_cast<std::int64_t>(16 + d.below(600))}, 1);
  expect_like(
      file.path(), text, slow,
      {.operations = d.one_in(2) ? everything : extremes, .instructions = parser_instructions::portable}, 1);
  compare_chunks(file.path(), text, slow, d);
  compare_gpu(file.path(), text, slow, d);
  if (!d.one_in(4)) return;
  fuzz::memory_pipe pipe(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  expect_like(pipe.path(), text, slow,
              {.operations = extremes, .unit_bytes = static_cast<std::int64_t>(16 + d.below(600))}, 1);
}

TEST(reduce_differential, sound_files) {
  for (std::uint64_t seed = 0; seed < 4000 && !::testing::Test::HasFailure(); ++seed) {
    dice d(seed);
    const std::string text = make_set(d);
    ASSERT_EQ(testing::read_slowly(text).bad_line, 0) << text;
    compare_all_paths(text, d);
  }
}

TEST(reduce_differential, broken_files) {
  for (std::uint64_t seed = 100000; seed < 108000 && !::testing::Test::HasFailure(); ++seed) {
    dice d(seed);
    std::string text = make_set(d);
    mutate(text, d);
    compare_all_paths(text, d);
  }
}

// Each byte of one layout replaced by each of a few: breaks at every place of a vector.
TEST(reduce_differential, every_place) {
  std::string text = "40\n";
  for (int m = 0; m < 40; ++m) text += m % 3 == 0 ? "***\n1 2 3\n4 5 6\n" : "***\n7 8 9\n0 1 -2\n";
  for (std::size_t at = 3; at < text.size() && !::testing::Test::HasFailure(); ++at)
    for (const char byte : {'5', '-', ' ', '\n', '*', '.', 'x', '\r'}) {
      dice d(at);
      std::string broken = text;
      broken[at] = byte;
      compare_all_paths(broken, d);
    }
}

}  // namespace
}  // namespace vouch
