#include "suites.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/batch_classifier.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/gpu_networks.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>
#include <vouch/fingerprint/verify.hpp>

#include "fastest.hpp"
#include "reduce_gpu.hpp"
#include "stationary_cuda.hpp"

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
      if (d.dev.is_cuda()) {
        if constexpr (built_with_cuda) measure_gpu(d);
        continue;
      }
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

  // The drawn pages again and again.
  array<std::uint8_t> many_pages(const device& dev, std::int64_t count) const {
    const auto each = static_cast<std::int64_t>(pages_.front().pixels.size());
    array<std::uint8_t> all(dev, count * each);
    for (std::int64_t i = 0; i < count; ++i)
      copy_bytes(all.data() + i * each, dev, pages_[static_cast<std::size_t>(i) % pages_.size()].pixels.data(),
                 device::cpu(1), static_cast<std::size_t>(each));
    return all;
  }

  void measure_gpu(const bench_device& d) {
    measure_stages_of_gpu(d, options_.quick ? 64 : 1024);
    const int width = pages_.front().width, height = pages_.front().height;
    const std::int64_t batch = options_.quick ? 64 : 4096;
    const fp::network_kind kind = fp::network_kind::perceptron;
    std::vector<fp::classification> found(static_cast<std::size_t>(batch));
    fp::batch_classifier there(d.dev, networks_, kind, found.size() / 4);
    const array<std::uint8_t> pages = many_pages(d.dev, batch);
    measure_rate(
        d, "drawn prints, resident, 4,096 at a time", 150000,
        [&] { there.classify(pages.data(), width, height, found); }, found.size());
    const std::size_t bytes = found.size() * pages_.front().pixels.size();
    const std::shared_ptr<std::byte> pinned = pinned_memory(bytes);
    copy_bytes(pinned.get(), device::cpu(1), pages.data(), d.dev, bytes);
    const double bus = static_cast<double>(found.size()) / cuda_bus_seconds(d.dev, static_cast<double>(bytes));
    measure_rate(
        d, "drawn prints, from pinned memory", 73000,
        [&] { there.classify(reinterpret_cast<const std::uint8_t*>(pinned.get()), width, height, found); },
        found.size(), bus);
    measure_prototypes(d);
  }

  void measure_prototypes(const bench_device& d) {
    const std::int64_t n = options_.quick ? 4096 : 65536;
    const fp::feature_matrix features = random_matrix(static_cast<int>(n), 64, 8);
    const auto rows = array<float>::from(d.dev, std::span<const float>(features.values));
    array<fp::class_outputs> outputs(d.dev, n);
    fp::batch_classifier there(d.dev, networks_, fp::network_kind::probabilistic, 1);
    measure_rate(
        d, "24,300 prototypes of 64, resident", 2e6,
        [&] {
          there.evaluate(rows.data(), n, outputs.data());
          d.dev.synchronize();
        },
        static_cast<std::size_t>(n));
  }

  void measure_stages_of_gpu(const bench_device& d, std::int64_t n) {
    namespace gpu = fp::gpu;
    const device& dev = d.dev;
    const array<std::uint8_t> pixels = many_pages(dev, n);
    const int width = pages_.front().width, height = pages_.front().height;
    std::vector<gpu::page_on_gpu> described;
    for (std::int64_t i = 0; i < n; ++i)
      described.push_back({pixels.data() + i * width * height, width, height, fp::segmentation::found});
    const auto pages = array<gpu::page_on_gpu>::from(dev, std::span<const gpu::page_on_gpu>(described));
    array<std::uint8_t> snips(dev, n * fp::snip_pixels), indices(dev, n * fp::snip_pixels),
        foreground(dev, n * fp::cells), whorls(dev, n);
    auto enhanced = array<std::uint8_t>::zeros(dev, n * fp::snip_pixels);
    array<gpu::placement_on_gpu> places(dev, n);
    array<float> averages(dev, n * fp::orientation_size), fine(dev, n * 2 * fp::fine_size);
    array<fp::pixel> cores(dev, n);
    const gpu::network network(dev, *networks_.perceptron);
    array<float> features(dev, n * network.feature_stride());
    array<fp::class_outputs> outputs(dev, n);
    const auto timed = [&](const char* name, const auto& work) {
      stage(
          d, name,
          [&] {
            work();
            dev.synchronize();
          },
          n);
    };
    timed("segmentation", [&] {
      gpu::segment(dev, n, width, height, pages.data(), snips.data(), foreground.data(), places.data());
    });
    timed("enhancement", [&] { gpu::enhance(dev, n, snips.data(), enhanced.data()); });
    timed("orientations of pixels", [&] { gpu::find_orientations(dev, n, enhanced.data(), indices.data()); });
    timed("averages", [&] { gpu::average_orientations(dev, n, indices.data(), nullptr, averages.data()); });
    timed("cores", [&] { gpu::find_cores(dev, n, averages.data(), cores.data()); });
    timed("registered averages",
          [&] { gpu::average_orientations(dev, n, indices.data(), cores.data(), averages.data()); });
    timed("transform", [&] { network.transform(dev, n, averages.data(), features.data()); });
    timed("perceptron", [&] { network.evaluate(dev, n, features.data(), outputs.data()); });
    timed("finer averages", [&] { gpu::average_finely(dev, n, indices.data(), fine.data()); });
    timed("tracing", [&] { gpu::trace_ridges(dev, n, fine.data(), foreground.data(), whorls.data()); });
  }

  template <class Body>
  void stage(const bench_device& d, const char* name, const Body& body, std::int64_t prints = 0) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}, {}", d.label, name));
    if (prints == 0) prints = static_cast<std::int64_t>(pages_.size());
    const double seconds = fastest(options_, body) / static_cast<double>(prints);
    results_.rows.push_back({name, d.label, "single", "time_per_print", seconds, "s", {}, {}, {}, {}, {}});
    stages_.add({name, threads_of(d), fmt::format("{:.{}f}", 1e3 * seconds, d.dev.is_cuda() ? 6 : 4)});
  }

  template <class Body>
  void measure_rate(const bench_device& d, const char* name, double bar, const Body& body, std::size_t prints,
                    double floor = 0) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}, {}", d.label, name));
    const double rate = static_cast<double>(prints) / fastest(options_, body);
    bench_row row{name, d.label, "single", "prints_per_second", rate, "1/s", {}, {}, {}, {}, {}};
    if (floor > 0) {
      row.floor = floor;
      row.ratio = rate / floor;
    }
    if (bar > 0) {
      row.bar = bar;
      row.pass = rate >= bar;
    }
    results_.rows.push_back(row);
    rates_.add(
        {name, threads_of(d), fmt::format("{:.0f}", rate), floor > 0 ? fmt::format("{:.0f}", floor) : ""});
  }

  static std::string threads_of(const bench_device& d) {
    return d.dev.is_cuda() ? d.label : std::to_string(d.dev.threads());
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  std::vector<fp::grey_image> pages_;
  fp::model networks_;
  suite_results results_;
  text_table stages_{"Milliseconds a print", {{"stage", true}, {"threads"}, {"ms"}}};
  text_table rates_{"Prints a second", {{"prints", true}, {"threads"}, {"prints/s"}, {"the bus allows"}}};
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
