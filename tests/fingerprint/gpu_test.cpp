// What the GPU computes against the CPU and the published answers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/batch_classifier.hpp>
#include <vouch/fingerprint/stages.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>

#include "devices.hpp"
#include "random_model.hpp"

namespace vouch::fingerprint {
namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void expect_near(std::span<const float> a, std::span<const float> b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  EXPECT_LE(most, tolerance);
}

template <class Network>
void expect_outputs_of_the_cpu(const device& gpu, const Network& network, int inputs, double scale,
                               double tolerance) {
  for (const std::size_t n : {1U, 5U, 64U, 130U}) {
    const std::vector<float> features = random_numbers(n * static_cast<std::size_t>(inputs), 31 + n, scale);
    std::vector<class_outputs> expected(n), found(n), again(n);
    evaluate(device::cpu(2), network, features, expected);
    evaluate(gpu, network, features, found);
    evaluate(gpu, network, features, again);
    EXPECT_TRUE(same_bits(found, again));
    for (std::size_t i = 0; i < n; ++i) expect_near(found[i], expected[i], tolerance);
    // A print's outputs do not depend on those beside it.
    std::vector<class_outputs> alone(1);
    const auto last = std::span(features).last(static_cast<std::size_t>(inputs));
    evaluate(gpu, network, last, alone);
    EXPECT_EQ(alone[0], found[n - 1]);
  }
}

TEST(gpu, transform) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  for (const int rows : {1, 8, 64, 128, 130}) {
    const feature_matrix m = random_matrix(rows, orientation_size, 5, 0.1);
    const std::vector<float> averages = random_numbers(70 * std::size_t{orientation_size}, 6, 1);
    std::vector<float> expected(70 * static_cast<std::size_t>(rows)), found(expected.size());
    transform(device::cpu(2), m, averages, expected);
    transform(gpu, m, averages, found);
    expect_near(found, expected, 2e-5);
  }
}

TEST(gpu, perceptron) {
  VOUCH_NEEDS_GPU();
  for (const int nodes : {1, 10, 128, 150}) {
    const mlp network{random_matrix(20, orientation_size, 1, 0.1), random_matrix(nodes, 20, 2, 1),
                      random_numbers(static_cast<std::size_t>(nodes), 3, 1),
                      random_matrix(classes, nodes, 4, 1), random_numbers(classes, 5, 1)};
    expect_outputs_of_the_cpu(testing::gpus().front(), network, 20, 1, 2e-5);
  }
}

TEST(gpu, probabilistic_network) {
  VOUCH_NEEDS_GPU();
  for (const int prototypes : {1, 100, 1000, 4000}) {
    pnn network{random_matrix(20, orientation_size, 1, 0.1), random_matrix(prototypes, 20, 7, 1), {}, 1.5F};
    // Some classes have none.
    for (int i = 0; i < prototypes; ++i) network.classes.push_back(static_cast<std::uint8_t>(i % 7 % 4));
    expect_outputs_of_the_cpu(testing::gpus().front(), network, 20, 1, 5e-6);
    // So far that every Gaussian underflows; distances of some thousands have seven digits.
    expect_outputs_of_the_cpu(testing::gpus().front(), network, 20, 20, 2e-2);
  }
}

// Pages of all kinds, cut out.
struct cut_prints {
  std::vector<grey_image> pages;
  std::vector<std::uint8_t> snips, foreground;
  std::vector<placement> places;

  cut_prints() {
    std::uint64_t seed = 1;
    for (const char pattern : {'A', 'L', 'R', 'T', 'W', 'W'})
      pages.push_back(synthetic_print(device::cpu(2), {pattern, ++seed, seed % 2 == 0, seed % 3 == 0}));
    pages.push_back({600, 500, std::vector<std::uint8_t>(600 * 500, 7)});
    snips.resize(pages.size() * snip_pixels);
    foreground.resize(pages.size() * cells);
    places.resize(pages.size());
    segment(device::cpu(2), pages, snips, foreground, places);
  }
  static const cut_prints& made() {
    static const cut_prints one;
    return one;
  }
};

