// The whole way with a model made here: bits for any number of threads, prints that cannot be classified, scores.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/score.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/fingerprint/verify.hpp>

#include "random_model.hpp"
#include "temporary.hpp"

namespace vouch::fingerprint {
namespace {

std::vector<grey_image> pages() {
  std::vector<grey_image> all;
  for (const char pattern : {'A', 'W', 'T'}) all.push_back(synthetic_print(device::cpu(2), {pattern, 3}));
  all.push_back({832, 768, std::vector<std::uint8_t>(832 * 768, 9)});
  all.push_back({10, 10, std::vector<std::uint8_t>(100)});
  return all;
}

TEST(classify, same_bits_for_any_number_of_threads) {
  const model m = random_model(20, 10, 100, 0.1);
  const std::vector<grey_image> all = pages();
  for (const network_kind kind : {network_kind::perceptron, network_kind::probabilistic}) {
    std::vector<classification> once(all.size()), again(all.size());
    std::vector<float> fields(all.size() * orientation_size), fields_again(fields.size());
    classify(device::cpu(1), m, kind, all, once, fields);
    classify(device::cpu(3), m, kind, all, again, fields_again);
    EXPECT_EQ(std::memcmp(fields.data(), fields_again.data(), fields.size() * sizeof(float)), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(once[i].pattern, again[i].pattern);
      EXPECT_EQ(std::memcmp(&once[i].outputs, &again[i].outputs, sizeof(class_outputs)), 0);
      EXPECT_EQ(once[i].core.x, again[i].core.x);
    }
    EXPECT_TRUE(once[1].whorl);
    EXPECT_FALSE(once[0].whorl);
    EXPECT_EQ(letter(once[1].pattern), 'W');
    for (const std::size_t none : {3U, 4U}) {
      EXPECT_EQ(once[none].pattern, -1);
      EXPECT_FALSE(once[none].reason.empty());
      for (std::size_t k = 0; k < orientation_size; ++k) EXPECT_EQ(fields[none * orientation_size + k], 0);
    }
  }
  std::vector<classification> results(1);
  EXPECT_THROW(classify(device::cpu(1), model{}, network_kind::perceptron, std::span(all).first(1), results),
               value_error);
}

TEST(classify, files_as_their_pages) {
  const model m = random_model(20, 10, 100, 0.1);
  const testing::temporary_folder folder;
  std::vector<grey_image> all = pages();
  std::vector<std::string> files{folder.path("a.png"), folder.path("w.pgm"), folder.path("none.pgm")};
  write_grey_image(files[0], all[0]);
  write_grey_image(files[1], all[1]);
  std::vector<classification> expected(2), found(3);
  std::vector<float> fields(2 * orientation_size), fields_found(3 * orientation_size, 7.0F);
  classify(device::cpu(1), m, network_kind::perceptron, std::span(all).first(2), expected, fields);
  found[0].reason = "of an earlier run";
  classify_files(device::cpu(2), m, network_kind::perceptron, files, {}, found, fields_found);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].outputs, expected[i].outputs);
    EXPECT_EQ(found[i].reason, "");
    EXPECT_FALSE(found[i].unread);
  }
  EXPECT_TRUE(std::equal(fields.begin(), fields.end(), fields_found.begin()));
  EXPECT_TRUE(found[2].unread);
  EXPECT_EQ(found[2].pattern, -1);
  EXPECT_NE(found[2].reason.find("none.pgm"), std::string::npos);
  EXPECT_EQ(fields_found[2 * orientation_size], 0);
}

TEST(for_each_print, throws_what_was_thrown_for_the_first_print) {
  std::vector<int> done(50);
  try {
    for_each_print(device::cpu(3), done.size(), [&](std::size_t i) {
      if (i % 10 == 7) throw value_error("print " + std::to_string(i));
      done[i] = 1;
    });
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "print 7");
  }
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(done[i], 1);
}

