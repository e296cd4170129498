#include <algorithm>

#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>
#include <vouch/fingerprint/gpu_classifier.hpp>
#include <vouch/fingerprint/verify.hpp>

namespace vouch::fingerprint::gpu {
namespace {

// One is copied, one is in work, and of one the results are taken.
constexpr std::size_t groups = 3;
// Of pages from the host: what is left to do when the last one has come is little.
constexpr std::size_t most_to_follow = 256;

template <class T>
std::int64_t all_of(const T& count, std::int64_t each) {
  return static_cast<std::int64_t>(count) * each;
}

network network_of(const device& dev, const model& networks, network_kind kind) {
  if (kind == network_kind::perceptron) return network(dev, *networks.perceptron);
  return network(dev, *networks.probabilistic);
}

bool is_on_gpu(const void* memory) {
  cudaPointerAttributes attributes = {};
  check(cudaPointerGetAttributes(&attributes, memory), "asking where pages are");
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

// In stream order; from pinned memory nobody waits.
void copy_there(const device& dev, void* to, const void* from, std::size_t bytes) {
  check(cudaSetDevice(dev.index()), "copying pages");
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(dev.stream())),
        "copying pages");
}

template <class T>
std::vector<T> copied_back(const device& dev, const array<T>& from, std::size_t count) {
  std::vector<T> values(count);
  copy_bytes(values.data(), device::cpu(1), from.data(), dev, count * sizeof(T));
  return values;
}

}  // namespace

group::group(const device& own, std::int64_t most, int feature_stride)
    : dev(own),
      most_prints(most),
      pages(own, most),
      places(own, most),
      snips(own, all_of(most, snip_pixels)),
      enhanced(array<std::uint8_t>::zeros(own, all_of(most, snip_pixels))),
      indices(own, all_of(most, snip_pixels)),
      foreground(own, all_of(most, cells)),
      whorls(own, most),
      averages(own, all_of(most, orientation_size)),
      registered(own, all_of(most, orientation_size)),
      fine(own, all_of(most, 2 * fine_size)),
      features(own, all_of(most, feature_stride)),
      cores(own, most),
      outputs(own, most) {}

classifier::classifier(const device& dev, const model& networks, network_kind kind, std::size_t most_prints)
    : dev_(dev), network_(network_of(dev, networks, kind)), most_prints_(most_prints) {
  if (kind == network_kind::perceptron) {
    perceptron_ = networks.perceptron;
    inputs_ = networks.perceptron->hidden.columns;
  } else {
    probabilistic_ = networks.probabilistic;
    inputs_ = networks.probabilistic->prototypes.columns;
  }
  dev_.synchronize();  // other streams read the network
}

// begin(group) enqueues a group's prints; while some are in work, the results of another are taken. Nothing is in work
// when it ends, by an exception either: copies read memory of the caller's.
template <class Begin>
void classifier::classify_groups(std::size_t prints, std::size_t most, const request& r, const Begin& begin) {
  const std::size_t at_a_time = std::min({most_prints_, prints, most});
  if (!groups_.empty() && groups_.front().most_prints < static_cast<std::int64_t>(at_a_time)) groups_.clear();
  while (groups_.size() < groups && at_a_time * groups_.size() < prints)
    groups_.emplace_back(device::cuda(dev_.index()), static_cast<std::int64_t>(at_a_time),
                         network_.feature_stride());
  try {
    std::size_t next = 0;
    for (std::size_t first = 0; first < prints; first += at_a_time, ++next) {
      group& g = groups_[next % groups_.size()];
      finish(g, r);
      g.first = first;
      g.count = std::min(at_a_time, prints - first);
      begin(g);
    }
    for (std::size_t k = 0; k < groups_.size(); ++k) finish(groups_[(next + k) % groups_.size()], r);
  } catch (...) {
    for (group& g : groups_) {
      g.dev.synchronize();
      g.count = 0;
    }
    throw;
  }
}

void classifier::enqueue(group& g, const std::vector<page_on_gpu>& pages) {
  int most_width = 0, most_height = 0;
  for (const page_on_gpu& page : pages) {
    if (page.state != segmentation::found) continue;
    most_width = std::max(most_width, page.width);
    most_height = std::max(most_height, page.height);
  }
  const auto n = static_cast<std::int64_t>(g.count);
  copy_there(g.dev, g.pages.data(), pages.data(), pages.size() * sizeof(page_on_gpu));
  segment(g.dev, n, most_width, most_height, g.pages.data(), g.snips.data(), g.foreground.data(),
          g.places.data());
  gpu::enhance(g.dev, n, g.snips.data(), g.enhanced.data());
  gpu::find_orientations(g.dev, n, g.enhanced.data(), g.indices.data());
  gpu::average_orientations(g.dev, n, g.indices.data(), nullptr, g.averages.data());
  gpu::find_cores(g.dev, n, g.averages.data(), g.cores.data());
  gpu::average_orientations(g.dev, n, g.indices.data(), g.cores.data(), g.registered.data());
  network_.transform(g.dev, n, g.registered.data(), g.features.data());
  network_.evaluate(g.dev, n, g.features.data(), g.outputs.data());
  gpu::average_finely(g.dev, n, g.indices.data(), g.fine.data());
  gpu::trace_ridges(g.dev, n, g.fine.data(), g.foreground.data(), g.whorls.data());
}

