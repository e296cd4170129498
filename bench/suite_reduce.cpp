#include "suites.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/matrix_set.hpp>
#include <vouch/reduce/batch_reduce.hpp>
#include <vouch/reduce/matrix_set.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/mapped_file.hpp>

#include "fastest.hpp"
#include "machine_cuda.hpp"
#include "reduce_gpu.hpp"
#include "reduce_peers.hpp"
#include "reduce_plots.hpp"
#include "scratch_folder.hpp"
#include "timing.hpp"

namespace vouch::bench {
namespace {

enum class content { digits, numbers, decimals };

struct sample {
  content kind;
  std::int64_t matrices;

  const char* kind_name() const {
    static constexpr const char* kinds[] = {"one digit", "signed, 1 to 5 digits", "decimals, 6 digits"};
    return kinds[static_cast<int>(kind)];
  }
  std::string name() const { return fmt::format("{} million, {}", matrices / 1000000, kind_name()); }
  const char* precision() const { return kind == content::decimals ? "double" : "integer"; }
};

constexpr std::int64_t most_matrices = 50000000;  // the published size

// Six significant digits, three behind the point.
void write_decimals(const std::string& path, std::int64_t matrices) {
  atomic_file file(path);
  std::string text = std::to_string(matrices) + "\n";
  for (std::int64_t k = 0; k < 9 * matrices; ++k) {
    if (k % 9 == 0) text += "***\n";
    const auto n = static_cast<int>(random_bits(1, static_cast<std::uint64_t>(k)) % 1800000);
    const int magnitude = 100000 + n / 2;
    char number[] = "-123.456";
    for (int place = 7, rest = magnitude; place > 0; --place)
      if (place != 4) number[place] = static_cast<char>('0' + rest % 10), rest /= 10;
    text += number + n % 2;
    text += k % 3 == 2 ? '\n' : ' ';
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

void write_sample(const device& cpu, const std::string& path, const sample& s) {
  if (s.kind == content::decimals) return write_decimals(path, s.matrices);
  matrix_set_problem problem{.count = s.matrices};
  if (s.kind == content::numbers) problem.least = -99999, problem.most = 99999;
  write_matrix_set(cpu, path, problem);
}

// Reads a byte of each line of the cache, by all threads: nothing that uses the mapped text can be faster.
void touch(const std::string& path, int threads) {
  static std::atomic<int> sink;
  const input_file file(path);
  const mapped_file map(file);
  constexpr std::int64_t piece = 1 << 20, line = 64;
  const std::int64_t bytes = map.end() - map.begin();
  int sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : sum)
  for (std::int64_t first = 0; first < bytes; first += piece)
    for (std::int64_t k = first; k < std::min(first + piece, bytes); k += line) sum += map.begin()[k];
  sink = sum;
}

// Copies it out of the page cache, by all threads.
void copy_out(const std::string& path, int threads) {
  const input_file file(path);
  constexpr std::int64_t piece = 1 << 18;
  const std::int64_t bytes = file.most_bytes();
#pragma omp parallel num_threads(threads)
  {
    std::vector<char> text(piece);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < bytes; first += piece) file.read_at(first, text.data(), text.size());
  }
}

// Bytes of this process that are not pages of files.
double own_bytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0, shared = 0;
  file >> size >> resident >> shared;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// How far own_bytes() grows while body runs.
template <class Body>
double growth_during(Body body) {
  malloc_trim(0);  // memory that is free but not given back would hide what body needs
  const double before = own_bytes();
  double most = before;
  std::atomic<bool> over = false;
  std::thread watcher([&] {
    while (!over) {
      most = std::max(most, own_bytes());
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
  body();
  over = true;
  watcher.join();
  return most - before;
}

class reduce_run {
 public:
  reduce_run(const suite_options& options, std::vector<bench_device> devices)
      : options_(options),
        devices_(std::move(devices)),
        host_(device::cpu(options.threads)),
        folder_("reduce") {}

  suite_results run() {
    results_.suite = "reduce";
    results_.title = "Reducing sets of small matrices";
    results_.machine = measure_machine(options_, devices_);
    std::vector<std::int64_t> sizes{1000000, 10000000, most_matrices};
    if (options_.quick) sizes.resize(1);
    for (const content kind : {content::digits, content::numbers})
      for (const std::int64_t size : sizes) measure({kind, size});
    measure({content::decimals, options_.quick ? 1000000 : 5000000});
    for (const bench_device& d : devices_)
      if (d.dev.is_cuda()) measure_batches(d);
    results_.interrupted = options_.stop();
    std::vector<figure> figures =
        rate_figures("Page cache to the minimum", "matrices",
                     "cpu1: one thread; cpu: all; the text's kind behind the device.", by_size_);
    std::ranges::move(
        rate_figures("More threads", "threads",
                     "Dashed: a byte of each cache line touched by the same threads.", by_threads_),
        std::back_inserter(figures));
    results_.sections.push_back({"Text in the page cache", {}, {times_, rates_, scaling_}, std::move(figures)});
    results_.sections.push_back({"Other programs", {}, {peers_}, {}});
    if (!batches_.empty()) results_.sections.push_back({"Batches in a GPU's memory", {}, {batches_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  // higher: a rate, which must reach the bar; else a time or a size that must not pass it.
  void add_row(const std::string& name, const std::string& label, const char* precision, const char* metric,
               double value, const char* unit, std::optional<double> floor, std::optional<double> bar,
               bool higher) {
    bench_row row{name, label, precision, metric, value, unit, floor, {}, {}, bar, {}};
    if (floor) row.ratio = higher ? value / *floor : *floor / value;
    if (bar) row.pass = higher ? value >= *bar : value <= *bar;
    results_.rows.push_back(std::move(row));
  }

  reduce_result reduce(matrix_set_reducer& by) const {
    const std::string files[] = {path_};
    return by(files, {.operations = {reduction::min}});
  }
  double seconds_of_reduce(const device& dev) {
    matrix_set_reducer by(dev, dev.is_cuda() ? host_.threads() : 0);
    return fastest(options_, [&] { reduce(by); });
  }

  void measure(const sample& s) {
    if (options_.stop()) return;
    options_.say(s.name());
    path_ = folder_.file("set.txt");
    const double written_in = seconds_of([&] { write_sample(host_, path_, s); });
    bytes_ = static_cast<double>(std::filesystem::file_size(path_));
    if (s.kind != content::decimals && s.matrices == most_matrices)
      add_row(s.name(), "cpu", s.precision(), "generate", bytes_ / written_in, "B/s", {}, 1e9, true);
    const double touched_in = fastest(options_, [&] { touch(path_, host_.threads()); });
    const double copied_in = fastest(options_, [&] { copy_out(path_, host_.threads()); });
    std::map<std::string, double> seconds;
    for (const bench_device& d : devices_)
      if (!options_.stop()) seconds[d.label] = seconds_of_reduce(d.dev);
    if (!options_.stop()) {
      tabulate(s, seconds, touched_in, copied_in);
      for (const bench_device& d : devices_) {
        judge(s, d, seconds[d.label], touched_in);
        by_size_.push_back({fmt::format("{}, {}", d.label, s.kind_name()), static_cast<double>(s.matrices),
                            bytes_ / seconds[d.label]});
      }
      if (s.kind != content::decimals && s.matrices == 1000000) measure_peers(s, seconds);
      if (s.matrices == most_matrices) measure_scaling(s, seconds);
    }
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void tabulate(const sample& s, std::map<std::string, double>& seconds, double touched_in, double copied_in) {
    const auto find = [&](const char* label) {
      return seconds.contains(label) ? std::optional(seconds[label]) : std::nullopt;
    };
    const auto rate = [&](std::optional<double> t) { return t ? std::optional(bytes_ / *t) : t; };
    const std::optional<double> one = find("cpu1"), all = find("cpu"), gpu = find("gpu");
    const bool published = s.kind == content::digits && s.matrices == most_matrices;
    times_.add({s.name(), bytes_text(bytes_), seconds_text(touched_in), seconds_text(copied_in),
                seconds_text(one), seconds_text(all), seconds_text(gpu), published ? "46 + 3 s" : "",
                published ? "46 + 0.6 s" : ""});
    rates_.add(
        {s.name(), rate_text(rate(one)), rate_text(rate(all)), rate_text(rate(gpu)),
         count_text(all ? std::optional(static_cast<std::int64_t>(static_cast<double>(s.matrices) / *all))
                        : std::nullopt),
         percent_text(all ? std::optional(touched_in / *all) : std::nullopt),
         percent_text(all ? std::optional(copied_in / *all) : std::nullopt)});
  }

  // The bars are for the largest files; decimals have one size.
  void judge(const sample& s, const bench_device& d, double seconds, double touched_in) {
    const bool largest = s.matrices == most_matrices;
    const double rate = bytes_ / seconds;
    std::optional<double> bar;
    if (d.label == "cpu1" && s.kind == content::numbers && largest) bar = 2.5e9;
    if (d.label == "cpu1" && s.kind == content::decimals) bar = 0.8e9;
    if (d.label == "cpu" && largest && s.kind == content::numbers) bar = 2.5e9 * std::min(d.dev.threads(), 12);
    if (d.label == "cpu" && largest && d.dev.threads() >= 16) bar = 30e9;
    if (d.dev.is_cuda() && largest) bar = 45e9;
    add_row(s.name(), d.label, s.precision(), "rate", rate, "B/s", bytes_ / touched_in, bar, true);
    if (d.label != "cpu" || !largest) return;
    const bool digits = s.kind == content::digits;
    add_row(s.name(), d.label, s.precision(), "time", seconds, "s", touched_in,
            digits ? std::optional(0.07) : std::nullopt, false);
    add_row(s.name(), d.label, s.precision(), "time_over_touch", seconds / touched_in, "1", 1.0,
            digits ? std::optional(1.8) : std::nullopt, false);
    matrix_set_reducer by(d.dev);
    add_row(s.name(), d.label, s.precision(), "own_memory", growth_during([&] { reduce(by); }), "B", {}, 64e6,
            false);
  }

  void measure_peers(const sample& s, std::map<std::string, double>& seconds) {
    if (!seconds.contains("cpu")) return;
    matrix_set_reducer by(host_);
    const reduce_result ours = reduce(by);
    for (const reduce_peer& peer : reduce_peers()) {
      if (options_.stop()) return;
      options_.say(s.name() + ", " + peer.name);
      const std::optional<reduce_peer::answer> theirs = peer.run(path_);
      if (theirs)
        for (std::size_t e = 0; e < 9; ++e)
          if (theirs->minimum[e] != static_cast<double>(ours.results[0].integers[e]))
            throw value_error(peer.name + " found another minimum");
      peers_.add({s.name(), peer.name, seconds_text(theirs ? std::optional(theirs->seconds) : std::nullopt),
                  rate_text(theirs ? std::optional(bytes_ / theirs->seconds) : std::nullopt)});
      if (!theirs) continue;
      if (&peer == &reduce_peers().front()) stream_rate_[s.kind] = bytes_ / theirs->seconds;
      bench_row row{s.name(), "cpu1", s.precision(), peer.name, bytes_ / theirs->seconds, "B/s", {}, {}, {},
                    {},       {}};
      results_.rows.push_back(std::move(row));
    }
  }

  // Also the bar against the stream reader, which takes too long for a large file: rates are compared.
  void measure_scaling(const sample& s, std::map<std::string, double>& known) {
    double rate = 0;
    for (int threads = 1;; threads = std::min(2 * threads, host_.threads())) {
      if (options_.stop()) return;
      const char* const label = threads == host_.threads() ? "cpu" : threads == 1 ? "cpu1" : "none";
      rate = bytes_ / (known.contains(label) ? known[label] : seconds_of_reduce(device::cpu(threads)));
      const double floor = bytes_ / fastest(options_, [&] { touch(path_, threads); });
      scaling_.add({s.name(), std::to_string(threads), rate_text(rate), rate_text(floor)});
      by_threads_.push_back({s.kind_name(), static_cast<double>(threads), rate});
      by_threads_.push_back(
          {std::string("touch, ") + s.kind_name(), static_cast<double>(threads), floor, true});
      add_row(s.name(), fmt::format("cpu, {} threads", threads), s.precision(), "scaling", rate, "B/s", floor,
              {}, true);
      if (threads == host_.threads()) break;
    }
    const double peer = stream_rate_[s.kind];
    if (peer == 0) return;
    const double bar = s.kind == content::digits ? 180 : 50;
    bench_row row{s.name(), "cpu",       s.precision(), "times_the_stream_reader", rate / peer, "1", {},
                  1.0,      rate / peer, bar,           rate / peer >= bar};
    results_.rows.push_back(std::move(row));
  }

  void measure_batches(const bench_device& d) {
    if constexpr (built_with_cuda) {
      const std::int64_t count = options_.quick ? 1000000 : most_matrices;
      std::vector<std::int32_t> values(static_cast<std::size_t>(9 * count));
#pragma omp parallel for num_threads(host_.threads())
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<std::int32_t>(random_bits(1, k) >> 40);
      measure_batch<std::int32_t>(d, values, "int32");
      measure_batch<float>(d, {values.begin(), values.end()}, "single");
      measure_batch<double>(d, {values.begin(), values.end()}, "double");
    }
  }

  template <batch_scalar T>
  void measure_batch(const bench_device& d, const std::vector<T>& values, const char* precision) {
    if constexpr (built_with_cuda) {
      if (options_.stop()) return;
      options_.say(fmt::format("batches of {}", precision));
      const array<T> data = array<T>::from(d.dev, values);
      const std::size_t bytes = values.size() * sizeof(T);
      const double floor = static_cast<double>(bytes) / cuda_read_seconds(d.dev, data.data(), bytes);
      batch_reducer<T> reduce(d.dev);
      array<element_summary<T>> results(d.dev, 9);
      for (const batch_layout layout : {batch_layout::matrix_after_matrix, batch_layout::element_after_element})
        for (const batch_parts parts : {batch_parts::min, batch_parts::sum, batch_parts::all}) {
          const matrix_batch<T> batch{data.data(), data.size() / 9, 9, layout};
          const double rate =
              static_cast<double>(bytes) / cuda_seconds(d.dev, 20, [&] { reduce(batch, parts, results); });
          const bool first = layout == batch_layout::matrix_after_matrix;
          const char* what = parts == batch_parts::min ? "min" : parts == batch_parts::sum ? "sum" : "all";
          const std::string name =
              fmt::format("batch, {}", first ? "matrix after matrix" : "element after element");
          const bool bar = sizeof(T) == 4 && parts == batch_parts::min && !options_.quick;
          add_row(name, d.label, precision, what, rate, "B/s", floor,
                  bar ? std::optional(0.9 * floor) : std::nullopt, true);
          batches_.add({name, precision, what, rate_text(rate), rate_text(floor), percent_text(rate / floor)});
        }
    }
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  device host_;
  scratch_folder folder_;
  suite_results results_;
  std::string path_;
  double bytes_ = 0;
  std::map<content, double> stream_rate_;
  std::vector<rate_point> by_size_, by_threads_;
  text_table times_{"Seconds from the page cache to the minimum",
                    {{"set", true},
                     {"size"},
                     {"touch"},
                     {"copy"},
                     {"1 thread"},
                     {"all threads"},
                     {"GPU"},
                     {"published, serial"},
                     {"published, CUDA"}}};
  text_table rates_{"Rates",
                    {{"set", true},
                     {"1 thread"},
                     {"all threads"},
                     {"GPU"},
                     {"matrices a second"},
                     {"of touch"},
                     {"of copy"}}};
  text_table scaling_{"More threads", {{"set", true}, {"threads"}, {"rate"}, {"touch"}}};
  text_table peers_{"One thread each, on the smallest sets",
                    {{"set", true}, {"program", true}, {"time"}, {"rate"}}};
  text_table batches_{
      "Bytes a second",
      {{"layout", true}, {"type", true}, {"asked for", true}, {"rate"}, {"plain read"}, {"of it"}}};
};

}  // namespace

suite_results run_reduce_suite(const suite_options& options) {
  return reduce_run(options, open_devices(options)).run();
}

}  // namespace vouch::bench
