// vouch/fingerprint/train.hpp -- a probabilistic network out of prints whose classes are known.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/grey_image.hpp>
#include <vouch/fingerprint/networks.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// Registered orientations of prints, 1,680 numbers each, what they are, and which belong together: prints of one card
/// or finger never judge each other.
struct training_prints {
  std::vector<float> averages;
  std::vector<std::uint8_t> classes;
  std::vector<int> groups;
  std::vector<std::uint8_t> mirrored;  // 1: made of another print by mirroring

  std::size_t size() const { return classes.size(); }
};

/// Takes prints through the stages; with their mirror images, too, where asked for: left loops become right ones.
///
/// Shapes  as many pages, classes and groups
/// Result  Pages that show no print are left out.
/// Throws  shape_error  also where a page has not width * height pixels
///         value_error  a class is none
///         cancelled
training_prints prepare_prints(const device& dev, std::span<const grey_image> pages,
                               std::span<const std::uint8_t> classes, std::span<const int> groups, bool mirror);

/// The same of files, as read_grey_image() takes them, each read by the thread that takes it through the stages.
///
/// Shapes  as many files, classes, groups and reasons
/// Memory  a page a thread
/// Result  reasons[i] becomes what was wrong with a file that cannot be read, and is left out; else "".
training_prints prepare_files(const device& dev, std::span<const std::string> files, raw_size raw,
                              std::span<const std::uint8_t> classes, std::span<const int> groups, bool mirror,
                              std::span<std::string> reasons);

struct training_options {
  int features = 64;
  bool regional_weights = true;
};

/// The transform by the eigenvectors of the covariance with the largest eigenvalues, times weights of 14 x 15 regions;
/// all prints are the prototypes. Weights, by at most 12 steps of gradient descent, and smoothing factor make the mean
/// of (1 - p)^2 small, p being the share of a print's own class among the prototypes of other groups.
///
/// Result  The same bits for any number of threads.
/// Memory  Sixteen bytes for each pair of prints, 13 kB for each print, 45 MB for the covariance.
/// Cost    Half a second for the eigenvectors, and n^2 * features for each of some 40 evaluations
/// Throws  shape_error; cancelled
///         value_error  fewer than two groups or classes, features that are not from 1 to 1680, or no LAPACK
/// Source  Candela and others, NISTIR 5647, 1995, sections 3.5 to 3.7
pnn train(const device& dev, const training_prints& prints, const training_options& options = {});

/// Answers of a cross-validation beside the classes, of prints that are no mirror images.
struct validation {
  std::vector<std::uint8_t> classes;
  std::vector<class_outputs> outputs;
};

/// Trains as often as there are folds, each time without a part of the groups, which then are classified.
///
/// Throws  value_error  fewer groups than folds, fewer than two folds; and as train()
validation cross_validate(const device& dev, const training_prints& prints, int folds,
                          const training_options& options = {});

}  // namespace fingerprint
}  // namespace vouch
