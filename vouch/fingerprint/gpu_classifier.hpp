// vouch/fingerprint/gpu_classifier.hpp -- all stages of groups of prints on a GPU; private.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/gpu_networks.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>

namespace vouch::fingerprint::gpu {

/// What lies between the stages of a group of prints, on a stream of its own.
struct group {
  device dev;
  std::int64_t most_prints;
  array<std::uint8_t> pixels;  // of pages that come from the host
  array<page_on_gpu> pages;
  array<placement_on_gpu> places;
  array<std::uint8_t> snips, enhanced, indices, foreground, whorls;
  array<float> averages, registered, fine, features;
  array<pixel> cores;
  array<class_outputs> outputs;
  std::size_t first = 0, count = 0;  // of the prints in work; none: 0

  group(const device& dev, std::int64_t most_prints, int feature_stride);
};

/// See batch_classifier.
class classifier {
 public:
  classifier(const device& dev, const model& networks, network_kind kind, std::size_t most_prints);

  void classify(std::span<const grey_image> pages, std::span<classification> results,
                std::span<float> orientations, bool verify);
  void classify(const std::uint8_t* pixels, int width, int height, std::span<classification> results);
  void evaluate(const float* features, std::int64_t prints, class_outputs* outputs);

 private:
  // What is asked for of all prints.
  struct request {
    std::span<classification> results;
    std::span<float> orientations;
    bool verify = false;
  };

  template <class Begin>
  void classify_groups(std::size_t prints, std::size_t most, const request& r, const Begin& begin);
  void upload(group& g, std::span<const grey_image> pages);
  void enqueue(group& g, const std::vector<page_on_gpu>& pages);
  void finish(group& g, const request& r);
  void prove_group(const group& g, std::span<classification> results) const;

  device dev_;
  std::optional<mlp> perceptron_;  // for proofs
  std::optional<pnn> probabilistic_;
  network network_;
  int inputs_;
  std::size_t most_prints_;
  std::vector<group> groups_;
};

}  // namespace vouch::fingerprint::gpu
