#include <vouch/fingerprint/classify.hpp>

#include <algorithm>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/verify.hpp>

namespace vouch::fingerprint {
namespace {

// What lies between the stages.
class workspace {
 public:
  explicit workspace(std::size_t prints)
      : snips_(prints * snip_pixels),
        enhanced_(prints * snip_pixels),
        indices_(prints * snip_pixels),
        foreground_(prints * cells),
        placements_(prints),
        cores_(prints),
        averages_(prints * orientation_size),
        registered_(prints * orientation_size),
        fine_(prints * 2 * fine_size),
        whorls_(prints),
        outputs_(prints) {}

  template <class Network>
  void classify(const device& dev, const Network& network, std::span<const grey_image> pages,
                std::span<classification> results, bool verify) {
    const std::size_t n = pages.size();
    features_.resize(n * static_cast<std::size_t>(network.transform.rows));
    const std::span snips = std::span(snips_).first(n * snip_pixels);
    const std::span enhanced = std::span(enhanced_).first(n * snip_pixels);
    const std::span indices = std::span(indices_).first(n * snip_pixels);
    const std::span foreground = std::span(foreground_).first(n * cells);
    const std::span placements = std::span(placements_).first(n);
    const std::span cores = std::span(cores_).first(n);
    const std::span averages = std::span(averages_).first(n * orientation_size);
    const std::span registered = std::span(registered_).first(n * orientation_size);
    const std::span fine = std::span(fine_).first(n * 2 * fine_size);
    const std::span whorls = std::span(whorls_).first(n);
    const std::span outputs = std::span(outputs_).first(n);
    segment(dev, pages, snips, foreground, placements);
    enhance(dev, snips, enhanced);
    find_orientations(dev, enhanced, indices);
    average_orientations(dev, indices, {}, averages);
    find_cores(dev, averages, cores);
    average_orientations(dev, indices, cores, registered);
    transform(dev, network.transform, registered, features_);
    evaluate(dev, network, features_, outputs);
    average_finely(dev, indices, fine);
    trace_ridges(dev, fine, foreground, whorls);
    for (std::size_t i = 0; i < n; ++i) {
      classification& result = results[i];
      result.place = placements[i];
      if (placements[i].failure != nullptr) {
        result.reason = placements[i].failure;
        std::fill_n(averages.begin() + static_cast<std::ptrdiff_t>(i * orientation_size), orientation_size,
                    0.0F);
        continue;
      }
      result.core = cores[i];
      combine(outputs[i], whorls[i] != 0, result);
    }
    if (verify) prove_patterns(dev, network, results, registered);
  }

  std::span<const float> averages() const { return averages_; }

 private:
  template <class Network>
  static void prove_patterns(const device& dev, const Network& network, std::span<classification> results,
                             std::span<const float> registered) {
    std::vector<int> patterns;
    for (const classification& c : results) patterns.push_back(std::max(c.network_pattern, 0));
    std::vector<std::uint8_t> proved(results.size());
    prove(dev, network, registered, patterns, proved);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i].proved = results[i].pattern >= 0 && (results[i].whorl || proved[i] != 0);
  }

  std::vector<std::uint8_t> snips_, enhanced_, indices_, foreground_;
  std::vector<placement> placements_;
  std::vector<pixel> cores_;
  std::vector<float> averages_, registered_, fine_, features_;
  std::vector<std::uint8_t> whorls_;
  std::vector<class_outputs> outputs_;
};

}  // namespace

char letter(int pattern) { return pattern < 0 || pattern >= classes ? '?' : class_letters[pattern]; }

void combine(const class_outputs& outputs, bool whorl, classification& result) {
  constexpr float confidence_in_tracing_alone = 0.9F;
  const auto best = std::max_element(outputs.begin(), outputs.end());
  result.outputs = outputs;
  result.whorl = whorl;
  result.network_pattern = static_cast<int>(best - outputs.begin());
  result.pattern = whorl ? whorl_class : result.network_pattern;
  result.confidence = !whorl                                  ? *best
                      : result.network_pattern == whorl_class ? 1.0F
                                                              : confidence_in_tracing_alone;
}

void classify(const device& dev, const model& networks, network_kind kind, std::span<const grey_image> pages,
              std::span<classification> results, std::span<float> orientations, bool verify) {
  const ieee_environment here;
  const std::size_t n = pages.size();
  require_elements("classify", "results", results.size(), n, 1);
  if (!orientations.empty())
    require_elements("classify", "orientations", orientations.size(), n, orientation_size);
  if (kind == network_kind::perceptron ? !networks.perceptron : !networks.probabilistic)
    throw value_error("classify: the model lacks this network");
  const std::size_t chunk = std::min(n, std::size_t{8} * static_cast<std::size_t>(dev.threads()));
  workspace work(chunk);
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t count = std::min(chunk, n - first);
    if (kind == network_kind::perceptron)
      work.classify(dev, *networks.perceptron, pages.subspan(first, count), results.subspan(first, count),
                    verify);
    else
      work.classify(dev, *networks.probabilistic, pages.subspan(first, count), results.subspan(first, count),
                    verify);
    if (!orientations.empty())
      std::ranges::copy(work.averages().first(count * orientation_size),
                        orientations.begin() + static_cast<std::ptrdiff_t>(first * orientation_size));
  }
}

}  // namespace vouch::fingerprint
