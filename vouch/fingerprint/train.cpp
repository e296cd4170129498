#include <vouch/fingerprint/train.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr int region_columns = grid_columns / 2, region_rows = grid_rows / 2,
              regions = region_columns * region_rows;

// The region of a number of an orientation array.
int region_of(int at) {
  const int square = at % grid_size;
  return square / grid_columns / 2 * region_columns + square % grid_columns / 2;
}

grey_image mirror_image(const grey_image& page) {
  grey_image mirrored = page;
  for (int y = 0; y < page.height; ++y) {
    const auto first = mirrored.pixels.begin() + static_cast<std::ptrdiff_t>(y) * page.width;
    std::reverse(first, first + page.width);
  }
  return mirrored;
}

std::uint8_t mirror_class(std::uint8_t c) {
  constexpr std::uint8_t left = 1, right = 2;
  return c == left ? right : c == right ? left : c;
}

// Appends a print; nothing where there is none to be seen.
void append_print(const grey_image& page, std::uint8_t its_class, int group, bool mirrored,
                  training_prints& prints) {
  const device one = device::cpu(1);
  std::vector<std::uint8_t> snip(snip_pixels), enhanced(snip_pixels), indices(snip_pixels), foreground(cells);
  std::vector<placement> place(1);
  std::vector<pixel> core(1);
  std::vector<float> averages(orientation_size);
  segment(one, {&page, 1}, snip, foreground, place);
  if (place[0].failure != nullptr) return;
  enhance(one, snip, enhanced);
  find_orientations(one, enhanced, indices);
  average_orientations(one, indices, {}, averages);
  find_cores(one, averages, core);
  average_orientations(one, indices, core, averages);
  prints.averages.insert(prints.averages.end(), averages.begin(), averages.end());
  prints.classes.push_back(its_class);
  prints.groups.push_back(group);
  prints.mirrored.push_back(mirrored);
}

const float* print(const training_prints& prints, std::size_t i) {
  return &prints.averages[i * orientation_size];
}

std::vector<double> covariance(const device& dev, const training_prints& prints) {
  const std::size_t n = prints.size();
  std::vector<double> mean(orientation_size), centred(n * orientation_size);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < orientation_size; ++j) mean[j] += static_cast<double>(print(prints, i)[j]);
  for (double& m : mean) m /= static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < orientation_size; ++j)
      centred[i * orientation_size + j] = static_cast<double>(print(prints, i)[j]) - mean[j];
  std::vector<double> result(std::size_t{orientation_size} * orientation_size);
  for_each_print(dev, orientation_size, [&](std::size_t row) {
    double* sums = &result[row * orientation_size];
    for (std::size_t i = 0; i < n; ++i) {
      const double* one = &centred[i * orientation_size];
      for (std::size_t j = 0; j < orientation_size; ++j) sums[j] += one[row] * one[j];
    }
  });
  for (double& c : result) c /= static_cast<double>(n);
  return result;
}

