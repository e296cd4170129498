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
      0;  // the network's largest output; 1 for a whorl that was traced, 0.9 where the network disagrees
  bool whorl = false;  // traced
  int network_pattern = -1;
  bool proved = false;  // asked for, and no rounding behind the orientations could have changed the pattern
  class_outputs outputs{};
  pixel core{};  // in the snip
  placement place{};
  std::string reason;  // why pattern is -1
};

/// 'A', 'L', 'R', 'S', 'T', 'W', or '?' for -1.
char letter(int pattern);

/// What tracing and a network say together. The first of equal outputs counts.
void combine(const class_outputs& outputs, bool whorl, classification& result);

/// Classifies prints.
///
/// Shapes  n pages; n results; orientations: n * 1680, or nothing
/// Memory  Some 1.1 MB for each of the prints in work, eight times as many as threads.
/// Result  The same bits for any number of threads. A page that shows no print, or is too small or large, gets a
///         result without a pattern.
///         orientations becomes averages before registration; 0 where there is no print.
///         verify asks for proofs: of the network's class, see prove(); a traced whorl is one by the rule, as traced.
/// Cost    About 3 ms a print and core.
/// Throws  value_error  the model lacks that network
///         cancelled
void classify(const device& dev, const model& networks, network_kind kind, std::span<const grey_image> pages,
              std::span<classification> results, std::span<float> orientations = {}, bool verify = false);

}  // namespace fingerprint
}  // namespace vouch