// Each stage gets what the CPU's stage before it made, so that all bits can be compared.
TEST(gpu, stages_have_the_bits_of_the_cpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front(), cpu = device::cpu(2);
  const cut_prints& cut = cut_prints::made();
  const std::size_t n = cut.pages.size();
  std::vector<std::uint8_t> enhanced(cut.snips.size()), indices(enhanced.size()), bytes(enhanced.size());
  enhance(cpu, cut.snips, enhanced);
  enhance(gpu, cut.snips, bytes);
  EXPECT_TRUE(same_bits(bytes, enhanced));
  find_orientations(cpu, enhanced, indices);
  find_orientations(gpu, enhanced, bytes);
  EXPECT_TRUE(same_bits(bytes, indices));
  std::vector<float> averages(n * orientation_size), numbers(averages.size());
  average_orientations(cpu, indices, {}, averages);
  average_orientations(gpu, indices, {}, numbers);
  EXPECT_TRUE(same_bits(numbers, averages));
  std::vector<pixel> cores(n), found(n);
  find_cores(cpu, averages, cores);
  find_cores(gpu, averages, found);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(found[i].x, cores[i].x) << i;
    EXPECT_EQ(found[i].y, cores[i].y) << i;
  }
  cores[0] = {-300, 700};  // nothing of the print is left
  average_orientations(cpu, indices, cores, averages);
  average_orientations(gpu, indices, cores, numbers);
  EXPECT_TRUE(same_bits(numbers, averages));
  std::vector<float> fine(n * 2 * fine_size), fine_there(fine.size());
  average_finely(cpu, indices, fine);
  average_finely(gpu, indices, fine_there);
  EXPECT_TRUE(same_bits(fine_there, fine));
  std::vector<std::uint8_t> whorls(n), whorls_there(n);
  trace_ridges(cpu, fine, cut.foreground, whorls);
  trace_ridges(gpu, fine, cut.foreground, whorls_there);
  EXPECT_EQ(whorls_there, whorls);
}

TEST(gpu, segmentation_has_the_bits_of_the_cpu) {
  VOUCH_NEEDS_GPU();
  std::vector<grey_image> pages = cut_prints::made().pages;
  // Sizes that are no multiples of a cell, so that rows begin anywhere; specks of a second and third component.
  for (const int less : {1, 5, 8}) {
    const grey_image& whole = pages[static_cast<std::size_t>(less % 3)];
    grey_image part{whole.width - less, whole.height - 2 * less, {}};
    for (int y = 0; y < part.height; ++y)
      for (int x = 0; x < part.width; ++x)
        part.pixels.push_back((x + 700 - y) % 640 < 60 && x < 80
                                  ? 0
                                  : whole.pixels[static_cast<std::size_t>(y * whole.width + x)]);
    pages.push_back(part);
  }
  pages.push_back({512, 480, std::vector<std::uint8_t>(512 * 480, 0)});
  pages.back().pixels[0] = 1;  // all is dark
  pages.push_back({1000, 900, std::vector<std::uint8_t>(1000 * 900, 255)});
  pages.back().pixels[70000] = 0;  // all but nothing is light
  pages.push_back({100, 100, std::vector<std::uint8_t>(100 * 100)});
  pages.push_back({2001, 500, std::vector<std::uint8_t>(2001 * 500)});
  grey_image stripes{2000, 2000, std::vector<std::uint8_t>(2000 * 2000, 255)};
  for (std::size_t y = 0; y < 2000; ++y)
    for (std::size_t x = 0; x < 2000; ++x)
      if (y % 400 < 160 && x < 1500) stripes.pixels[y * 2000 + x] = 0;  // components of one size
  pages.push_back(stripes);
  const std::size_t n = pages.size();
  std::vector<std::uint8_t> snips(n * snip_pixels), foreground(n * cells), snips_there(snips.size()),
      foreground_there(foreground.size());
  std::vector<placement> places(n), places_there(n);
  segment(device::cpu(2), pages, snips, foreground, places);
  segment(testing::gpus().front(), pages, snips_there, foreground_there, places_there);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(places_there[i].centre_x, places[i].centre_x) << i;
    EXPECT_EQ(places_there[i].centre_y, places[i].centre_y) << i;
    EXPECT_EQ(places_there[i].radians, places[i].radians) << i;
    EXPECT_STREQ(places_there[i].failure, places[i].failure) << i;
  }
  EXPECT_TRUE(same_bits(foreground_there, foreground));
  EXPECT_TRUE(same_bits(snips_there, snips));
}