// Rows are the eigenvectors of the largest eigenvalues, their largest element positive.
feature_matrix principal_directions(std::vector<double> matrix, int count) {
  std::vector<double> eigenvalues(orientation_size);
  if (lapack::syevd(device::cpu(1), orientation_size, matrix.data(), orientation_size, eigenvalues.data()) != 0)
    throw value_error("train: the eigenvectors of the covariance were not found");
  feature_matrix directions{count, orientation_size, {}};
  for (int k = 0; k < count; ++k) {
    const double* vector = &matrix[static_cast<std::size_t>(orientation_size - 1 - k) * orientation_size];
    const double largest = *std::max_element(vector, vector + orientation_size,
                                             [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (int j = 0; j < orientation_size; ++j)
      directions.values.push_back(static_cast<float>(largest < 0 ? -vector[j] : vector[j]));
  }
  return directions;
}

using weight_vector = std::array<double, regions>;

feature_matrix weighted(feature_matrix directions, const weight_vector& weights) {
  for (std::size_t i = 0; i < directions.values.size(); ++i)
    directions.values[i] *= static_cast<float>(
        weights[static_cast<std::size_t>(region_of(static_cast<int>(i % orientation_size)))]);
  return directions;
}

// Features of all prints, and what prints of other groups say of each.
class leave_group_out {
 public:
  leave_group_out(const device& dev, const training_prints& prints, int features)
      : dev_(dev), prints_(prints), width_(static_cast<std::size_t>(features)), n_(prints.size()) {
    distances_.resize(n_ * n_);
    features_.resize(n_ * width_);
  }

  void set_transform(const feature_matrix& transform) {
    fingerprint::transform(dev_, transform, prints_.averages, features_);
    for_each_print(dev_, n_, [&](std::size_t i) {
      for (std::size_t j = 0; j < n_; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < width_; ++k) {
          const double apart = static_cast<double>(feature(i, k)) - static_cast<double>(feature(j, k));
          sum += apart * apart;
        }
        distances_[i * n_ + j] = sum;
      }
    });
  }

  /// The mean of (1 - p)^2.
  double error(double smoothing) const {
    std::vector<double> errors(n_);
    for_each_print(dev_, n_, [&](std::size_t i) {
      const shares s = shares_of(i, smoothing);
      errors[i] = (1 - s.own / s.all) * (1 - s.own / s.all);
    });
    double sum = 0;
    for (const double e : errors) sum += e;
    return sum / static_cast<double>(n_);
  }

  /// The derivative of the error with respect to regional weights, features being those of weights of `directions`.
  weight_vector gradient(double smoothing, const feature_matrix& directions) const {
    std::vector<double> pull(n_ * n_);
    for_each_print(dev_, n_, [&](std::size_t i) { pulls(i, smoothing, &pull[i * n_]); });
    std::vector<double> of_print(n_ * regions);
    for_each_print(dev_, n_, [&](std::size_t i) {
      std::vector<double> of_features(width_), of_orientations(orientation_size);
      for (std::size_t j = 0; j < n_; ++j) {
        const double both = pull[i * n_ + j] + pull[j * n_ + i];
        if (both == 0) continue;
        for (std::size_t k = 0; k < width_; ++k)
          of_features[k] += both * (static_cast<double>(feature(i, k)) - static_cast<double>(feature(j, k)));
      }
      for (std::size_t k = 0; k < width_; ++k)
        for (std::size_t q = 0; q < orientation_size; ++q)
          of_orientations[q] +=
              of_features[k] * static_cast<double>(directions.values[k * orientation_size + q]);
      for (std::size_t q = 0; q < orientation_size; ++q)
        of_print[i * regions + static_cast<std::size_t>(region_of(static_cast<int>(q)))] +=
            of_orientations[q] * static_cast<double>(print(prints_, i)[q]);
    });
    weight_vector sum{};
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t r = 0; r < regions; ++r) sum[r] += of_print[i * regions + r];
    return sum;
  }

  std::span<const float> features() const { return features_; }

 private:
  struct shares {
    double nearest = 0, own = 0, all = 0;  // sums of Gaussians, times that of the nearest distance
  };

  float feature(std::size_t i, std::size_t k) const { return features_[i * width_ + k]; }
  bool judges(std::size_t j, std::size_t i) const { return prints_.groups[j] != prints_.groups[i]; }

  shares shares_of(std::size_t i, double smoothing) const {
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

  // pull[j]: the derivative of the error by the squared distance between i and j, as judged for i, times two.
  void pulls(std::size_t i, double smoothing, double* pull) const {
    const shares s = shares_of(i, smoothing);
    const double share = s.own / s.all, by_share = -2 * (1 - share) / static_cast<double>(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      pull[j] = 0;
      if (!judges(j, i)) continue;
      const double term = std::exp(-smoothing * (distances_[i * n_ + j] - s.nearest)) / s.all;
      const double same = prints_.classes[j] == prints_.classes[i] ? 1 : 0;
      pull[j] = 2 * by_share * (same - share) * -smoothing * term;
    }
  }

  device dev_;
  const training_prints& prints_;
  std::size_t width_, n_;
  std::vector<double> distances_;
  std::vector<float> features_;
};

// The best of factors a quarter apart, then of ever closer ones.
double best_smoothing(const leave_group_out& judge, double around) {
  double best = around, least = judge.error(around);
  const auto attempt = [&](double smoothing) {
    constexpr double smallest = 1e-6, largest = 1e6;
    if (!(smoothing > smallest && smoothing < largest)) return false;
    const double error = judge.error(smoothing);
    if (error < least) {
      least = error;
      best = smoothing;
      return true;
    }
    return false;
  };
  for (double step : {1.25, 1.05, 1.01}) {
    while (attempt(best * step)) {
    }
    while (attempt(best / step)) {
    }
  }
  return best;
}

struct weighting {
  weight_vector weights;
  double smoothing;
};

// Steps against the gradient, halved until they help.
weighting best_weights(leave_group_out& judge, const feature_matrix& directions) {
  constexpr int most_steps = 12;
  const cancellation_probe stop;
  weighting now{{}, 1};
  now.weights.fill(1);
  judge.set_transform(directions);
  now.smoothing = best_smoothing(judge, 1);
  double error = judge.error(now.smoothing), length = 1;
  for (int step = 0; step < most_steps && length > 1e-3; ++step) {
    const weight_vector slope = judge.gradient(now.smoothing, directions);
    double norm = 0;
    for (const double s : slope) norm += s * s;
    if (norm == 0) break;
    for (bool helped = false; !helped && length > 1e-3; length *= helped ? 1.5 : 0.5) {
      stop.check();
      weight_vector next = now.weights;
      for (std::size_t r = 0; r < regions; ++r)
        next[r] = std::max(0.0, next[r] - length * slope[r] / std::sqrt(norm));
      judge.set_transform(weighted(directions, next));
      const double there = judge.error(now.smoothing);
      helped = there < error;
      if (!helped) continue;
      error = there;
      now.weights = next;
    }
    judge.set_transform(weighted(directions, now.weights));
  }
  now.smoothing = best_smoothing(judge, now.smoothing);
  return now;
}

void require_prints(const training_prints& prints, const training_options& options) {
  const std::size_t n = prints.size();
  require_elements("train", "averages", prints.averages.size(), n, orientation_size);
  require_elements("train", "groups", prints.groups.size(), n, 1);
  require_elements("train", "marks of mirror images", prints.mirrored.size(), n, 1);
  if (options.features < 1 || options.features > orientation_size)
    throw value_error("train: from 1 to 1680 features can be had");
  const std::set<int> groups(prints.groups.begin(), prints.groups.end());
  const std::set<std::uint8_t> known(prints.classes.begin(), prints.classes.end());
  if (groups.size() < 2 || known.size() < 2)
    throw value_error("train: at least two groups and two classes are needed");
  if (*known.rbegin() >= classes) throw value_error("train: a class is not one of six");
}

training_prints part_of(const training_prints& prints, const std::vector<std::uint8_t>& chosen) {
  training_prints part;
  for (std::size_t i = 0; i < prints.size(); ++i) {
    if (!chosen[i]) continue;
    part.averages.insert(part.averages.end(), print(prints, i), print(prints, i) + orientation_size);
    part.classes.push_back(prints.classes[i]);
    part.groups.push_back(prints.groups[i]);
    part.mirrored.push_back(prints.mirrored[i]);
  }
  return part;
}

}  // namespace

