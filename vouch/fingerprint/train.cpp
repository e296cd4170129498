#include <vouch/fingerprint/train.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/leave_group_out.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

grey_image mirror_image(const grey_image& page) {
  grey_image mirrored = page;
  for (int y = 0; y < page.height; ++y) {
    const auto first = mirrored.pixels.begin() + static_cast<std::ptrdiff_t>(y) * page.width;
    std::reverse(first, first + page.width);
  }
  return mirrored;
}

void append(std::span<const float> averages, std::uint8_t its_class, int group, std::uint8_t mirrored,
            training_prints& prints) {
  prints.averages.insert(prints.averages.end(), averages.begin(), averages.end());
  prints.classes.push_back(its_class);
  prints.groups.push_back(group);
  prints.mirrored.push_back(mirrored);
}

std::uint8_t mirror_class(std::uint8_t c) {
  constexpr std::uint8_t left = 1, right = 2;
  return c == left ? right : c == right ? left : c;
}

// The numbers of a print, or none where there is none to be seen.
std::vector<float> registered_averages(const grey_image& page, print_scratch& scratch) {
  pixel core;
  return scratch.register_print(page, core).failure == nullptr ? scratch.registered : std::vector<float>();
}

const float* print(const training_prints& prints, std::size_t i) {
  return &prints.averages[i * orientation_size];
}

// The lower triangle.
matrix<double> covariance(const device& dev, const training_prints& prints) {
  const auto n = static_cast<std::int64_t>(prints.size());
  std::vector<double> mean(orientation_size);
  for (std::size_t i = 0; i < prints.size(); ++i)
    for (std::size_t j = 0; j < orientation_size; ++j) mean[j] += static_cast<double>(print(prints, i)[j]);
  for (double& m : mean) m /= static_cast<double>(n);
  matrix<double> centred(dev, n, orientation_size), result(dev, orientation_size, orientation_size);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < orientation_size; ++j) {
      const auto at = static_cast<std::size_t>(j);
      centred(i, j) = static_cast<double>(print(prints, static_cast<std::size_t>(i))[at]) - mean[at];
    }
  syrk<double, double>(dev, triangle::lower, transpose::yes, 1 / static_cast<double>(n), centred.read(), 0,
                       result.all());
  return result;
}