// Every grey level in every place, where neighbouring slits often have equal sums.
TEST(gpu, orientations_of_noise) {
  VOUCH_NEEDS_GPU();
  for (const double levels : {2.0, 5.0, 256.0}) {
    std::vector<std::uint8_t> noise(2 * snip_pixels), expected(noise.size()), found(noise.size());
    for (std::size_t i = 0; i < noise.size(); ++i)
      noise[i] = static_cast<std::uint8_t>(std::floor(levels * random_unit(3, i)) * 255 / levels);
    find_orientations(device::cpu(2), noise, expected);
    find_orientations(testing::gpus().front(), noise, found);
    EXPECT_TRUE(same_bits(found, expected));
    enhance(device::cpu(2), noise, expected);
    enhance(testing::gpus().front(), noise, found);
    EXPECT_TRUE(same_bits(found, expected));
  }
}

void expect_same_answers(std::span<const classification> found, std::span<const classification> expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].pattern, expected[i].pattern) << i;
    EXPECT_EQ(found[i].whorl, expected[i].whorl) << i;
    EXPECT_EQ(found[i].core.x, expected[i].core.x) << i;
    EXPECT_EQ(found[i].place.centre_y, expected[i].place.centre_y) << i;
    EXPECT_EQ(found[i].reason, expected[i].reason) << i;
    EXPECT_EQ(found[i].proved, expected[i].proved) << i;
    expect_near(found[i].outputs, expected[i].outputs, 1e-4);
  }
}

// Two groups in turn, with a rest.
TEST(gpu, classify_as_on_the_cpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  const model m = random_model(32, 10, 500, 0.05);
  std::vector<grey_image> pages = cut_prints::made().pages;
  pages.push_back({10, 10, std::vector<std::uint8_t>(100)});
  const std::size_t n = pages.size();
  for (const network_kind kind : {network_kind::perceptron, network_kind::probabilistic}) {
    std::vector<classification> expected(n), found(n);
    std::vector<float> fields(n * orientation_size), fields_there(fields.size());
    classify(device::cpu(2), m, kind, pages, expected, fields, built_with_mpfr);
    classify(gpu, m, kind, pages, found, fields_there, built_with_mpfr);
    expect_same_answers(found, expected);
    EXPECT_TRUE(same_bits(fields_there, fields));
    batch_classifier there(gpu, m, kind, 3);
    for (int time = 0; time < 2; ++time) {
      found.assign(n, {});
      there.classify(pages, found, fields_there, built_with_mpfr);
      expect_same_answers(found, expected);
      EXPECT_TRUE(same_bits(fields_there, fields));
    }
  }
}

TEST(gpu, pages_of_one_size_in_the_memory_of_host_and_gpu) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  const model m = random_model(32, 10, 500, 0.05);
  std::vector<grey_image> pages;
  std::vector<std::uint8_t> pixels;
  for (const grey_image& page : cut_prints::made().pages) {
    if (page.width != 832) continue;
    pages.push_back(page);
    pixels.insert(pixels.end(), page.pixels.begin(), page.pixels.end());
  }
  std::vector<classification> expected(pages.size()), found(pages.size());
  classify(gpu, m, network_kind::perceptron, pages, expected);
  batch_classifier there(gpu, m, network_kind::perceptron, 4);
  there.classify(pixels.data(), 832, 768, found);
  expect_same_answers(found, expected);
  const auto on_gpu = array<std::uint8_t>::from(gpu, std::span<const std::uint8_t>(pixels));
  found.assign(pages.size(), {});
  there.classify(on_gpu.data(), 832, 768, found);
  expect_same_answers(found, expected);
  EXPECT_THROW(batch_classifier(device::cpu(1), m, network_kind::perceptron), value_error);
  EXPECT_THROW(batch_classifier(gpu, {}, network_kind::perceptron), value_error);
}

TEST(gpu, what_networks_refuse) {
  VOUCH_NEEDS_GPU();
  pnn network{random_matrix(4, orientation_size, 1, 0.1), random_matrix(2, 4, 7, 1), {0, 6}, 1.5F};
  std::vector<float> features(4);
  std::vector<class_outputs> outputs(1);
  EXPECT_THROW(evaluate(testing::gpus().front(), network, features, outputs), value_error);
  network.classes = {0};
  EXPECT_THROW(evaluate(testing::gpus().front(), network, features, outputs), shape_error);
}

}  // namespace
}  // namespace vouch::fingerprint