TEST(classify, nothing_of_a_blank_print_is_no_number) {
  grey_image page{832, 768, std::vector<std::uint8_t>(832 * 768, 250)};
  // A dark rectangle without ridges: a print by its outline.
  for (int y = 150; y < 650; ++y)
    for (int x = 200; x < 640; ++x) page.pixels[static_cast<std::size_t>(y * 832 + x)] = 90;
  std::vector<classification> results(1);
  std::vector<float> field(orientation_size);
  for (const network_kind kind : {network_kind::perceptron, network_kind::probabilistic}) {
    classify(device::cpu(1), random_model(20, 10, 100, 0.1), kind, {&page, 1}, results, field);
    EXPECT_TRUE(std::isfinite(results[0].confidence));
    for (const float x : field) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(networks, against_sums_in_double) {
  const model m = random_model(20, 10, 100, 0.1);
  const feature_matrix features = random_matrix(4, 20, 11, 3);
  std::vector<class_outputs> outputs(4);
  evaluate(device::cpu(1), *m.perceptron, features.values, outputs);
  const auto active = [](double s) { return (1 + std::sin(s / 2)) / 2; };
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = static_cast<double>(m.perceptron->output_bias[c]);
      for (std::size_t h = 0; h < 10; ++h) {
        double inner = static_cast<double>(m.perceptron->hidden_bias[h]);
        for (std::size_t f = 0; f < 20; ++f)
          inner += static_cast<double>(m.perceptron->hidden.values[h * 20 + f]) *
                   static_cast<double>(features.values[i * 20 + f]);
        sum += static_cast<double>(m.perceptron->output.values[c * 10 + h]) * active(inner);
      }
      EXPECT_NEAR(outputs[i][c], active(sum), 1e-5);
    }
}

// 40 is so far from all prototypes that every Gaussian underflows.
TEST(networks, shares_far_from_all_prototypes) {
  const model m = random_model(20, 10, 100, 0.1);
  for (const float scale : {0.5F, 40.0F}) {
    const std::vector<float> features(20, scale);
    std::vector<class_outputs> outputs(1);
    evaluate(device::cpu(1), *m.probabilistic, features, outputs);
    std::vector<double> exponents;
    double most = -1e300;
    for (std::size_t p = 0; p < 100; ++p) {
      double distance = 0;
      for (std::size_t f = 0; f < 20; ++f)
        distance += std::pow(
            static_cast<double>(m.probabilistic->prototypes.values[p * 20 + f]) - static_cast<double>(scale),
            2);
      exponents.push_back(-1.5 * distance);
      most = std::max(most, exponents.back());
    }
    std::array<double, classes> shares{};
    double total = 0;
    for (std::size_t p = 0; p < 100; ++p) {
      shares[p % classes] += std::exp(exponents[p] - most);
      total += std::exp(exponents[p] - most);
    }
    for (std::size_t c = 0; c < classes; ++c)
      EXPECT_NEAR(outputs[0][c], shares[c] / total, scale > 1 ? 2e-2 : 1e-4);
  }
}

// Weights that are powers of two on averages that are small integers: the outputs are known exactly.
TEST(prove, a_gap_is_proved_and_a_tie_is_not) {
  if (!built_with_mpfr) GTEST_SKIP() << "no MPFR";
  mlp network{{1, orientation_size, std::vector<float>(orientation_size)},
              {1, 1, {1}},
              {0},
              {classes, 1, std::vector<float>(classes, 1)},
              std::vector<float>(classes, 0)};
  network.transform.values[0] = 1;
  std::vector<float> averages(orientation_size);
  averages[0] = 0.5F;
  const std::vector<int> second{1};
  std::vector<std::uint8_t> proved(1, 2);
  prove(device::cpu(1), network, averages, second, proved);
  EXPECT_EQ(proved[0], 0);  // all outputs are equal
  network.output_bias[1] = 0.25F;
  prove(device::cpu(1), network, averages, second, proved);
  EXPECT_EQ(proved[0], 1);
  network.output_bias[1] = 1e-17F;  // below the last digit of the sums
  prove(device::cpu(1), network, averages, second, proved);
  EXPECT_EQ(proved[0], 0);
  const pnn two{network.transform, {2, 1, {0, 1}}, {0, 3}, 1.5F};
  averages[0] = 0.5F;
  std::vector<int> pattern{3};
  prove(device::cpu(1), two, averages, pattern, proved);
  EXPECT_EQ(proved[0], 0);
  averages[0] = 0.5001F;
  prove(device::cpu(1), two, averages, pattern, proved);
  EXPECT_EQ(proved[0], 1);
  pattern[0] = 0;
  prove(device::cpu(1), two, averages, pattern, proved);
  EXPECT_EQ(proved[0], 0);
  pattern[0] = 6;
  EXPECT_THROW(prove(device::cpu(1), two, averages, pattern, proved), value_error);
  // What does not fit together is refused, as by evaluate().
  pattern[0] = 0;
  network.hidden_bias.clear();
  EXPECT_THROW(prove(device::cpu(1), network, averages, pattern, proved), shape_error);
  pnn wider = two;
  wider.prototypes = {1, 2, {0, 1}};
  wider.classes = {0};
  EXPECT_THROW(prove(device::cpu(1), wider, averages, pattern, proved), shape_error);
}

classification answer(int pattern, float confidence) {
  classification c;
  c.pattern = pattern;
  c.confidence = confidence;
  return c;
}

TEST(score, counts_and_rejects) {
  std::vector<classification> results;
  std::vector<int> truths;
  for (int i = 0; i < 20; ++i) {
    results.push_back(answer(i % 2, static_cast<float>(20 - i) / 20));
    truths.push_back(i < 16 ? i % 2 : 1 - i % 2);  // the four least certain are wrong
  }
  results.push_back(answer(-1, 0));
  truths.push_back(-1);
  const score s = score_results(results, truths);
  EXPECT_EQ(s.scored, 20);
  EXPECT_EQ(s.wrong, 4);
  EXPECT_EQ(s.confusion[0][0], 8);
  EXPECT_EQ(s.confusion[0][1], 2);
  ASSERT_EQ(s.rejections.size(), 6U);
  EXPECT_DOUBLE_EQ(s.rejections[0].error, 4.0 / 20);
  EXPECT_DOUBLE_EQ(s.rejections[2].error, 2.0 / 18);
  EXPECT_DOUBLE_EQ(s.rejections[4].error, 0.0);
}

TEST(labels, names_and_complaints) {
  const testing::temporary_folder folder;
  const auto labels =
      read_labels(folder.file("a.txt", "# known\nx/one.pgm W\n\n two.pgm\tA\r\nwith blank.pgm L"));
  EXPECT_EQ(labels.size(), 3U);
  EXPECT_EQ(labels.at("one.pgm"), 5);
  EXPECT_EQ(labels.at("two.pgm"), 0);
  EXPECT_EQ(labels.at("with blank.pgm"), 1);
  using namespace std::string_literals;
  for (const std::string& wrong : {"one.pgm\n"s, "one.pgm X\n"s, "one.pgm \0\n"s, "W\n"s, "one W\none A\n"s}) {
    try {
      read_labels(folder.file("b.txt", wrong));
      FAIL() << wrong;
    } catch (const parse_error& e) {
      EXPECT_GE(e.line(), 1);
    }
  }
}

}  // namespace
}  // namespace vouch::fingerprint
