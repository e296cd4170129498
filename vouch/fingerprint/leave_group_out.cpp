#include <vouch/fingerprint/leave_group_out.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/fingerprint/batch.hpp>

namespace vouch::fingerprint {
namespace {

// The region of a number of an orientation array.
std::size_t region_of(std::size_t at) {
  const std::size_t square = at % grid_size;
  return square / grid_columns / 2 * region_columns + square % grid_columns / 2;
}

}  // namespace

feature_matrix weighted(feature_matrix transform, const weight_vector& weights) {
  for (std::size_t i = 0; i < transform.values.size(); ++i)
    transform.values[i] *= static_cast<float>(weights[region_of(i % orientation_size)]);
  return transform;
}

leave_group_out::leave_group_out(const device& dev, const training_prints& prints, int features)
    : dev_(dev), prints_(prints), width_(static_cast<std::size_t>(features)), n_(prints.size()) {
  distances_.resize(n_ * n_);
  features_.resize(n_ * width_);
}

void leave_group_out::set_transform(const feature_matrix& transform) {
  fingerprint::transform(dev_, transform, prints_.averages, features_);
  for_each_print(dev_, n_, [&](std::size_t i) {
    for (std::size_t j = 0; j < i; ++j)
      distances_[i * n_ + j] = distances_[j * n_ + i] = squared_distance(i, j);
  });
}

double leave_group_out::error(double smoothing) const {
  std::vector<double> errors(n_);
  for_each_print(dev_, n_, [&](std::size_t i) {
    const shares s = shares_of(i, smoothing);
    errors[i] = (1 - s.own / s.all) * (1 - s.own / s.all);
  });
  double sum = 0;
  for (const double e : errors) sum += e;
  return sum / static_cast<double>(n_);
}

weight_vector leave_group_out::gradient(double smoothing, const feature_matrix& unweighted) const {
  std::vector<double> by_distance(n_ * n_), of_print(n_ * regions);
  for_each_print(dev_, n_, [&](std::size_t i) { differentiate(i, smoothing, &by_distance[i * n_]); });
  for_each_print<gradient_scratch>(dev_, n_, [&](std::size_t i, gradient_scratch& sum) {
    sum.by_features.assign(width_, 0);
    sum.by_orientations.assign(orientation_size, 0);
    for (std::size_t j = 0; j < n_; ++j) {
      const double both = 2 * (by_distance[i * n_ + j] + by_distance[j * n_ + i]);
      if (both == 0) continue;
      for (std::size_t k = 0; k < width_; ++k)
        sum.by_features[k] += both * (static_cast<double>(feature(i, k)) - static_cast<double>(feature(j, k)));
    }
    for (std::size_t k = 0; k < width_; ++k)
      for (std::size_t q = 0; q < orientation_size; ++q)
        sum.by_orientations[q] +=
            sum.by_features[k] * static_cast<double>(unweighted.values[k * orientation_size + q]);
    for (std::size_t q = 0; q < orientation_size; ++q)
      of_print[i * regions + region_of(q)] +=
          sum.by_orientations[q] * static_cast<double>(prints_.averages[i * orientation_size + q]);
  });
  weight_vector sum{};
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t r = 0; r < regions; ++r) sum[r] += of_print[i * regions + r];
  return sum;
}

double leave_group_out::squared_distance(std::size_t i, std::size_t j) const {
  double sum = 0;
  for (std::size_t k = 0; k < width_; ++k) {
    const double apart = static_cast<double>(feature(i, k)) - static_cast<double>(feature(j, k));
    sum += apart * apart;
  }
  return sum;
}

leave_group_out::shares leave_group_out::shares_of(std::size_t i, double smoothing) const {
  shares s;
  s.nearest = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < n_; ++j)
    if (judges(j, i)) s.nearest = std::min(s.nearest, distances_[i * n_ + j]);
  for (std::size_t j = 0; j < n_; ++j) {
    if (!judges(j, i)) continue;
    const double term = std::exp(-smoothing * (distances_[i * n_ + j] - s.nearest));
    s.all += term;
    if (prints_.classes[j] == prints_.classes[i]) s.own += term;
  }
  return s;
}

// by_distance[j]: the derivative of the error with respect to the squared distance from i to j, where i is classified.
void leave_group_out::differentiate(std::size_t i, double smoothing, double* by_distance) const {
  const shares s = shares_of(i, smoothing);
  const double share = s.own / s.all, by_share = -2 * (1 - share) / static_cast<double>(n_);
  for (std::size_t j = 0; j < n_; ++j) {
    by_distance[j] = 0;
    if (!judges(j, i)) continue;
    const double term = std::exp(-smoothing * (distances_[i * n_ + j] - s.nearest)) / s.all;
    const double same = prints_.classes[j] == prints_.classes[i] ? 1 : 0;
    by_distance[j] = by_share * (same - share) * -smoothing * term;
  }
}

}  // namespace vouch::fingerprint