void classifier::upload(group& g, std::span<const grey_image> pages) {
  std::vector<page_on_gpu> there;
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
  for (const grey_image& page : pages) {
    constexpr std::int64_t unit = 16;  // a row that begins there is read by eights
    offsets.push_back(bytes);
    if (judge_size(page.width, page.height) == segmentation::found)
      bytes += (static_cast<std::int64_t>(page.pixels.size()) + unit - 1) / unit * unit;
  }
  if (g.pixels.size() < bytes) g.pixels = array<std::uint8_t>(g.dev, bytes);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const segmentation state = judge_size(pages[i].width, pages[i].height);
    std::uint8_t* const to = g.pixels.data() + offsets[i];
    if (state == segmentation::found) copy_there(g.dev, to, pages[i].pixels.data(), pages[i].pixels.size());
    there.push_back({to, pages[i].width, pages[i].height, state});
  }
  enqueue(g, there);
}

void classifier::finish(group& g, const request& r) {
  if (g.count == 0) return;
  g.dev.synchronize();
  const std::size_t n = g.count;
  const auto places = copied_back(g.dev, g.places, n);
  const auto cores = copied_back(g.dev, g.cores, n);
  const auto outputs = copied_back(g.dev, g.outputs, n);
  const auto whorls = copied_back(g.dev, g.whorls, n);
  const std::span results = r.results.subspan(g.first, n);
  for (std::size_t i = 0; i < n; ++i) {
    classification& result = results[i];
    result = {};
    result.place = placement_of(places[i]);
    if (result.place.failure != nullptr) {
      result.reason = result.place.failure;
      continue;
    }
    result.core = cores[i];
    combine(outputs[i], whorls[i] != 0, result);
  }
  if (!r.orientations.empty()) {
    const std::span to = r.orientations.subspan(g.first * orientation_size, n * orientation_size);
    copy_bytes(to.data(), device::cpu(1), g.averages.data(), g.dev, to.size_bytes());
    for (std::size_t i = 0; i < n; ++i)
      if (results[i].pattern < 0) std::ranges::fill(to.subspan(i * orientation_size, orientation_size), 0.0F);
  }
  if (r.verify) prove_group(g, results);
  g.count = 0;
}

void classifier::prove_group(const group& g, std::span<classification> results) const {
  const auto registered = copied_back(g.dev, g.registered, results.size() * orientation_size);
  std::vector<int> patterns;
  std::vector<float> averages;
  std::vector<classification*> open;
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].proved = results[i].whorl;
    if (results[i].pattern < 0 || results[i].whorl) continue;
    const auto first = registered.begin() + static_cast<std::ptrdiff_t>(i * orientation_size);
    averages.insert(averages.end(), first, first + orientation_size);
    patterns.push_back(results[i].network_pattern);
    open.push_back(&results[i]);
  }
  std::vector<std::uint8_t> proved(open.size());
  if (perceptron_)
    prove(device::cpu(), *perceptron_, averages, patterns, proved);
  else
    prove(device::cpu(), *probabilistic_, averages, patterns, proved);
  for (std::size_t i = 0; i < open.size(); ++i) open[i]->proved = proved[i] != 0;
}

void classifier::classify(std::span<const grey_image> pages, std::span<classification> results,
                          std::span<float> orientations, bool verify) {
  classify_groups(pages.size(), most_to_follow, {results, orientations, verify},
                  [&](group& g) { upload(g, pages.subspan(g.first, g.count)); });
}

void classifier::classify(const std::uint8_t* pixels, int width, int height,
                          std::span<classification> results) {
  const segmentation state = judge_size(width, height);
  const std::int64_t each = std::int64_t{width} * height;
  const bool there = results.empty() || is_on_gpu(pixels);
  if (there) dev_.synchronize();  // whatever fills them
  classify_groups(results.size(), there ? most_prints_ : most_to_follow, {results, {}, false}, [&](group& g) {
    const std::uint8_t* first = pixels + static_cast<std::int64_t>(g.first) * each;
    const std::int64_t bytes = static_cast<std::int64_t>(g.count) * each;
    if (!there) {
      if (g.pixels.size() < bytes) g.pixels = array<std::uint8_t>(g.dev, bytes);
      copy_there(g.dev, g.pixels.data(), first, static_cast<std::size_t>(bytes));
      first = g.pixels.data();
    }
    std::vector<page_on_gpu> pages;
    for (std::size_t i = 0; i < g.count; ++i)
      pages.push_back({first + static_cast<std::int64_t>(i) * each, width, height, state});
    enqueue(g, pages);
  });
}

void classifier::evaluate(const float* features, std::int64_t prints, class_outputs* outputs) {
  if (inputs_ % row_unit != 0)
    throw value_error("evaluate: rows of features are read where their number is a multiple of 16");
  network_.evaluate(dev_, prints, features, outputs);
}

}  // namespace vouch::fingerprint::gpu