// Rows are the eigenvectors of the largest eigenvalues, their largest element positive.
feature_matrix principal_components(matrix<double> covariances, int count) {
  std::vector<double> eigenvalues(orientation_size);
  if (lapack::syevd(device::cpu(1), orientation_size, covariances.data(), covariances.ld(),
                    eigenvalues.data()) != 0)
    throw value_error("train: the eigenvectors of the covariance were not found");
  feature_matrix components{count, orientation_size, {}};
  for (int k = 0; k < count; ++k) {
    const double* vector = &covariances(0, orientation_size - 1 - k);
    const double largest = *std::max_element(vector, vector + orientation_size,
                                             [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (int j = 0; j < orientation_size; ++j)
      components.values.push_back(static_cast<float>(largest < 0 ? -vector[j] : vector[j]));
  }
  return components;
}

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

// Gradient descent, each step halved until it helps. judge ends with the transform of what is returned.
weighting best_weights(leave_group_out& judge, const feature_matrix& components) {
  constexpr int most_steps = 12;
  constexpr double least_length = 1e-3;
  const cancellation_probe stop;
  weighting now{{}, 1};
  now.weights.fill(1);
  judge.set_transform(components);
  now.smoothing = best_smoothing(judge, 1);
  double error = judge.error(now.smoothing), length = 1;
  for (int step = 0; step < most_steps && length > least_length; ++step) {
    const weight_vector slope = judge.gradient(now.smoothing, components);
    double norm = 0;
    for (const double s : slope) norm += s * s;
    if (norm == 0) break;
    bool helped = false;
    for (; !helped && length > least_length; length *= helped ? 1.5 : 0.5) {
      stop.check();
      weight_vector next = now.weights;
      for (std::size_t r = 0; r < regions; ++r)
        next[r] = std::max(0.0, next[r] - length * slope[r] / std::sqrt(norm));
      judge.set_transform(weighted(components, next));
      const double there = judge.error(now.smoothing);
      helped = there < error;
      if (!helped) continue;
      error = there;
      now.weights = next;
    }
    if (!helped) judge.set_transform(weighted(components, now.weights));
  }
  now.smoothing = best_smoothing(judge, now.smoothing);
  return now;
}

void require_prints(const device& dev, const training_prints& prints, const training_options& options) {
  if (dev.is_cuda()) throw value_error("train: works on a CPU", "classify takes what it makes to a GPU");
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
  for (std::size_t i = 0; i < prints.size(); ++i)
    if (chosen[i])
      append({print(prints, i), orientation_size}, prints.classes[i], prints.groups[i], prints.mirrored[i],
             part);
  return part;
}

struct page_scratch {
  print_scratch stages;
  grey_image_reader reader;
  grey_image page;
};

// page_of(i, scratch) is a page; one without pixels shows no print.
template <class PageOf>
training_prints prepare(const char* who, const device& dev, std::size_t count, const PageOf& page_of,
                        std::span<const std::uint8_t> known, std::span<const int> groups, bool mirror) {
  require_elements(who, "classes", known.size(), count, 1);
  require_elements(who, "groups", groups.size(), count, 1);
  if (std::ranges::any_of(known, [](std::uint8_t c) { return c >= classes; }))
    throw value_error(std::string(who) + ": a class is not one of six");
  std::vector<std::vector<float>> plain(count), mirrored(count);
  for_each_print<page_scratch>(dev, count, [&](std::size_t i, page_scratch& own) {
    const grey_image& page = page_of(i, own);
    plain[i] = registered_averages(page, own.stages);
    if (mirror) mirrored[i] = registered_averages(mirror_image(page), own.stages);
  });
  training_prints all;
  for (std::size_t i = 0; i < count; ++i) {
    if (!plain[i].empty()) append(plain[i], known[i], groups[i], 0, all);
    if (!mirrored[i].empty()) append(mirrored[i], mirror_class(known[i]), groups[i], 1, all);
  }
  return all;
}

}  // namespace

training_prints prepare_prints(const device& dev, std::span<const grey_image> pages,
                               std::span<const std::uint8_t> known, std::span<const int> groups, bool mirror) {
  const ieee_environment here;
  require_pages("prepare_prints", pages);
  const auto page_of = [&](std::size_t i, page_scratch&) -> const grey_image& { return pages[i]; };
  return prepare("prepare_prints", dev, pages.size(), page_of, known, groups, mirror);
}

training_prints prepare_files(const device& dev, std::span<const std::string> files, raw_size raw,
                              std::span<const std::uint8_t> known, std::span<const int> groups, bool mirror,
                              std::span<std::string> reasons) {
  const ieee_environment here;
  require_elements("prepare_files", "reasons", reasons.size(), files.size(), 1);
  const auto page_of = [&](std::size_t i, page_scratch& own) -> const grey_image& {
    reasons[i] = own.reader.try_read(files[i], raw, own.page);
    return own.page;
  };
  return prepare("prepare_files", dev, files.size(), page_of, known, groups, mirror);
}

pnn train(const device& dev, const training_prints& prints, const training_options& options) {
  const ieee_environment here;
  require_prints(dev, prints, options);
  const feature_matrix components = principal_components(covariance(dev, prints), options.features);
  leave_group_out judge(dev, prints, options.features);
  weighting best{{}, 1};
  best.weights.fill(1);
  if (options.regional_weights) {
    best = best_weights(judge, components);
  } else {
    judge.set_transform(components);
    best.smoothing = best_smoothing(judge, 1);
  }
  pnn network;
  network.transform = weighted(components, best.weights);
  network.prototypes = {
      static_cast<int>(prints.size()), options.features, {judge.features().begin(), judge.features().end()}};
  network.classes = prints.classes;
  network.smoothing = static_cast<float>(best.smoothing);
  return network;
}

validation cross_validate(const device& dev, const training_prints& prints, int folds,
                          const training_options& options) {
  const ieee_environment here;
  require_prints(dev, prints, options);
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
