#include <vouch/fingerprint/verify.hpp>

#include <algorithm>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/print_stages.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::fingerprint {
namespace {

using range = interval<double>;

const float* row(const feature_matrix& m, std::size_t i) {
  return m.values.data() + i * static_cast<std::size_t>(m.columns);
}

// Products of two numbers of single precision are exact in double.
std::vector<range> enclosed_features(const feature_matrix& transform, const float* averages) {
  std::vector<range> features(static_cast<std::size_t>(transform.rows));
  for (std::size_t r = 0; r < features.size(); ++r) {
    const float* weights = row(transform, r);
    range sum = 0.0;
    for (std::size_t j = 0; j < orientation_size; ++j)
      sum = sum + range(static_cast<double>(weights[j]) * static_cast<double>(averages[j]));
    features[r] = sum;
  }
  return features;
}

std::vector<range> enclosed_layer(const feature_matrix& weights, std::span<const float> biases,
                                  std::span<const range> inputs) {
  std::vector<range> nodes(static_cast<std::size_t>(weights.rows));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    range sum(biases[i]);
    for (std::size_t j = 0; j < inputs.size(); ++j) sum = sum + range(row(weights, i)[j]) * inputs[j];
    nodes[i] = (sin(sum * 0.5) + 1.0) * 0.5;
  }
  return nodes;
}

std::vector<range> enclosed_outputs(const mlp& network, const float* averages) {
  const std::vector<range> features = enclosed_features(network.transform, averages);
  const std::vector<range> hidden = enclosed_layer(network.hidden, network.hidden_bias, features);
  return enclosed_layer(network.output, network.output_bias, hidden);
}

// Sums of Gaussians, all multiplied by one positive number: exp of the least distance found.
std::vector<range> enclosed_outputs(const pnn& network, const float* averages) {
  const std::vector<range> features = enclosed_features(network.transform, averages);
  std::vector<range> distances(network.classes.size());
  for (std::size_t i = 0; i < distances.size(); ++i) {
    range sum = 0.0;
    for (std::size_t j = 0; j < features.size(); ++j)
      sum = sum + sqr(features[j] - range(row(network.prototypes, i)[j]));
    distances[i] = sum;
  }
  const double least = std::ranges::min_element(distances, {}, [](const range& d) { return d.lo(); })->lo();
  std::vector<range> sums(classes, range(0.0));
  for (std::size_t i = 0; i < distances.size(); ++i) {
    range& sum = sums[network.classes[i]];
    sum = sum + exp(range(network.smoothing) * (range(least) - distances[i]));
  }
  return sums;
}

bool is_largest(std::span<const range> outputs, std::size_t pattern) {
  for (std::size_t c = 0; c < outputs.size(); ++c)
    if (c != pattern && !(outputs[c].hi() < outputs[pattern].lo())) return false;
  return true;
}

template <class Network>
void prove_each(const device& dev, const Network& network, std::span<const float> averages,
                std::span<const int> patterns, std::span<std::uint8_t> proved) {
  const std::size_t n = patterns.size();
  require_whole_network("prove", network);
  require_proofs("prove");
  require_elements("prove", "averages", averages.size(), n, orientation_size);
  require_elements("prove", "flags", proved.size(), n, 1);
  if (std::ranges::any_of(patterns, [](int p) { return p < 0 || p >= classes; }))
    throw value_error("prove: a pattern is not from 0 to 5");
  for_each_print(dev, n, [&](std::size_t i) {
    proved[i] = is_proved(network, &averages[i * orientation_size], patterns[i]);
  });
}

}  // namespace

void require_proofs(const char* function) {
  if (!built_with_mpfr)
    throw error(std::string(function) +
                ": this build has no MPFR, which bounds of sines and exponentials need");
}

bool is_proved(const mlp& network, const float* averages, int pattern) {
  return is_largest(enclosed_outputs(network, averages), static_cast<std::size_t>(pattern));
}

bool is_proved(const pnn& network, const float* averages, int pattern) {
  return is_largest(enclosed_outputs(network, averages), static_cast<std::size_t>(pattern));
}

void prove(const device& dev, const mlp& network, std::span<const float> averages,
           std::span<const int> patterns, std::span<std::uint8_t> proved) {
  const ieee_environment here;
  prove_each(dev, network, averages, patterns, proved);
}

void prove(const device& dev, const pnn& network, std::span<const float> averages,
           std::span<const int> patterns, std::span<std::uint8_t> proved) {
  const ieee_environment here;
  prove_each(dev, network, averages, patterns, proved);
}

}  // namespace vouch::fingerprint
