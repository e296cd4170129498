#include <vouch/fingerprint/classify.hpp>

#include <algorithm>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/batch_classifier.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

// What a thread keeps from print to print.
struct thread_scratch {
  print_scratch stages;
  grey_image_reader reader;
  grey_image page;
};

template <class Network>
void classify_print(const Network& network, const grey_image& page, bool verify, print_scratch& s,
                    classification& result) {
  result.place = s.register_print(page, result.core);
  if (result.place.failure != nullptr) {
    result.reason = result.place.failure;
    return;
  }
  s.features.resize(static_cast<std::size_t>(network.transform.rows));
  transform_print(network.transform, s.registered.data(), s.features.data());
  average_print_finely(s.indices.data(), s.fine.data());
  combine(outputs_of(network, s.features.data(), s.nodes), is_whorl(s.fine.data(), s.foreground.data()),
          result);
  if (verify) result.proved = result.whorl || is_proved(network, s.registered.data(), result.network_pattern);
}

// Whether there is a page; if not, result says why.
bool read_page(const std::string& file, raw_size raw, thread_scratch& own, classification& result) {
  result.reason = own.reader.try_read(file, raw, own.page);
  result.unread = !result.reason.empty();
  return !result.unread;
}

// Pages of files are read by all threads of the CPU; those that cannot be read are pages without pixels.
void classify_files_on_gpu(batch_classifier& there, std::span<const std::string> files, raw_size raw,
                           std::span<classification> results, std::span<float> orientations, bool verify) {
  std::vector<grey_image> pages(files.size());
  std::vector<classification> unread(files.size());
  for_each_print<thread_scratch>(device::cpu(), files.size(), [&](std::size_t i, thread_scratch& own) {
    if (read_page(files[i], raw, own, unread[i])) pages[i] = std::move(own.page);
  });
  there.classify(pages, results, orientations, verify);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (unread[i].unread) results[i] = unread[i];
}

// page_of(i, scratch, result) is a page, or nullptr where the result is complete.
template <class Network, class PageOf>
void classify_each(const device& dev, const Network& network, const PageOf& page_of,
                   std::span<classification> results, std::span<float> orientations, bool verify) {
  if (!orientations.empty())
    require_elements("classify", "orientations", orientations.size(), results.size(), orientation_size);
  if (verify) require_proofs("classify");
  for_each_print<thread_scratch>(dev, results.size(), [&](std::size_t i, thread_scratch& own) {
    results[i] = {};
    if (const grey_image* page = page_of(i, own, results[i]))
      classify_print(network, *page, verify, own.stages, results[i]);
    if (orientations.empty()) return;
    const auto field = orientations.subspan(i * orientation_size, orientation_size);
    if (results[i].pattern >= 0)
      std::ranges::copy(own.stages.averages, field.begin());
    else
      std::ranges::fill(field, 0.0F);
  });
}

template <class PageOf>
void classify_by(const device& dev, const model& networks, network_kind kind, const PageOf& page_of,
                 std::span<classification> results, std::span<float> orientations, bool verify) {
  require_network_of(networks, kind);
  if (kind == network_kind::perceptron)
    classify_each(dev, *networks.perceptron, page_of, results, orientations, verify);
  else
    classify_each(dev, *networks.probabilistic, page_of, results, orientations, verify);
}

}  // namespace

void require_network_of(const model& networks, network_kind kind) {
  if (kind == network_kind::perceptron ? !networks.perceptron : !networks.probabilistic)
    throw value_error("classify: the model lacks this network");
  if (kind == network_kind::perceptron)
    require_whole_network("classify", *networks.perceptron);
  else
    require_whole_network("classify", *networks.probabilistic);
}

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
  require_elements("classify", "results", results.size(), pages.size(), 1);
  require_pages("classify", pages);
  if (dev.is_cuda())
    return batch_classifier(dev, networks, kind).classify(pages, results, orientations, verify);
  classify_by(
      dev, networks, kind, [&](std::size_t i, thread_scratch&, classification&) { return &pages[i]; }, results,
      orientations, verify);
}

void classify_files(const device& dev, const model& networks, network_kind kind,
                    std::span<const std::string> files, raw_size raw, std::span<classification> results,
                    std::span<float> orientations, bool verify) {
  const ieee_environment here;
  require_elements("classify_files", "results", results.size(), files.size(), 1);
  if (dev.is_cuda()) {
    batch_classifier there(dev, networks, kind);
    constexpr std::size_t at_a_time = 1024;  // pages in the host's memory
    for (std::size_t first = 0; first < files.size(); first += at_a_time) {
      const std::size_t count = std::min(at_a_time, files.size() - first);
      const auto fields = orientations.empty()
                              ? orientations
                              : orientations.subspan(first * orientation_size, count * orientation_size);
      classify_files_on_gpu(there, files.subspan(first, count), raw, results.subspan(first, count), fields,
                            verify);
    }
    return;
  }
  classify_by(
      dev, networks, kind,
      [&](std::size_t i, thread_scratch& own, classification& result) -> const grey_image* {
        return read_page(files[i], raw, own, result) ? &own.page : nullptr;
      },
      results, orientations, verify);
}

}  // namespace vouch::fingerprint
