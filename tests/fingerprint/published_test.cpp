// Every stage against the original program, on synthetic prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "devices.hpp"
#include "shared_prints.hpp"
#include "temporary.hpp"

namespace vouch::fingerprint {
namespace {

using testing::shared_prints;

class published : public ::testing::Test {
 protected:
  void SetUp() override {
    VOUCH_NEEDS_DATA(testing::data_file("fingerprints/synthetic/results.tsv"));
    if (std::system("xz --version > /dev/null") != 0) GTEST_SKIP() << "no xz to unpack the shared prints";
    static const shared_prints read = testing::read_shared_prints(testing::data_file("fingerprints/synthetic"));
    prints = &read;
  }
  static std::string folder(const std::string& name) { return testing::data_file("fingerprints/" + name); }

  const shared_prints* prints = nullptr;
  device cpu = device::cpu(2);
};

TEST_F(published, segmentation) {
  const std::size_t n = prints->size();
  std::vector<std::uint8_t> snips(n * snip_pixels), foreground(n * cells);
  std::vector<placement> places(n);
  for (const device& dev : testing::devices()) {
    segment(dev, prints->pages, snips, foreground, places);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(places[i].failure, nullptr) << prints->names[i];
      EXPECT_EQ(places[i].centre_x, prints->number(i, "seg_centre_x")) << prints->names[i];
      EXPECT_EQ(places[i].centre_y, prints->number(i, "seg_centre_y")) << prints->names[i];
      EXPECT_EQ(places[i].radians, static_cast<float>(prints->number(i, "seg_radians"))) << prints->names[i];
    }
    EXPECT_TRUE(snips == prints->snips) << dev.name();
    EXPECT_TRUE(foreground == prints->foreground) << dev.name();
  }
}

// The original rounds in another order: one grey level, on at most 0.01 % of the pixels.
TEST_F(published, enhancement) {
  std::vector<std::uint8_t> enhanced(prints->snips.size());
  for (const device& dev : testing::devices()) {
    enhance(dev, prints->snips, enhanced);
    std::size_t differ = 0;
    int most = 0;
    for (std::size_t i = 0; i < enhanced.size(); ++i) {
      const int by = std::abs(enhanced[i] - prints->enhanced[i]);
      differ += by != 0;
      most = std::max(most, by);
    }
    EXPECT_LE(most, 1) << dev.name();
    EXPECT_LE(static_cast<double>(differ), 1e-4 * static_cast<double>(enhanced.size())) << dev.name();
    RecordProperty(std::string("pixels_by_one_level_") + dev.kind(), static_cast<int>(differ));
  }
}

TEST_F(published, orientations_of_pixels) {
  std::vector<std::uint8_t> indices(prints->enhanced.size());
  for (const device& dev : testing::devices()) {
    find_orientations(dev, prints->enhanced, indices);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < indices.size(); ++i)
      differ += prints->indices[i] == 255 ? indices[i] != no_orientation : indices[i] != prints->indices[i];
    EXPECT_EQ(differ, 0U) << dev.name();
  }
}

TEST_F(published, averages) {
  const std::size_t n = prints->size();
  std::vector<float> averages(n * orientation_size), registered(n * orientation_size);
  std::vector<pixel> cores;
  for (std::size_t i = 0; i < n; ++i)
    cores.push_back(
        {static_cast<int>(prints->number(i, "core_x")), static_cast<int>(prints->number(i, "core_y"))});
  for (const device& dev : testing::devices()) {
    average_orientations(dev, prints->indices, {}, averages);
    average_orientations(dev, prints->indices, cores, registered);
    EXPECT_TRUE(averages == prints->averages) << dev.name();
    EXPECT_TRUE(registered == prints->registered) << dev.name();
  }
}

TEST_F(published, cores) {
  std::vector<pixel> cores(prints->size());
  for (const device& dev : testing::devices()) {
    find_cores(dev, prints->averages, cores);
    for (std::size_t i = 0; i < prints->size(); ++i) {
      EXPECT_EQ(cores[i].x, prints->number(i, "core_x")) << prints->names[i] << ' ' << dev.name();
      EXPECT_EQ(cores[i].y, prints->number(i, "core_y")) << prints->names[i] << ' ' << dev.name();
    }
  }
}

TEST_F(published, traced_whorls) {
  const std::size_t n = prints->size();
  std::vector<float> fine(n * 2 * fine_size);
  std::vector<std::uint8_t> whorls(n);
  for (const device& dev : testing::devices()) {
    average_finely(dev, prints->indices, fine);
    trace_ridges(dev, fine, prints->foreground, whorls);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_EQ(whorls[i], prints->number(i, "conup")) << prints->names[i] << ' ' << dev.name();
  }
}

void expect_near(std::span<const float> a, std::span<const float> b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  EXPECT_LE(most, tolerance);
}

void expect_outputs(const shared_prints& prints, std::span<const class_outputs> outputs,
                    const std::string& network, double tolerance) {
  for (std::size_t i = 0; i < prints.size(); ++i)
    for (std::size_t c = 0; c < classes; ++c)
      EXPECT_NEAR(outputs[i][c], prints.number(i, network + "_" + class_letters[c]), tolerance)
          << prints.names[i];
}

TEST_F(published, perceptron) {
  const model m = read_model(folder("model"));
  ASSERT_TRUE(m.perceptron);
  const std::size_t n = prints->size();
  std::vector<float> features(n * 128);
  transform(cpu, m.perceptron->transform, prints->registered, features);
  expect_near(features, prints->mlp_features, 2e-5);
  std::vector<class_outputs> outputs(n);
  evaluate(cpu, *m.perceptron, prints->mlp_features, outputs);
  expect_outputs(*prints, outputs, "mlp", 1e-6);
  for (const device& gpu : testing::gpus()) {
    transform(gpu, m.perceptron->transform, prints->registered, features);
    expect_near(features, prints->mlp_features, 2e-5);
    evaluate(gpu, *m.perceptron, prints->mlp_features, outputs);
    expect_outputs(*prints, outputs, "mlp", 2e-6);
  }
}

