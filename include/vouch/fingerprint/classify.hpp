// vouch/fingerprint/classify.hpp -- the pattern of fingerprints: all stages from the page to class and confidence.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/model.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

enum class network_kind { perceptron, probabilistic };

struct classification {
  int pattern = -1;  // index into class_letters; -1 where there is no print
  float confidence =
      0;               // the network's largest output; of a traced whorl 1, or 0.9 where the network disagrees
  bool whorl = false;  // traced
  int network_pattern = -1;  // of the largest output
  bool proved = false;       // asked for and found, see classify()
  class_outputs outputs{};
  pixel core{};  // in the snip
  placement place{};
  bool unread = false;  // the file could not be read
  std::string reason;   // why pattern is -1
};

/// 'A', 'L', 'R', 'S', 'T', 'W', or '?' for -1.
char letter(int pattern);

/// What tracing and a network say together. The first of equal outputs counts.
void combine(const class_outputs& outputs, bool whorl, classification& result);

/// Classifies prints, each by one thread from its page to its class.
///
/// Shapes  n pages; n results; orientations: n * 1680, or nothing
/// Memory  About 1 MB a thread, besides the network.
/// Result  The same bits for any number of threads. A page that shows no print, or is too small or large, gets a
///         result without a pattern.
///         orientations becomes averages before registration; 0 where there is no print.
///         With verify, proved is true where exact arithmetic on the registered averages gives the same pattern: by
///         prove(), or because the whorl was traced, which no network can change. Stages before the network are not
///         proved.
/// Cost    About 3 ms a print and core.
/// Throws  value_error  the model lacks that network
///         shape_error  also where a page has not width * height pixels
///         error        proofs are asked for, and the build has no MPFR
///         cancelled
void classify(const device& dev, const model& networks, network_kind kind, std::span<const grey_image> pages,
              std::span<classification> results, std::span<float> orientations = {}, bool verify = false);

/// The same of files, as read_grey_image() takes them, each read by the thread that classifies it.
///
/// Memory  Besides, the largest file of a thread, its pixels and, for WSQ, 12 bytes for each of them.
/// Result  A file that cannot be read gets a result without a pattern, and reason has what was wrong.
void classify_files(const device& dev, const model& networks, network_kind kind,
                    std::span<const std::string> files, raw_size raw, std::span<classification> results,
                    std::span<float> orientations = {}, bool verify = false);

}  // namespace fingerprint
}  // namespace vouch
