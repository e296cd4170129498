// tests/fingerprint/random_model.hpp -- models of random numbers, which depend on their sizes alone.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/fingerprint/model.hpp>

namespace vouch::fingerprint {

/// In [-scale, scale).
inline std::vector<float> random_numbers(std::size_t count, std::uint64_t seed, double scale) {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(scale * (2 * random_unit(seed, i) - 1)));
  return values;
}

inline feature_matrix random_matrix(int rows, int columns, std::uint64_t seed, double scale) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return {rows, columns, random_numbers(count, seed, scale)};
}

/// scale: of the transforms; ten times that of the first layer.
inline model random_model(int features, int hidden, int prototypes, double scale) {
  model m;
  m.perceptron =
      mlp{random_matrix(features, orientation_size, 1, scale), random_matrix(hidden, features, 2, 10 * scale),
          random_numbers(static_cast<std::size_t>(hidden), 3, 1), random_matrix(classes, hidden, 4, 1),
          random_numbers(classes, 5, 1)};
  m.probabilistic = pnn{
      random_matrix(features, orientation_size, 6, scale), random_matrix(prototypes, features, 7, 1), {}, 1.5F};
  for (int i = 0; i < prototypes; ++i)
    m.probabilistic->classes.push_back(static_cast<std::uint8_t>(i % classes));
  return m;
}

}  // namespace vouch::fingerprint
