#include <gtest/gtest.h>

#include <cmath>
#include <fuzz/memory_file.hpp>
#include <numeric>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/reduce/choose_reduce_device.hpp>

#include "groups.hpp"
#include "host_chunk.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

const std::vector<reduction> all(reductions().begin(), reductions().end());

reduce_result reduce(const std::vector<std::string>& texts, const reduce_options& options, int threads = 2) {
  const testing::temporary_folder folder;
  std::vector<std::string> files;
  for (const std::string& text : texts) files.push_back(folder.file(std::to_string(files.size()), text));
  return reduce_matrix_sets(device::cpu(threads), files, options);
}

std::vector<double> numbers(const reduced& r) {
  if (!r.integral) return r.reals;
  return {r.integers.begin(), r.integers.end()};
}

void expect_results(const reduce_result& r, const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(r.results.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(numbers(r.results[k]), expected[k]) << name(r.results[k].operation);
}

TEST(reduce, all_of_integers_by_hand) {
  const reduce_result r = reduce({"4\n***\n1 -2\n***\n3 -2\n***\n5 6\n***\n-1 2\n"}, {.operations = all});
  EXPECT_TRUE(r.integers);
  expect_results(r, {{4},
                     {-1, -2},
                     {5, 6},
                     {8, 4},
                     {2, 1},
                     {6, 8},
                     {5, 11},
                     {std::sqrt(5.0), std::sqrt(11.0)},
                     {3, 0},
                     {2, 2},
                     {-15, 48},
                     {10, 12},
                     {6, std::sqrt(48.0)},
                     {5, 6}});
}

TEST(reduce, all_of_reals_by_hand) {
  const reduce_result r = reduce({"2\n***\n1.5 -0.0\n***\n-2.5e0 -0.0\n"}, {.operations = all});
  EXPECT_FALSE(r.integers);
  expect_results(r, {{2},
                     {-2.5, 0},
                     {1.5, 0},
                     {-1, 0},
                     {-0.5, 0},
                     {4, 0},
                     {4, 0},
                     {2, 0},
                     {1, 0},
                     {0, 0},
                     {-3.75, 0},
                     {4, 0},
                     {std::sqrt(8.5), 0},
                     {2.5, 0}});
  EXPECT_FALSE(std::signbit(r.results[1].reals[1]));
}

TEST(reduce, samples_divide_by_one_less) {
  const std::vector<reduction> spread{reduction::variance, reduction::stddev};
  expect_results(reduce({"3\n***\n1\n***\n2\n***\n3\n"}, {.operations = spread, .sample = true}), {{1}, {1}});
  EXPECT_THROW(reduce({"1\n***\n1\n"}, {.operations = spread, .sample = true}), value_error);
}

TEST(reduce, integers_at_the_edge) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  const reduce_result r =
      reduce({"3\n***\n" + most + "\n***\n" + least + "\n***\n" + most + "\n"},
             {.operations = {reduction::sum, reduction::range, reduction::norm1, reduction::argmax}});
  const auto big = static_cast<int128>(std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(r.results[0].integers[0] == big - 1);
  EXPECT_TRUE(r.results[1].integers[0] == 2 * big + 1);
  EXPECT_TRUE(r.results[2].integers[0] == 3 * big + 1);
  EXPECT_TRUE(r.results[3].integers[0] == 0);
}

// A double and an integer beyond 2^53 are compared exactly.
TEST(reduce, integers_among_reals_stay_exact) {
  const reduce_result r = reduce({"3\n***\n9007199254740992.0\n***\n9007199254740993\n***\n0.5\n"},
                                 {.operations = {reduction::argmax, reduction::max, reduction::sum}});
  expect_results(r, {{1}, {9007199254740992.0}, {18014398509481984.0}});
}

TEST(reduce, products) {
  const auto product = [](const std::string& text) {
    return reduce({text}, {.operations = {reduction::product}});
  };
  EXPECT_TRUE(product("3\n***\n-2147483648\n***\n2147483648\n***\n2\n").results[0].integers[0] ==
              std::numeric_limits<std::int64_t>::min());
  EXPECT_THROW(product("3\n***\n2147483648\n***\n2147483648\n***\n2\n"), value_error);
  EXPECT_TRUE(
      product("3\n***\n9223372036854775807\n***\n9223372036854775807\n***\n0\n").results[0].integers[0] == 0);
  EXPECT_DOUBLE_EQ(product("4\n***\n1e200\n***\n1e200\n***\n1e-200\n***\n-1e-200\n").results[0].reals[0], -1);
  EXPECT_THROW(product("2\n***\n1e200\n***\n1e200\n"), value_error);
}

TEST(reduce, sums_of_reals_round_once) {
  const reduce_result r = reduce({"4\n***\n1e300\n***\n1.0\n***\n-1e300\n***\n1e-300\n"},
                                 {.operations = {reduction::sum, reduction::mean}});
  expect_results(r, {{1}, {0.25}});
  EXPECT_THROW(reduce({"2\n***\n1e308\n***\n1e308\n"}, {.operations = {reduction::sum}}), value_error);
}

TEST(reduce, several_files_and_gzip) {
  const std::vector<std::string> texts{"1\n***\n1 2\n", testing::gzipped("2\n***\n3 -4\n***\n5 6\n"),
                                       "1\r\n\r\n***\r\n0 9"};
  const reduce_result r = reduce(texts, {.operations = {reduction::count, reduction::argmin, reduction::sum}});
  expect_results(r, {{4}, {3, 1}, {9, 13}});
  EXPECT_THROW(reduce({"1\n***\n1 2\n", "1\n***\n1 2 3\n"}, {}), parse_error);
}

// Few decimals are doubles: the bounds hold what is written, not what was read for it.
TEST(reduce, enclosures_hold_the_decimals) {
  __extension__ typedef __float128 quad;
  const reduce_options options{.operations = {reduction::sum, reduction::mean, reduction::min},
                               .rigorous = true};
  std::string text = "1000\n";
  for (int m = 0; m < 1000; ++m) text += m % 2 == 0 ? "***\n0.1 -0.3\n" : "***\n1e-3 0.7\n";
  const reduce_result r = reduce({text}, options);
  const quad sums[] = {50.5, 200}, means[] = {quad{50.5} / 1000, quad{1} / 5};
  EXPECT_TRUE(r.results[2].enclosures.empty());
  for (std::size_t e = 0; e < 2; ++e) {
    const interval<double> sum = r.results[0].enclosures[e], mean = r.results[1].enclosures[e];
    EXPECT_TRUE(sum.lo() <= sums[e] && sums[e] <= sum.hi()) << sum.lo() << " " << sum.hi();
    EXPECT_TRUE(mean.lo() <= means[e] && means[e] <= mean.hi()) << mean.lo() << " " << mean.hi();
    EXPECT_LE(sum.hi() - sum.lo(), 1e-12);
  }
  const reduce_result thirds = reduce({"3\n***\n1\n***\n1\n***\n-4\n"}, options);
  EXPECT_EQ(thirds.results[0].enclosures[0].lo(), -2);
  EXPECT_EQ(thirds.results[0].enclosures[0].hi(), -2);
  const interval<double> mean = thirds.results[1].enclosures[0];
  EXPECT_TRUE(quad{3} * mean.lo() < -2 && quad{3} * mean.hi() > -2);
  EXPECT_EQ(std::nextafter(mean.lo(), 0), mean.hi());
}

std::string random_reals(std::int64_t count, bool integers) {
  std::string text = std::to_string(count) + "\n";
  for (std::int64_t m = 0; m < count; ++m) {
    text += "***\n";
    for (std::uint64_t e = 0; e < 4; ++e) {
      const auto k = static_cast<std::uint64_t>(m) * 4 + e;
      text += integers
                  ? std::to_string(static_cast<std::int64_t>(random_bits(9, k)) >> (random_bits(8, k) % 64))
                  : std::to_string(0.3 + random_unit(9, k)) + "e" +
                        std::to_string(static_cast<int>(random_bits(7, k) % 9) - 4);
      text += e % 2 == 0 ? ' ' : '\n';
    }
  }
  return text;
}

TEST(reduce, same_bits_for_any_threads_and_units) {
  for (const bool integers : {false, true}) {
    std::vector<reduction> operations = all;
    if (integers) std::erase(operations, reduction::product);
    const std::string text = random_reals(3000, integers);
    const reduce_result one = reduce({text}, {.operations = operations}, 1);
    for (const std::int64_t unit : {500, 4096, 1 << 20}) {
      const reduce_result other = reduce({text}, {.operations = operations, .unit_bytes = unit}, 3);
      const reduce_result again = reduce(
          {testing::gzipped(text)},
          {.operations = operations, .instructions = parser_instructions::portable, .unit_bytes = unit}, 1);
      for (std::size_t k = 0; k < operations.size(); ++k) {
        EXPECT_TRUE(one.results[k].integers == other.results[k].integers) << name(operations[k]);
        EXPECT_TRUE(one.results[k].integers == again.results[k].integers) << name(operations[k]);
        EXPECT_EQ(one.results[k].reals, other.results[k].reals) << name(operations[k]);
        EXPECT_EQ(one.results[k].reals, again.results[k].reals) << name(operations[k]);
      }
    }
  }
}

// One-digit files are long enough here for the byte path, whose sums add nines to their limit.
TEST(reduce, long_runs_of_nines) {
  for (const char* const row : {"9 9 0\n", "9\t9\t0\n", "9 9 0 \r\n", "-9 9 0\n"}) {
    std::string text = "60001\n";
    for (int m = 0; m < 60000; ++m) text += std::string("***\n") + row + row;
    text += "***\n1 9 0\n0 0 5\n";
    const double sign = row[0] == '-' ? -1 : 1;
    expect_results(reduce({text}, {.operations = {reduction::sum, reduction::min, reduction::norm1}}),
                   {{sign * 540000 + 1, 540009, 0, sign * 540000, 540000, 5},
                    {sign < 0 ? -9.0 : 1.0, 9, 0, sign < 0 ? -9.0 : 0.0, 0, 0},
                    {540001, 540009, 0, 540000, 540000, 5}});
  }
}

// What a GPU takes, it takes: the strips of the text meet in the right places.
TEST(reduce, chunks_are_regular) {
  for (const bool decimals : {false, true}) {
    std::string text = "40000\n";
    for (std::uint64_t m = 0; m < 40000; ++m) {
      text += m % 5 == 0 ? "\n*** \r\n" : "***\n";
      for (std::uint64_t e = 0; e < 6; ++e) {
        const std::uint64_t k = 6 * m + e;
        text += std::to_string(static_cast<std::int64_t>(random_bits(1, k) % 199999) - 99999);
        if (decimals && k > 60000) {
          text += '.';
          text += std::to_string(random_bits(2, k) % 100000);
        }
        text += e % 3 == 2 ? " \n" : "\t ";
      }
    }
    const testing::temporary_folder folder;
    const std::string files[] = {folder.file("s", text)};
    std::vector<reduction> operations{reduction::min, reduction::norm_inf};
    if (!decimals) operations.insert(operations.end(), {reduction::sum, reduction::norm1});
    const reduce_options options{.operations = operations, .unit_bytes = 1000};
    const reduce_result expected = reduce_matrix_sets(device::cpu(1), files, options);
    const auto one = std::make_shared<testing::host_chunk>(), two = std::make_shared<testing::host_chunk>();
    std::vector<matrix_set_reducer> reducers{{2, {one, two}}};
    for (const device& gpu : testing::gpus()) {
      reducers.emplace_back(gpu, 3);
      reducers.emplace_back(device_group({gpu, gpu}), 3);
    }
    if (cuda_devices().size() > 1) reducers.emplace_back(device_group::cuda({1, 0}), 4);
    // One thread feeds, the others parse themselves: who takes how much is chance.
    reducers.push_back({4, {std::make_shared<testing::host_chunk>()}});
    for (matrix_set_reducer& reduce : reducers) {
      const reduce_result r = reduce(files, options);
      if (&reduce != &reducers.back()) {
        EXPECT_STREQ(r.method, "cuda");
      }
      EXPECT_EQ(r.count, 40000);
      EXPECT_EQ(r.integers, !decimals);
      for (std::size_t k = 0; k < operations.size(); ++k) {
        EXPECT_TRUE(r.results[k].integers == expected.results[k].integers);
        EXPECT_EQ(r.results[k].reals, expected.results[k].reals);
      }
    }
    // Up to two chunks met the first point before anybody knew of decimals.
    EXPECT_GE(one->regular + two->regular + (decimals ? 2 : 0), one->started + two->started);
    EXPECT_GT(one->started + two->started, 50);
  }
}

TEST(reduce, large_matrices) {
  std::string text = "3\n";
  for (int m = 0; m < 3; ++m) {
    text += "***\n";
    for (int i = 0; i < 90; ++i)
      for (int j = 0; j < 70; ++j) text += std::to_string((m - 1) * (i * 70 + j)) + (j == 69 ? "\n" : " ");
  }
  const reduce_result r =
      reduce({text}, {.operations = {reduction::max, reduction::argmin}, .unit_bytes = 1000});
  EXPECT_EQ(r.rows, 90);
  EXPECT_EQ(r.cols, 70);
  std::vector<double> expected(6300);
  std::iota(expected.begin(), expected.end(), 0.0);
  EXPECT_EQ(numbers(r.results[0]), expected);
  EXPECT_TRUE(r.results[1].integers[6299] == 0);
}

TEST(reduce, the_device_is_chosen_by_a_model) {
  const testing::temporary_folder folder;
  const std::string one = folder.file("one", "1\n***\n1 2\n"),
                    packed = folder.file("p", testing::gzipped("1\n***\n1\n"));
  const auto why = [](const std::string& file, const reduce_options& options) {
    const std::string files[] = {file};
    const reduce_device_choice choice = choose_reduce_device(files, options, 2);
    EXPECT_FALSE(choice.dev.is_cuda());
    return choice.why;
  };
  EXPECT_NE(why(one, {.operations = {reduction::variance}}), why(one, {}));
  EXPECT_NE(why(packed, {}), why(one, {}));
  // More threads, sooner done; a terabyte on one core is the GPU's.
  const std::int64_t terabyte = 1000000000000;
  const reduce_model few = reduce_seconds(terabyte, set_kind::decimals, 1);
  const reduce_model many = reduce_seconds(terabyte, set_kind::decimals, 16);
  EXPECT_LT(many.cpu, few.cpu);
  EXPECT_LT(few.gpu, few.cpu);
  EXPECT_LT(reduce_seconds(terabyte, set_kind::digits, 16).cpu, many.cpu);
}

TEST(reduce, refuses_empty_requests) {
  EXPECT_THROW(reduce({"1\n***\n1\n"}, {.operations = {}}), value_error);
  EXPECT_THROW(reduce({}, {}), value_error);
  const std::string missing[] = {"/nonexistent/set.txt"};
  EXPECT_THROW(reduce_matrix_sets(device::cpu(1), missing, {}), file_error);
}

}  // namespace
}  // namespace vouch
