#include <vouch/fingerprint/networks.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr int width = simd<float>::width;

VOUCH_SIMD_INLINE float sum_of_lanes(const lanes<float>& v) {
  float part[width];
  store(part, v);
  for (int half = width / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) part[l] += part[l + half];
  return part[0];
}

// Four partial sums a lane, added in a fixed order.
VOUCH_SIMD_CLONES float dot(const float* a, const float* b, int n) {
  constexpr int parts = 4;
  lanes<float> sum[parts] = {};
  int i = 0;
  for (; i + parts * width <= n; i += parts * width)
    for (int k = 0; k < parts; ++k) {
      lanes<float> x, y;
      load(x, a + i + k * width);
      load(y, b + i + k * width);
      sum[k] += x * y;
    }
  float rest = 0;
  for (; i < n; ++i) rest += a[i] * b[i];
  return sum_of_lanes((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

VOUCH_SIMD_CLONES float squared_distance(const float* a, const float* b, int n) {
  lanes<float> sum{};
  int i = 0;
  for (; i + width <= n; i += width) {
    lanes<float> x, y;
    load(x, a + i);
    load(y, b + i);
    sum += (x - y) * (x - y);
  }
  float rest = 0;
  for (; i < n; ++i) rest += (a[i] - b[i]) * (a[i] - b[i]);
  return sum_of_lanes(sum) + rest;
}

void require_matrix(const char* function, const feature_matrix& m) {
  require_elements(function, "a matrix", m.values.size(), 1,
                   static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns));
}

const float* row(const feature_matrix& m, int i) {
  return m.values.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(m.columns);
}

float activation(float sum) { return 0.5F * (1 + std::sin(0.5F * sum)); }

class_outputs outputs_of(const mlp& network, const float* features, std::span<float> hidden) {
  for (int i = 0; i < network.hidden.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    hidden[at] =
        activation(network.hidden_bias[at] + dot(row(network.hidden, i), features, network.hidden.columns));
  }
  class_outputs outputs;
  for (int i = 0; i < classes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    outputs[at] = activation(network.output_bias[at] +
                             dot(row(network.output, i), hidden.data(), network.output.columns));
  }
  return outputs;
}

// The least distance becomes 0 in every exponent, so the largest term is 1.
class_outputs outputs_of(const pnn& network, const float* features, std::span<float> distances) {
  for (int i = 0; i < network.prototypes.rows; ++i)
    distances[static_cast<std::size_t>(i)] =
        squared_distance(row(network.prototypes, i), features, network.prototypes.columns);
  const float least = *std::min_element(distances.begin(), distances.end());
  // exp(-30) of 24,300 terms is below the rounding of the sum.
  const float farthest = 30 / network.smoothing;
  std::array<double, classes> sums{};
  double total = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const float beyond = distances[i] - least;
    if (beyond > farthest) continue;
    const double term = std::exp(-static_cast<double>(network.smoothing) * static_cast<double>(beyond));
    sums[network.classes[i]] += term;
    total += term;
  }
  class_outputs outputs;
  for (std::size_t c = 0; c < classes; ++c) outputs[c] = static_cast<float>(sums[c] / total);
  return outputs;
}

}  // namespace

void transform(const device& dev, const feature_matrix& matrix, std::span<const float> averages,
               std::span<float> features) {
  const ieee_environment here;
  require_matrix("transform", matrix);
  require_elements("transform", "a row of the matrix", static_cast<std::size_t>(matrix.columns), 1,
                   orientation_size);
  const std::size_t n = prints_in("transform", "averages", averages.size(), orientation_size);
  const auto rows = static_cast<std::size_t>(matrix.rows);
  require_elements("transform", "features", features.size(), n, rows);
  for_each_print(dev, n, [&](std::size_t i) {
    for (std::size_t r = 0; r < rows; ++r)
      features[i * rows + r] =
          dot(row(matrix, static_cast<int>(r)), &averages[i * orientation_size], orientation_size);
  });
}

void evaluate(const device& dev, const mlp& network, std::span<const float> features,
              std::span<class_outputs> outputs) {
  const ieee_environment here;
  require_matrix("evaluate", network.hidden);
  require_matrix("evaluate", network.output);
  const std::size_t n = outputs.size(), inputs = static_cast<std::size_t>(network.hidden.columns);
  const auto nodes = static_cast<std::size_t>(network.hidden.rows);
  require_elements("evaluate", "features", features.size(), n, inputs);
  require_elements("evaluate", "biases", network.hidden_bias.size(), 1, nodes);
  require_elements("evaluate", "biases", network.output_bias.size(), 1, classes);
  require_elements("evaluate", "output weights", network.output.values.size(), 1, classes * nodes);
  std::vector<float> hidden(n * nodes);
  for_each_print(dev, n, [&](std::size_t i) {
    outputs[i] = outputs_of(network, &features[i * inputs], std::span(hidden).subspan(i * nodes, nodes));
  });
}

void evaluate(const device& dev, const pnn& network, std::span<const float> features,
              std::span<class_outputs> outputs) {
  const ieee_environment here;
  require_matrix("evaluate", network.prototypes);
  const std::size_t n = outputs.size(), inputs = static_cast<std::size_t>(network.prototypes.columns);
  const auto prototypes = static_cast<std::size_t>(network.prototypes.rows);
  require_elements("evaluate", "features", features.size(), n, inputs);
  require_elements("evaluate", "classes", network.classes.size(), 1, prototypes);
  if (prototypes == 0 || !(network.smoothing > 0))
    throw value_error("evaluate: a probabilistic network needs prototypes and a positive smoothing factor");
  if (std::ranges::any_of(network.classes, [](std::uint8_t c) { return c >= classes; }))
    throw value_error("evaluate: the class of a prototype is not one of six");
  std::vector<float> distances(n * prototypes);
  for_each_print(dev, n, [&](std::size_t i) {
    outputs[i] =
        outputs_of(network, &features[i * inputs], std::span(distances).subspan(i * prototypes, prototypes));
  });
}

}  // namespace vouch::fingerprint
