// vouch/fingerprint/networks.hpp -- features of a registered print, and the two networks that classify them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// Patterns in the order of the published files: arch, left and right loop, scar, tented arch, whorl.
inline constexpr int classes = 6;
inline constexpr char class_letters[classes + 1] = "ALRSTW";
inline constexpr int whorl_class = 5;

/// The number of a letter of class_letters, or -1.
int class_of(char letter);

/// A network's answer for each class.
using class_outputs = std::array<float, classes>;

/// A matrix by rows.
struct feature_matrix {
  int rows = 0;
  int columns = 0;
  std::vector<float> values;
};

/// A multi-layer perceptron with one hidden layer; the activation of a node is (1 + sin(sum / 2)) / 2 in both layers.
struct mlp {
  feature_matrix transform;  // features x 1680: the Karhunen-Loeve transform
  feature_matrix hidden;     // nodes x features
  std::vector<float> hidden_bias;
  feature_matrix output;  // classes x nodes
  std::vector<float> output_bias;
};

/// A probabilistic network (Specht 1990): a Gaussian about each prototype, summed by class.
struct pnn {
  feature_matrix transform;           // features x 1680: eigenvectors times regional weights
  feature_matrix prototypes;          // prototypes x features
  std::vector<std::uint8_t> classes;  // of the prototypes
  float smoothing = 1.368750F;        // what squared distances are multiplied by
};

/// features := matrix * averages, print by print: the Karhunen-Loeve transform.
///
/// Shapes  n * 1680 averages; n * rows features
/// Result  Sums in single precision in a fixed order, another one on a GPU than on the CPU.
/// Throws  shape_error
void transform(const device& dev, const feature_matrix& matrix, std::span<const float> averages,
               std::span<float> features);

/// The activations of the output nodes, from 0 to 1. Operands live in the host's memory on a GPU, too.
///
/// Shapes  n * hidden.columns features; n outputs
/// Throws  shape_error  also where a matrix does not fit the one before it
void evaluate(const device& dev, const mlp& network, std::span<const float> features,
              std::span<class_outputs> outputs);

/// The share of each class in the sum of Gaussians. All are multiplied by the inverse of the largest one, as a
/// log-sum-exp has it, so that a print far from all prototypes has shares, too.
///
/// Shapes  n * prototypes.columns features; n outputs
/// Memory  Four bytes a prototype and thread. On a GPU the network and 576 bytes a print.
/// Throws  shape_error
///         value_error  no prototypes, a smoothing factor that is not positive, a class that is none
void evaluate(const device& dev, const pnn& network, std::span<const float> features,
              std::span<class_outputs> outputs);

}  // namespace fingerprint
}  // namespace vouch