// Prototypes from the published features of 2,700 prints; the published ones are not to be had.
class with_prototypes : public published {
 protected:
  model probabilistic() const {
    const testing::temporary_folder made;
    const std::string to = made.path("");
    std::filesystem::copy_file(folder("model/pnn_tmat.bin"), to + "pnn_tmat.bin");
    std::filesystem::copy_file(folder("nist_reference/sv10pnn_nist.kls"), to + "profvs.bin");
    std::filesystem::copy_file(folder("nist_reference/sv10.cls"), to + "procls.asc");
    return read_model(to);
  }
};

TEST_F(with_prototypes, probabilistic_network) {
  const model m = probabilistic();
  ASSERT_TRUE(m.probabilistic);
  EXPECT_FALSE(m.perceptron);
  EXPECT_EQ(m.probabilistic->prototypes.rows, 2700);
  const std::size_t n = prints->size();
  std::vector<float> features(n * 64);
  transform(cpu, m.probabilistic->transform, prints->registered, features);
  expect_near(features, prints->pnn_features, 2e-5);
  std::vector<class_outputs> outputs(n);
  evaluate(cpu, *m.probabilistic, prints->pnn_features, outputs);
  expect_outputs(*prints, outputs, "pnn", 1e-5);
  for (const device& gpu : testing::gpus()) {
    evaluate(gpu, *m.probabilistic, prints->pnn_features, outputs);
    expect_outputs(*prints, outputs, "pnn", 1e-5);
  }
}

void expect_classes(const shared_prints& prints, std::span<const classification> results,
                    const std::string& network) {
  for (std::size_t i = 0; i < prints.size(); ++i) {
    const classification& r = results[i];
    EXPECT_EQ(letter(r.pattern), prints.pattern(i, network + "_class")) << prints.names[i];
    EXPECT_EQ(letter(r.network_pattern), prints.pattern(i, network + "_nn_class")) << prints.names[i];
    EXPECT_EQ(r.whorl, prints.number(i, "conup") == 1) << prints.names[i];
    EXPECT_NEAR(r.confidence, prints.number(i, network + "_conf"), 0.01) << prints.names[i];
  }
}

// From the pages on. Where a grey level differs by one, so do averages, on at most 0.1 % of the entries.
TEST_F(with_prototypes, all_the_way) {
  const std::size_t n = prints->size();
  for (const device& dev : testing::devices()) {
    std::vector<classification> results(n);
    std::vector<float> orientations(n * orientation_size);
    classify(dev, read_model(folder("model")), network_kind::perceptron, prints->pages, results, orientations);
    expect_classes(*prints, results, "mlp");
    std::size_t far = 0;
    for (std::size_t i = 0; i < orientations.size(); ++i)
      far += std::abs(orientations[i] - prints->averages[i]) > 1e-4F;
    EXPECT_LE(static_cast<double>(far), 1e-3 * static_cast<double>(orientations.size()));
    classify(dev, probabilistic(), network_kind::probabilistic, prints->pages, results);
    expect_classes(*prints, results, "pnn");
  }
}

// Features of 2,700 prints, by the same eigenvectors but for the signs of some, against the published log.
TEST_F(published, log_of_2700_prints) {
  const mlp network = *read_model(folder("model")).perceptron;
  feature_matrix features =
      parse_feature_matrix("features", testing::unpacked(folder("nist_reference/sv10mlp_nist.kls.xz")));
  const feature_matrix others =
      parse_feature_matrix("vectors", testing::unpacked(folder("nist_reference/fv1-9_nist.evt.xz")));
  ASSERT_EQ(features.columns, 128);
  for (std::size_t f = 0; f < 128; ++f) {
    double product = 0;
    for (std::size_t j = 0; j < orientation_size; ++j)
      product += static_cast<double>(network.transform.values[f * orientation_size + j]) *
                 static_cast<double>(others.values[f * orientation_size + j]);
    if (product < 0)
      for (std::size_t i = 0; i < static_cast<std::size_t>(features.rows); ++i)
        features.values[i * 128 + f] *= -1;
  }
  std::vector<class_outputs> outputs(static_cast<std::size_t>(features.rows));
  evaluate(cpu, network, features.values, outputs);
  std::istringstream log(testing::unpacked(folder("nist_reference/pcasys_nist.mlp.xz")));
  std::string line;
  std::size_t prints_seen = 0, classes_equal = 0, confidences_equal = 0;
  while (std::getline(log, line) && line.starts_with("s00")) {
    const std::size_t at = line.find("nn: hyp ");
    ASSERT_NE(at, std::string::npos);
    classification r;
    combine(outputs[prints_seen], line.find("conup y") != std::string::npos, r);
    classes_equal +=
        letter(r.network_pattern) == line[at + 8] && letter(r.pattern) == line[line.find("hyp ", at + 9) + 4];
    confidences_equal += std::abs(r.outputs[static_cast<std::size_t>(r.network_pattern)] -
                                  std::stof(line.substr(at + 16))) < 0.0301F;
    ++prints_seen;
  }
  EXPECT_EQ(prints_seen, 2700U);
  EXPECT_GE(classes_equal, 2695U);
  EXPECT_GE(confidences_equal, 2690U);
  RecordProperty("classes_equal", static_cast<int>(classes_equal));
}

}  // namespace
}  // namespace vouch::fingerprint
