// Every stage, network and proof has the same bits in every floating-point environment.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include <vouch/core/config.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/fingerprint/train.hpp>
#include <vouch/fingerprint/verify.hpp>

#include "hostile.hpp"
#include "random_model.hpp"

namespace vouch::fingerprint {
namespace {

using bits = std::vector<std::uint32_t>;

void append(bits& all, std::span<const float> values) {
  for (const float v : values) all.push_back(std::bit_cast<std::uint32_t>(v));
}
void append(bits& all, std::span<const std::uint8_t> values) {
  all.insert(all.end(), values.begin(), values.end());
}

template <class Work>
void expect_same_everywhere(const Work& work) {
  const bits usual = work();
  for (const testing::hostile_environment& how : testing::hostile_environments())
    EXPECT_TRUE(testing::in(how, work) == usual) << how.name;
}

const grey_image& page() {
  static const grey_image drawn = synthetic_print(device::cpu(2), {'L', 3, true});
  return drawn;
}

TEST(environment, drawn_print) {
  expect_same_everywhere([] {
    bits all;
    append(all, synthetic_print(device::cpu(2), {'W', 4}).pixels);
    return all;
  });
}

TEST(environment, stages_of_a_print) {
  expect_same_everywhere([] {
    const device cpu = device::cpu(2);
    std::vector<std::uint8_t> snip(snip_pixels), enhanced(snip_pixels), indices(snip_pixels), foreground(cells);
    std::vector<std::uint8_t> whorl(1);
    std::vector<placement> place(1);
    std::vector<pixel> core(1);
    std::vector<float> averages(orientation_size), registered(orientation_size), fine(2 * fine_size);
    segment(cpu, {&page(), 1}, snip, foreground, place);
    enhance(cpu, snip, enhanced);
    find_orientations(cpu, enhanced, indices);
    average_orientations(cpu, indices, {}, averages);
    find_cores(cpu, averages, core);
    average_orientations(cpu, indices, core, registered);
    average_finely(cpu, indices, fine);
    trace_ridges(cpu, fine, foreground, whorl);
    bits all{std::bit_cast<std::uint32_t>(place[0].radians), static_cast<std::uint32_t>(core[0].x),
             static_cast<std::uint32_t>(core[0].y)};
    append(all, snip);
    append(all, enhanced);
    append(all, registered);
    append(all, fine);
    append(all, whorl);
    return all;
  });
}

TEST(environment, networks_and_proofs) {
  const model m = random_model(12, 7, 30, 0.1);
  constexpr std::size_t n = 3;
  const std::vector<float> averages = random_numbers(n * orientation_size, 11, 1);
  expect_same_everywhere([&] {
    const device cpu = device::cpu(2);
    std::vector<float> features(n * 12);
    std::vector<class_outputs> outputs(n);
    std::vector<std::uint8_t> proved(n);
    bits all;
    transform(cpu, m.perceptron->transform, averages, features);
    append(all, features);
    evaluate(cpu, *m.perceptron, features, outputs);
    for (const class_outputs& o : outputs) append(all, o);
    evaluate(cpu, *m.probabilistic, features, outputs);
    for (const class_outputs& o : outputs) append(all, o);
    if (!built_with_mpfr) return all;
    prove(cpu, *m.perceptron, averages, std::vector<int>{0, 1, 2}, proved);
    append(all, proved);
    prove(cpu, *m.probabilistic, averages, std::vector<int>{0, 1, 2}, proved);
    append(all, proved);
    return all;
  });
}

TEST(environment, classification_and_score) {
  const model m = random_model(12, 7, 30, 0.1);
  expect_same_everywhere([&m] {
    std::vector<classification> found(2);
    const std::vector<grey_image> pages(2, page());
    classify(device::cpu(2), m, network_kind::probabilistic, pages, found);
    bits all;
    for (const classification& c : found) append(all, c.outputs);
    all.push_back(static_cast<std::uint32_t>(found[1].pattern));
    return all;
  });
}

TEST(environment, training) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK";
  training_prints prints;
  prints.averages = random_numbers(8 * std::size_t{orientation_size}, 21, 1);
  for (int i = 0; i < 8; ++i) {
    prints.classes.push_back(static_cast<std::uint8_t>(i % 2));
    prints.groups.push_back(i);
    prints.mirrored.push_back(0);
  }
  expect_same_everywhere([&prints] {
    const pnn network = train(device::cpu(2), prints, {3, true});
    bits all{std::bit_cast<std::uint32_t>(network.smoothing)};
    append(all, network.transform.values);
    append(all, network.prototypes.values);
    return all;
  });
}

}  // namespace
}  // namespace vouch::fingerprint
