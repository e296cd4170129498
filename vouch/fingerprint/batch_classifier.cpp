#include <vouch/fingerprint/batch_classifier.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_classifier.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {

batch_classifier::batch_classifier(const device& dev, const model& networks, network_kind kind,
                                   std::size_t most_prints) {
  const ieee_environment here;
  if (!dev.is_cuda()) throw value_error("batch_classifier: classify() is for the CPU");
  if (most_prints == 0) throw value_error("batch_classifier: at least one print at a time");
  require_network_of(networks, kind);
  if constexpr (built_with_cuda) there_ = std::make_unique<gpu::classifier>(dev, networks, kind, most_prints);
}

batch_classifier::~batch_classifier() = default;

void batch_classifier::classify(std::span<const grey_image> pages, std::span<classification> results,
                                std::span<float> orientations, bool verify) {
  const ieee_environment here;
  require_elements("classify", "results", results.size(), pages.size(), 1);
  if (!orientations.empty())
    require_elements("classify", "orientations", orientations.size(), results.size(), orientation_size);
  require_pages("classify", pages);
  if (verify) require_proofs("classify");
  if constexpr (built_with_cuda) there_->classify(pages, results, orientations, verify);
}

void batch_classifier::classify(const std::uint8_t* pixels, int width, int height,
                                std::span<classification> results) {
  const ieee_environment here;
  if (width < 1 || height < 1) throw shape_error("classify: pages without pixels");
  if constexpr (built_with_cuda) there_->classify(pixels, width, height, results);
}

void batch_classifier::evaluate(const float* features, std::int64_t prints, class_outputs* outputs) {
  const ieee_environment here;
  if constexpr (built_with_cuda) there_->evaluate(features, prints, outputs);
}

}  // namespace vouch::fingerprint
