#include <vouch/fingerprint/networks.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_networks.hpp>
#include <vouch/fingerprint/print_stages.hpp>

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

void require_prototypes(const char* function, const pnn& network) {
  require_elements(function, "classes", network.classes.size(), 1,
                   static_cast<std::size_t>(network.prototypes.rows));
  if (network.classes.empty() || !(network.smoothing > 0))
    throw value_error(std::string(function) +
                      ": a probabilistic network needs prototypes and a positive smoothing factor");
  if (std::ranges::any_of(network.classes, [](std::uint8_t c) { return c >= classes; }))
    throw value_error(std::string(function) + ": the class of a prototype is not one of six");
}

void require_transform(const char* function, const feature_matrix& transform, int features) {
  require_matrix(function, transform);
  require_elements(function, "a row of the transform", static_cast<std::size_t>(transform.columns), 1,
                   orientation_size);
  require_elements(function, "the transform's features", static_cast<std::size_t>(transform.rows), 1,
                   static_cast<std::size_t>(features));
}

}  // namespace

int class_of(char letter) {
  const std::size_t at = std::string_view(class_letters).find(letter);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

void require_network(const char* function, const mlp& network) {
  require_matrix(function, network.hidden);
  require_matrix(function, network.output);
  const auto nodes = static_cast<std::size_t>(network.hidden.rows);
  require_elements(function, "biases", network.hidden_bias.size(), 1, nodes);
  require_elements(function, "biases", network.output_bias.size(), 1, classes);
  require_elements(function, "output weights", network.output.values.size(), 1, classes * nodes);
  require_elements(function, "output nodes", static_cast<std::size_t>(network.output.rows), 1, classes);
}

void require_network(const char* function, const pnn& network) {
  require_matrix(function, network.prototypes);
  require_prototypes(function, network);
}

void require_whole_network(const char* function, const mlp& network) {
  require_network(function, network);
  require_transform(function, network.transform, network.hidden.columns);
}

void require_whole_network(const char* function, const pnn& network) {
  require_network(function, network);
  require_transform(function, network.transform, network.prototypes.columns);
}

void transform_print(const feature_matrix& matrix, const float* averages, float* features) {
  for (int r = 0; r < matrix.rows; ++r) features[r] = dot(row(matrix, r), averages, orientation_size);
}

class_outputs outputs_of(const mlp& network, const float* features, std::vector<float>& hidden) {
  hidden.resize(static_cast<std::size_t>(network.hidden.rows));
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
class_outputs outputs_of(const pnn& network, const float* features, std::vector<float>& distances) {
  distances.resize(network.classes.size());
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

void transform(const device& dev, const feature_matrix& matrix, std::span<const float> averages,
               std::span<float> features) {
  const ieee_environment here;
  require_matrix("transform", matrix);
  require_elements("transform", "a row of the matrix", static_cast<std::size_t>(matrix.columns), 1,
                   orientation_size);
  const std::size_t n = prints_in("transform", "averages", averages.size(), orientation_size);
  const auto rows = static_cast<std::size_t>(matrix.rows);
  require_elements("transform", "features", features.size(), n, rows);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::transform(dev, matrix, averages, features);
  for_each_print(dev, n, [&](std::size_t i) {
    transform_print(matrix, &averages[i * orientation_size], &features[i * rows]);
  });
}

namespace {

template <class Network>
void evaluate_each(const device& dev, const Network& network, std::size_t inputs,
                   std::span<const float> features, std::span<class_outputs> outputs) {
  require_network("evaluate", network);
  require_elements("evaluate", "features", features.size(), outputs.size(), inputs);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::evaluate(dev, network, features, outputs);
  for_each_print<std::vector<float>>(dev, outputs.size(), [&](std::size_t i, std::vector<float>& nodes) {
    outputs[i] = outputs_of(network, &features[i * inputs], nodes);
  });
}

}  // namespace

void evaluate(const device& dev, const mlp& network, std::span<const float> features,
              std::span<class_outputs> outputs) {
  const ieee_environment here;
  evaluate_each(dev, network, static_cast<std::size_t>(network.hidden.columns), features, outputs);
}

void evaluate(const device& dev, const pnn& network, std::span<const float> features,
              std::span<class_outputs> outputs) {
  const ieee_environment here;
  evaluate_each(dev, network, static_cast<std::size_t>(network.prototypes.columns), features, outputs);
}

}  // namespace vouch::fingerprint
