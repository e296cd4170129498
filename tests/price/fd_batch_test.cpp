#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/fd_batch.hpp>
#include <vouch/price/finite_difference.hpp>

#include "groups.hpp"

namespace vouch {
namespace {

std::vector<batch_option> random_options(std::int64_t count) {
  std::vector<batch_option> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream, static_cast<std::uint64_t>(i)); };
    batch_option b;
    b.exercise = u(0) < 0.7 ? exercise_style::american : exercise_style::european;
    b.option.type = u(1) < 0.5 ? option_type::call : option_type::put;
    b.option.spot = 80 + 40 * u(2);
    b.option.strike = 90 + 20 * u(3);
    b.option.rate = 0.1 * u(4);
    b.option.dividend = 0.1 * u(5);
    b.option.volatility = 0.1 + 0.4 * u(6);
    b.option.expiry = 0.1 + 2 * u(7);
    all.push_back(b);
  }
  return all;
}

// The same grids, steps and interpolation on every device.
TEST(fd_batch, every_option_as_alone) {
  const std::vector<batch_option> options = random_options(101);
  for (const device& dev : testing::devices())
    for (const std::int64_t nodes : {256, 512, 1024}) {
      std::vector<valuation> values(options.size()), again(options.size());
      finite_difference_batch(dev, options, nodes, 256, values);
      finite_difference_batch(dev, options, nodes, 256, again);
      EXPECT_EQ(std::memcmp(values.data(), again.data(), values.size() * sizeof(valuation)), 0);
      for (std::size_t i = 0; i < options.size(); ++i) {
        contract c;
        c.plain = options[i].option;
        c.exercise = options[i].exercise;
        const valuation alone = value_on_grid(c, nodes, 256);
        EXPECT_NEAR(values[i].price, alone.price, 1e-9) << dev.kind() << ' ' << nodes << ' ' << i;
        EXPECT_NEAR(values[i].delta, alone.delta, 1e-9) << dev.kind() << ' ' << nodes << ' ' << i;
        EXPECT_NEAR(values[i].gamma, alone.gamma, 1e-8) << dev.kind() << ' ' << nodes << ' ' << i;
        EXPECT_NEAR(values[i].theta, alone.theta, 1e-6) << dev.kind() << ' ' << nodes << ' ' << i;
      }
    }
}

void expect_bits_of(const device& one, const device_group& devices, std::span<const batch_option> options) {
  std::vector<valuation> alone(options.size()), together(options.size());
  finite_difference_batch(one, options, 256, 16, alone);
  finite_difference_batch(devices, options, 256, 16, together);
  EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(valuation)), 0)
      << devices.size() << " of " << one.kind() << ", " << options.size();
}

TEST(fd_batch, a_group_has_the_bits_of_one_device) {
  const std::vector<batch_option> options = random_options(300);  // three blocks
  for (const device& one : testing::single_devices())
    for (const device_group& devices : testing::groups_of(one)) expect_bits_of(one, devices, options);
}

TEST(fd_batch, two_gpus_have_the_bits_of_one) {
  VOUCH_NEEDS_TWO_GPUS();
  const std::vector<batch_option> options = random_options(20'000);
  expect_bits_of(device::cuda(1), device_group::cuda({0, 1}), options);
}

TEST(fd_batch, a_group_names_the_option_that_it_does_not_take) {
  std::vector<batch_option> options = random_options(300);
  std::vector<valuation> values(300);
  options[290].option.spot = -1;
  try {
    finite_difference_batch(device_group({device::cpu(1), device::cpu(1)}), options, 256, 16, values);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const value_error& wrong) {
    EXPECT_NE(std::string(wrong.what()).find("option 290"), std::string::npos) << wrong.what();
  }
  for (const device& gpu : testing::gpus()) {
    const device_group twice({gpu, gpu});
    EXPECT_THROW(
        finite_difference_batch(twice, std::span(options).first(256), 300, 16, std::span(values).first(256)),
        value_error);
  }
}

TEST(fd_batch, near_the_true_price) {
  const std::vector<batch_option> options = random_options(60);
  for (const device& dev : testing::devices()) {
    std::vector<valuation> values(options.size());
    finite_difference_batch(dev, options, 512, 256, values);
    for (std::size_t i = 0; i < options.size(); ++i) {
      const plain_option& o = options[i].option;
      const bool american = options[i].exercise == exercise_style::american;
      const double exact = american ? american_core(o, finest_boundary()).price : european_price(o).price;
      if (std::isnan(exact)) continue;
      EXPECT_NEAR(values[i].price, exact, 4e-3) << i;
    }
  }
}

TEST(fd_batch, what_it_does_not_take_is_refused) {
  std::vector<batch_option> options = random_options(3);
  std::vector<valuation> values(3);
  options[1].option.volatility = 0;
  EXPECT_THROW(finite_difference_batch(device::cpu(1), options, 256, 64, values), value_error);
  options = random_options(2);
  EXPECT_THROW(finite_difference_batch(device::cpu(1), options, 256, 64, values), shape_error);
}

}  // namespace
}  // namespace vouch
