#include "suites.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/text/file.hpp>

#include "fastest.hpp"
#include "reduce_gpu.hpp"
#include "scratch_folder.hpp"

namespace vouch::bench {
namespace {

struct sample {
  std::string name;
  std::string path;
  double bar = 0;  // bytes a second of read_coo on one core; 0: none
};

// Entries at random places of a matrix of 10^6 rows, values as `value` prints them.
template <class Value>
void write_sample(const std::string& path, std::int64_t entries, Value value) {
  constexpr std::uint64_t rows = 1000000;
  atomic_file file(path);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{0} {0} {1}\n", rows, entries);
  for (std::int64_t k = 0; k < entries; ++k) {
    const auto at = [&](std::uint64_t stream) {
      return random_bits(stream, static_cast<std::uint64_t>(k)) % rows + 1;
    };
    fmt::format_to(std::back_inserter(text), "{} {} ", at(1), at(2));
    value(text, random_bits(3, static_cast<std::uint64_t>(k)));
    text += '\n';
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

void short_value(std::string& text, std::uint64_t bits) {
  fmt::format_to(std::back_inserter(text), "{}", static_cast<int>(bits % 200) - 100);
}

void long_value(std::string& text, std::uint64_t bits) {
  fmt::format_to(std::back_inserter(text), "{:.16e}", 0x1p-53 * static_cast<double>(bits >> 11) - 0.5);
}

// A dense matrix of numbers in (0, 1).
void write_dense_sample(const std::string& path, std::int64_t n, bool by_columns) {
  array<double> values(device::cpu(1), n * n);
  for (std::int64_t k = 0; k < n * n; ++k) values[k] = random_unit(4, static_cast<std::uint64_t>(k));
  atomic_file file(path);
  const std::int64_t shape[] = {n, n};
  write_npy(file, values, shape, by_columns);
  file.commit();
}

void read_plainly(const std::string& path) {
  static std::vector<char> buffer(std::size_t{1} << 20);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw file_error("cannot open " + path);
  while (read(descriptor, buffer.data(), buffer.size()) > 0) {
  }
  close(descriptor);
}

bench_row rate_row(const sample& file, const std::string& device, const char* metric, double rate, double floor,
                   double bar) {
  bench_row row{file.name, device, "double", metric, rate, "B/s", floor, {}, rate / floor, {}, {}};
  if (bar > 0) {
    row.bar = bar;
    row.pass = rate >= bar;
  }
  return row;
}

class read_run {
 public:
  explicit read_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    results_.suite = "read";
    results_.title = "Reading matrices";
    results_.machine = measure_machine(options, devices_);
    host_.note("entries: parsed, in the order of the file; matrix: sorted into CSR besides.");
    gpu_.note(
        "copied: read and sorted by all CPU threads, then copied to the GPU; bus: the text from pinned "
        "memory.");
  }

  void measure(const sample& file) {
    options_.say(file.name);
    for (const bench_device& d : devices_)
      if (!options_.stop()) d.dev.is_cuda() ? measure_gpu(file, d) : measure_host(file, d);
  }

  void measure_dense(const sample& file) {
    options_.say(file.name);
    for (const bench_device& d : devices_) {
      if (options_.stop() || d.dev.is_cuda()) continue;
      const double bytes = bytes_of(file);
      const double floor = bytes / fastest(options_, [&] { read_plainly(file.path); });
      const double rate = bytes / fastest(options_, [&] { read_vectors(d.dev, file.path); });
      if (options_.stop()) return;
      results_.rows.push_back(rate_row(file, d.label, "read_dense", rate, floor, 0));
      dense_.add(
          {file.name, bytes_text(bytes), std::to_string(d.dev.threads()), rate_text(rate), rate_text(floor)});
    }
  }

  suite_results finish() {
    results_.interrupted = options_.stop();
    if (!host_.empty()) results_.sections.push_back({"Reading", {}, {host_}, {}});
    if (!dense_.empty()) results_.sections.push_back({"Reading dense matrices", {}, {dense_}, {}});
    if (!gpu_.empty()) results_.sections.push_back({"Reading to a GPU", {}, {gpu_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  static double bytes_of(const sample& file) {
    return static_cast<double>(std::filesystem::file_size(file.path));
  }

  void measure_host(const sample& file, const bench_device& d) {
    const double bytes = bytes_of(file);
    const double floor = bytes / fastest(options_, [&] { read_plainly(file.path); });
    const double entries = bytes / fastest(options_, [&] { read_coo(d.dev, file.path); });
    const double matrix = bytes / fastest(options_, [&] { read_csr(d.dev, file.path); });
    if (options_.stop()) return;
    results_.rows.push_back(
        rate_row(file, d.label, "read_entries", entries, floor, d.label == "cpu1" ? file.bar : 0));
    results_.rows.push_back(rate_row(file, d.label, "read_matrix", matrix, floor, 0));
    host_.add({file.name, bytes_text(bytes), std::to_string(d.dev.threads()), rate_text(entries),
               rate_text(matrix), rate_text(floor)});
  }

  void measure_gpu(const sample& file, const bench_device& d) {
    if constexpr (built_with_cuda) {
      const device cpu = device::cpu(options_.threads);
      const double bytes = bytes_of(file);
      const double bus = bytes / cuda_bus_seconds(d.dev, bytes);
      const double matrix = bytes / fastest(options_, [&] { read_csr(d.dev, file.path); });
      const double copied = bytes / fastest(options_, [&] { read_csr(cpu, file.path).to(d.dev); });
      if (options_.stop()) return;
      results_.rows.push_back(rate_row(file, d.label, "read_matrix", matrix, bus, 0));
      results_.rows.push_back(rate_row(file, d.label, "read_matrix_copied", copied, bus, 0));
      gpu_.add({file.name, bytes_text(bytes), rate_text(matrix), rate_text(copied), rate_text(bus)});
    }
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  text_table host_{"Bytes a second from page cache",
                   {{"file", true}, {"size"}, {"threads"}, {"entries"}, {"matrix"}, {"plain read, 1 thread"}}};
  text_table dense_{"Bytes a second from page cache to a dense matrix by columns",
                    {{"file", true}, {"size"}, {"threads"}, {"matrix"}, {"plain read, 1 thread"}}};
  text_table gpu_{"Bytes a second from page cache to a matrix on the GPU",
                  {{"file", true}, {"size"}, {"parsed by the GPU"}, {"copied"}, {"bus"}}};
};

}  // namespace

suite_results run_read_suite(const suite_options& options) {
  const scratch_folder folder("read");
  std::vector<sample> files, dense;
  for (const std::string& path : options.matrices) files.push_back({path, path, 0});
  if (files.empty()) {
    const std::int64_t entries = options.quick ? 500000 : 8000000;
    options.say("writing the files");
    files = {{"short values", folder.file("short.mtx"), 1.0e9}, {"17 digits", folder.file("long.mtx"), 0.5e9}};
    write_sample(files[0].path, entries, short_value);
    write_sample(files[1].path, entries, long_value);
    dense = {{".npy by rows", folder.file("rows.npy"), 0}, {".npy by columns", folder.file("columns.npy"), 0}};
    for (const sample& file : dense)
      write_dense_sample(file.path, options.quick ? 1000 : 8000, &file == &dense.back());
  }
  read_run run(options);
  for (const sample& file : files)
    if (!options.stop()) run.measure(file);
  for (const sample& file : dense)
    if (!options.stop()) run.measure_dense(file);
  return run.finish();
}

}  // namespace vouch::bench
