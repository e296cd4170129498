// vouch/fingerprint/leave_group_out.hpp -- how well prints are classified by prints of other groups; private.
#pragma once
#include <array>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/fingerprint/networks.hpp>
#include <vouch/fingerprint/stages.hpp>
#include <vouch/fingerprint/train.hpp>

namespace vouch::fingerprint {

/// Regions of 2 x 2 squares, whose orientations have one weight.
inline constexpr int region_columns = grid_columns / 2, region_rows = grid_rows / 2,
                     regions = region_columns * region_rows;
using weight_vector = std::array<double, regions>;

/// transform, its columns multiplied by the weights of their regions.
feature_matrix weighted(feature_matrix transform, const weight_vector& weights);

/// The error of a probabilistic network whose prototypes are all prints of other groups than the one that is
/// classified, and its gradient.
///
/// Memory  Eight bytes for each pair of prints; as many again while a gradient is computed.
/// Result  The same bits for any number of threads.
class leave_group_out {
 public:
  leave_group_out(const device& dev, const training_prints& prints, int features);

  void set_transform(const feature_matrix& transform);

  /// The mean of (1 - p)^2, p being the share of a print's own class.
  double error(double smoothing) const;
  /// The derivatives of the error with respect to the weights of the regions, for features of
  /// weighted(unweighted, weights).
  weight_vector gradient(double smoothing, const feature_matrix& unweighted) const;

  const std::vector<float>& features() const { return features_; }

 private:
  struct shares {
    double nearest = 0, own = 0, all = 0;  // sums of Gaussians, times the inverse of the largest
  };
  struct gradient_scratch {
    std::vector<double> by_features, by_orientations;
  };

  float feature(std::size_t i, std::size_t k) const { return features_[i * width_ + k]; }
  bool judges(std::size_t j, std::size_t i) const { return prints_.groups[j] != prints_.groups[i]; }
  double squared_distance(std::size_t i, std::size_t j) const;
  shares shares_of(std::size_t i, double smoothing) const;
  void differentiate(std::size_t i, double smoothing, double* by_distance) const;

  device dev_;
  const training_prints& prints_;
  std::size_t width_, n_;
  std::vector<double> distances_;
  std::vector<float> features_;
};

}  // namespace vouch::fingerprint
