#include "suites.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <vouch/core/config.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/fingerprint/verify.hpp>

#include "fastest.hpp"

namespace vouch::bench {
namespace {

namespace fp = vouch::fingerprint;

fp::feature_matrix random_matrix(int rows, int columns, std::uint64_t seed) {
  fp::feature_matrix m{rows, columns, {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns); ++i)
    m.values.push_back(static_cast<float>(0.1 * random_unit(seed, i) - 0.05));
  return m;
}

// 24,300 prototypes, as many as were published.
fp::pnn random_prototypes() {
  constexpr int count = 24300, features = 64;
  fp::pnn network{random_matrix(features, fp::orientation_size, 5), random_matrix(count, features, 6), {}};
  for (int i = 0; i < count; ++i) network.classes.push_back(static_cast<std::uint8_t>(i % fp::classes));
  return network;
}

fp::mlp random_perceptron() {
  constexpr int nodes = 128;
  return {random_matrix(nodes, fp::orientation_size, 1), random_matrix(nodes, nodes, 2),
          random_matrix(1, nodes, 3).values, random_matrix(fp::classes, nodes, 4),
          std::vector<float>(fp::classes)};
}

std::vector<fp::grey_image> drawn_pages(const suite_options& options) {
  constexpr std::string_view patterns = "ALRTW";
  const int count = options.quick ? 5 : 20;
  std::vector<fp::grey_image> pages;
  for (int i = 0; i < count && !options.stop(); ++i)
    pages.push_back(fp::synthetic_print(device::cpu(options.threads),
                                        {patterns[static_cast<std::size_t>(i) % patterns.size()],
                                         static_cast<std::uint64_t>(i + 1), i % 3 == 0, i % 2 == 0}));
  return pages;
}

class classify_run {
 public:
  explicit classify_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    std::erase_if(devices_, [](const bench_device& d) { return d.dev.is_cuda(); });
    results_.suite = "classify";
    results_.title = "Classifying fingerprints";
    results_.machine = measure_machine(options, devices_);
    options_.say("drawing prints");
    pages_ = drawn_pages(options);
    const std::string folder = options.data + "/fingerprints/model";
    const bool published = std::filesystem::exists(folder);
    if (published) networks_ = fp::read_model(folder);
    if (!networks_.perceptron) networks_.perceptron = random_perceptron();
    networks_.probabilistic = random_prototypes();
    stages_.note(published ? "The published perceptron; the prototypes are random numbers."
                           : "Networks of random numbers, of the published sizes.");
  }

  void measure() {
    for (const bench_device& d : devices_) {
      measure_stages(d);
      measure_rate(
          d, "drawn prints, in memory", d.label == "cpu1" ? 250 : 0,
          [&] {
            std::vector<fp::classification> found(pages_.size());
            fp::classify(d.dev, networks_, fp::network_kind::perceptron, pages_, found);
          },
          pages_.size());
      if (!options_.matrices.empty())
        measure_rate(
            d, "files given",
            d.label == "cpu1"       ? 120
            : d.dev.threads() == 16 ? 1700
                                    : 0,
            [&] {
              std::vector<fp::classification> found(options_.matrices.size());
              fp::classify_files(d.dev, networks_, fp::network_kind::perceptron, options_.matrices, {}, found);
            },
            options_.matrices.size());
    }
  }

  suite_results finish() {
    results_.interrupted = options_.stop();
    results_.sections.push_back({"Stages",
                                 {"The original program, version 5.0.0 of NBIS, took 34 ms a print on one core "
                                  "of an EPYC 7003 (CPU time; "
                                  "enhancement 23.4, orientations 6.8, segmentation 1.7, tracing 1.4), and 53 "
                                  "ms more to read and decode a "
                                  "WSQ file: 29 and 11.4 prints a second."},
                                 {stages_, rates_},
                                 {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  void measure_stages(const bench_device& d) {
    const std::size_t n = pages_.size();
    std::vector<std::uint8_t> snips(n * fp::snip_pixels), enhanced(snips.size()), indices(snips.size());
    std::vector<std::uint8_t> foreground(n * fp::cells), whorls(n), proved(n);
    std::vector<fp::placement> places(n);
    std::vector<fp::pixel> cores(n);
    std::vector<float> averages(n * fp::orientation_size), registered(averages.size()),
        fine(n * 2 * fp::fine_size);
    std::vector<float> features(n * static_cast<std::size_t>(networks_.perceptron->transform.rows));
    std::vector<float> few_features(n * 64);
    std::vector<fp::class_outputs> outputs(n);
    const std::vector<int> patterns(n, fp::whorl_class);
    const device& dev = d.dev;
    stage(d, "segmentation", [&] { fp::segment(dev, pages_, snips, foreground, places); });
    stage(d, "enhancement", [&] { fp::enhance(dev, snips, enhanced); });
    stage(d, "orientations of pixels", [&] { fp::find_orientations(dev, enhanced, indices); });
    stage(d, "averages", [&] { fp::average_orientations(dev, indices, {}, averages); });
    stage(d, "cores", [&] { fp::find_cores(dev, averages, cores); });
    stage(d, "registered averages", [&] { fp::average_orientations(dev, indices, cores, registered); });
    stage(d, "transform", [&] { fp::transform(dev, networks_.perceptron->transform, registered, features); });
    stage(d, "perceptron", [&] { fp::evaluate(dev, *networks_.perceptron, features, outputs); });
    fp::transform(dev, networks_.probabilistic->transform, registered, few_features);
    stage(d, "24,300 prototypes", [&] { fp::evaluate(dev, *networks_.probabilistic, few_features, outputs); });
    stage(d, "finer averages", [&] { fp::average_finely(dev, indices, fine); });
    stage(d, "tracing", [&] { fp::trace_ridges(dev, fine, foreground, whorls); });
    if (!built_with_mpfr) return;
    stage(d, "proof", [&] { fp::prove(dev, *networks_.perceptron, registered, patterns, proved); });
  }

  template <class Body>
  void stage(const bench_device& d, const char* name, const Body& body) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}, {}", d.label, name));
    const double seconds = fastest(options_, body) / static_cast<double>(pages_.size());
    results_.rows.push_back({name, d.label, "single", "time_per_print", seconds, "s", {}, {}, {}, {}, {}});
    stages_.add({name, std::to_string(d.dev.threads()), fmt::format("{:.4f}", 1e3 * seconds)});
  }

  template <class Body>
  void measure_rate(const bench_device& d, const char* name, double bar, const Body& body, std::size_t prints) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}, {}", d.label, name));
    const double rate = static_cast<double>(prints) / fastest(options_, body);
    bench_row row{name, d.label, "single", "prints_per_second", rate, "1/s", {}, {}, {}, {}, {}};
    if (bar > 0) {
      row.bar = bar;
      row.pass = rate >= bar;
    }
    results_.rows.push_back(row);
    rates_.add({name, std::to_string(d.dev.threads()), fmt::format("{:.0f}", rate)});
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  std::vector<fp::grey_image> pages_;
  fp::model networks_;
  suite_results results_;
  text_table stages_{"Milliseconds a print", {{"stage", true}, {"threads"}, {"ms"}}};
  text_table rates_{"Prints a second", {{"prints", true}, {"threads"}, {"prints/s"}}};
};

}  // namespace

suite_results run_classify_suite(const suite_options& options) {
  // What cannot be read is said before anything is measured.
  for (const std::string& file : options.matrices) static_cast<void>(fp::read_grey_image(file));
  classify_run run(options);
  run.measure();
  return run.finish();
}

}  // namespace vouch::bench
