// vouch/fingerprint/batch_classifier.hpp -- classifying on a GPU that keeps the network.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/classify.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

namespace gpu {
class classifier;
}

/// What classify() does on a GPU, for many calls: the network and the memory of the stages stay there. Three groups of
/// prints are in work on streams of their own, so that pages are copied while others are classified. One thread at a
/// time.
///
/// Memory  On the GPU, besides the network, three times most_prints times 0.8 MB and, for pages of the host, their
///         pixels.
/// Cost    Many prints at a time keep the GPU busier; of pages of the host at most 256, so that it is soon done when the
///         last one has come.
/// Throws  value_error    a device that is no GPU, no prints at a time, a network that the model lacks
///         out_of_memory
class batch_classifier {
 public:
  batch_classifier(const device& dev, const model& networks, network_kind kind, std::size_t most_prints = 1024);
  ~batch_classifier();
  batch_classifier(const batch_classifier&) = delete;
  batch_classifier& operator=(const batch_classifier&) = delete;

  /// As the function of that name. Proofs are made by all threads of the CPU.
  void classify(std::span<const grey_image> pages, std::span<classification> results,
                std::span<float> orientations = {}, bool verify = false);

  /// As many pages as results, all of one size and one behind the other, in the GPU's memory or in the host's; pinned
  /// memory is copied as fast as the bus allows. Pages that are there are complete on the device's stream.
  void classify(const std::uint8_t* pixels, int width, int height, std::span<classification> results);

  /// The network alone: features by rows of as many numbers as it has inputs, and outputs, both in the GPU's memory.
  /// Enqueued on the device's stream.
  ///
  /// Throws  value_error  the number of inputs is no multiple of 16
  void evaluate(const float* features, std::int64_t prints, class_outputs* outputs);

 private:
  std::unique_ptr<gpu::classifier> there_;
};

}  // namespace fingerprint
}  // namespace vouch