training_prints prepare_prints(const device& dev, std::span<const grey_image> pages,
                               std::span<const std::uint8_t> known, std::span<const int> groups, bool mirror) {
  const ieee_environment here;
  require_elements("prepare_prints", "classes", known.size(), pages.size(), 1);
  require_elements("prepare_prints", "groups", groups.size(), pages.size(), 1);
  if (std::ranges::any_of(known, [](std::uint8_t c) { return c >= classes; }))
    throw value_error("prepare_prints: a class is not one of six");
  std::vector<training_prints> each(pages.size());
  for_each_print(dev, pages.size(), [&](std::size_t i) {
    append_print(pages[i], known[i], groups[i], false, each[i]);
    if (mirror) append_print(mirror_image(pages[i]), mirror_class(known[i]), groups[i], true, each[i]);
  });
  training_prints all;
  for (const training_prints& one : each) {
    all.averages.insert(all.averages.end(), one.averages.begin(), one.averages.end());
    all.classes.insert(all.classes.end(), one.classes.begin(), one.classes.end());
    all.groups.insert(all.groups.end(), one.groups.begin(), one.groups.end());
    all.mirrored.insert(all.mirrored.end(), one.mirrored.begin(), one.mirrored.end());
  }
  return all;
}

pnn train(const device& dev, const training_prints& prints, const training_options& options) {
  const ieee_environment here;
  require_prints(prints, options);
  const feature_matrix directions = principal_directions(covariance(dev, prints), options.features);
  leave_group_out judge(dev, prints, options.features);
  weighting best{{}, 1};
  best.weights.fill(1);
  if (options.regional_weights) {
    best = best_weights(judge, directions);
  } else {
    judge.set_transform(directions);
    best.smoothing = best_smoothing(judge, 1);
  }
  pnn network;
  network.transform = weighted(directions, best.weights);
  judge.set_transform(network.transform);
  network.prototypes = {
      static_cast<int>(prints.size()), options.features, {judge.features().begin(), judge.features().end()}};
  network.classes = prints.classes;
  network.smoothing = static_cast<float>(best.smoothing);
  return network;
}

validation cross_validate(const device& dev, const training_prints& prints, int folds,
                          const training_options& options) {
  const ieee_environment here;
  require_prints(prints, options);
  const std::set<int> groups(prints.groups.begin(), prints.groups.end());
  if (folds < 2 || static_cast<std::size_t>(folds) > groups.size())
    throw value_error("cross_validate: from two folds to as many as there are groups");
  validation result;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<std::uint8_t> kept(prints.size()), judged(prints.size());
    for (std::size_t i = 0; i < prints.size(); ++i) {
      const auto place = std::distance(groups.begin(), groups.find(prints.groups[i]));
      kept[i] = place % folds != fold;
      judged[i] = !kept[i] && !prints.mirrored[i];
    }
    const pnn network = train(dev, part_of(prints, kept), options);
    const training_prints others = part_of(prints, judged);
    std::vector<float> features(others.size() * static_cast<std::size_t>(options.features));
    std::vector<class_outputs> outputs(others.size());
    transform(dev, network.transform, others.averages, features);
    evaluate(dev, network, features, outputs);
    result.classes.insert(result.classes.end(), others.classes.begin(), others.classes.end());
    result.outputs.insert(result.outputs.end(), outputs.begin(), outputs.end());
  }
  return result;
}

}  // namespace vouch::fingerprint
