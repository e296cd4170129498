// Training on drawn prints, and on orientations whose classes are easy to tell.
#include <gtest/gtest.h>

#include <cstring>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/leave_group_out.hpp>
#include <vouch/fingerprint/model.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/fingerprint/train.hpp>

#include "temporary.hpp"

namespace vouch::fingerprint {
namespace {

// Class c differs from others in the squares of one region; all else is noise.
training_prints easy_prints(int count) {
  training_prints prints;
  for (int i = 0; i < count; ++i) {
    const auto c = static_cast<std::uint8_t>(i % 3);
    for (std::uint64_t j = 0; j < orientation_size; ++j) {
      const double noise = random_unit(static_cast<std::uint64_t>(i), j) - 0.5;
      const bool tells = static_cast<int>(j) / 60 == 3 + 2 * c;
      prints.averages.push_back(static_cast<float>(0.3 * noise + (tells ? 0.8 : 0)));
    }
    prints.classes.push_back(c);
    prints.groups.push_back(i / 2);
    prints.mirrored.push_back(0);
  }
  return prints;
}

int wrong(const validation& v) {
  int count = 0;
  for (std::size_t i = 0; i < v.classes.size(); ++i) {
    const auto best = std::max_element(v.outputs[i].begin(), v.outputs[i].end()) - v.outputs[i].begin();
    count += best != v.classes[i];
  }
  return count;
}

TEST(leave_group_out, gradient_is_the_slope_of_the_error) {
  const training_prints prints = easy_prints(18);
  constexpr int features = 5;
  constexpr double smoothing = 0.4, step = 1e-3;
  feature_matrix unweighted{features, orientation_size, {}};
  for (std::uint64_t i = 0; i < features * std::uint64_t{orientation_size}; ++i)
    unweighted.values.push_back(static_cast<float>(0.2 * (random_unit(7, i) - 0.5)));
  weight_vector weights;
  for (std::size_t r = 0; r < regions; ++r) weights[r] = 0.5 + random_unit(8, r);
  leave_group_out judge(device::cpu(2), prints, features);
  judge.set_transform(weighted(unweighted, weights));
  const weight_vector slope = judge.gradient(smoothing, unweighted);
  double steepest = 0;
  for (const double s : slope) steepest = std::max(steepest, std::abs(s));
  ASSERT_GT(steepest, 1e-4);
  const auto error_at = [&](std::size_t region, double by) {
    weight_vector there = weights;
    there[region] += by;
    judge.set_transform(weighted(unweighted, there));
    return judge.error(smoothing);
  };
  // Weights are rounded to single precision.
  for (std::size_t r = 0; r < regions; r += 7)
    EXPECT_NEAR(slope[r], (error_at(r, step) - error_at(r, -step)) / (2 * step), 1e-3 * steepest) << r;
}

TEST(train, tells_what_is_easy_and_has_the_same_bits_for_any_number_of_threads) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK";
  const training_prints prints = easy_prints(24);
  training_options options;
  options.features = 8;
  const pnn network = train(device::cpu(1), prints, options);
  const pnn again = train(device::cpu(3), prints, options);
  EXPECT_EQ(network.transform.rows, 8);
  EXPECT_EQ(network.prototypes.rows, 24);
  EXPECT_EQ(network.smoothing, again.smoothing);
  EXPECT_EQ(network.transform.values, again.transform.values);
  EXPECT_EQ(network.prototypes.values, again.prototypes.values);
  const validation v = cross_validate(device::cpu(2), prints, 4, options);
  EXPECT_EQ(v.classes.size(), 24U);
  EXPECT_EQ(wrong(v), 0);
  // What is written reads back.
  const testing::temporary_folder folder;
  write_model(folder.path("model"), network);
  const model m = read_model(folder.path("model"));
  EXPECT_EQ(m.probabilistic->transform.values, network.transform.values);
  EXPECT_EQ(m.probabilistic->prototypes.values, network.prototypes.values);
  EXPECT_EQ(m.probabilistic->classes, network.classes);
  EXPECT_EQ(m.probabilistic->smoothing, network.smoothing);
}

// Eigenvectors are orthonormal, and in the order of the variance along them.
TEST(train, transform_without_weights) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK";
  const training_prints prints = easy_prints(12);
  training_options options;
  options.features = 4;
  options.regional_weights = false;
  const pnn network = train(device::cpu(2), prints, options);
  const auto element = [&](std::size_t row, std::size_t j) {
    return static_cast<double>(network.transform.values[row * orientation_size + j]);
  };
  double variance_before = 1e300;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      double product = 0;
      for (std::size_t j = 0; j < orientation_size; ++j) product += element(a, j) * element(b, j);
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-5);
    }
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      const auto f = static_cast<double>(network.prototypes.values[i * 4 + a]);
      sum += f;
      squares += f * f;
    }
    const double variance = squares / 12 - sum / 12 * sum / 12;
    EXPECT_LE(variance, variance_before * (1 + 1e-5));
    variance_before = variance;
  }
}

TEST(train, what_cannot_be_trained_is_refused) {
  training_prints prints = easy_prints(4);
  EXPECT_THROW(cross_validate(device::cpu(1), prints, 3), value_error);
  EXPECT_THROW(cross_validate(device::cpu(1), prints, 1), value_error);
  prints.classes.assign(4, 2);
  EXPECT_THROW(train(device::cpu(1), prints), value_error);
  prints = easy_prints(4);
  prints.groups.assign(4, 2);
  EXPECT_THROW(train(device::cpu(1), prints), value_error);
  prints.groups.pop_back();
  EXPECT_THROW(train(device::cpu(1), prints), shape_error);
}

TEST(train, ends_when_it_is_asked_to) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK";
  cancellation request;
  const cancellation_scope listening(request);
  request.request();
  EXPECT_THROW(train(device::cpu(2), easy_prints(12)), cancelled);
}

TEST(prepare_prints, mirrored_left_loops_are_right_ones) {
  std::vector<grey_image> pages{synthetic_print(device::cpu(2), {'L', 5}),
                                {832, 768, std::vector<std::uint8_t>(832 * 768)}};
  const std::vector<std::uint8_t> known{1, 1};
  const std::vector<int> groups{7, 8};
  const training_prints prints = prepare_prints(device::cpu(2), pages, known, groups, true);
  ASSERT_EQ(prints.size(), 2U);  // the blank page is left out
  EXPECT_EQ(prints.classes, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(prints.groups, (std::vector<int>{7, 7}));
  EXPECT_EQ(prints.mirrored, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(prepare_prints(device::cpu(1), pages, known, groups, false).size(), 1U);
}

TEST(prepare_files, as_their_pages_and_one_is_missing) {
  const std::vector<grey_image> pages{synthetic_print(device::cpu(2), {'W', 5})};
  const testing::temporary_folder folder;
  const std::vector<std::string> files{folder.path("none.png"), folder.path("w.png")};
  write_grey_image(files[1], pages[0]);
  const std::vector<std::uint8_t> known{1, 5};
  const std::vector<int> groups{7, 8};
  std::vector<std::string> reasons(2);
  const training_prints prints = prepare_files(device::cpu(2), files, {}, known, groups, false, reasons);
  EXPECT_EQ(prints.averages,
            prepare_prints(device::cpu(1), pages, std::span(known).last(1), std::span(groups).last(1), false)
                .averages);
  EXPECT_EQ(prints.classes, (std::vector<std::uint8_t>{5}));
  EXPECT_NE(reasons[0].find("none.png"), std::string::npos);
  EXPECT_EQ(reasons[1], "");
}

}  // namespace
}  // namespace vouch::fingerprint
