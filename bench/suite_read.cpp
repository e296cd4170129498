#include "suite_read.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/text/file.hpp>

#include "fastest.hpp"
#include "scratch_folder.hpp"
#include "timing.hpp"

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

void measure(const sample& file, const suite_options& options, suite_results& results, text_table& table) {
  const auto bytes = static_cast<double>(std::filesystem::file_size(file.path));
  const double floor = bytes / fastest(options, [&] { read_plainly(file.path); });
  for (const bench_device& d : open_devices({{"cpu1", "cpu"}, {}, {}, 0, options.threads, false, {}, {}})) {
    const double entries = bytes / fastest(options, [&] { read_coo(d.dev, file.path); });
    const double matrix = bytes / fastest(options, [&] { read_csr(d.dev, file.path); });
    if (options.stop()) return;
    results.rows.push_back(
        rate_row(file, d.label, "read_entries", entries, floor, d.label == "cpu1" ? file.bar : 0));
    results.rows.push_back(rate_row(file, d.label, "read_matrix", matrix, floor, 0));
    table.add({file.name, bytes_text(bytes), std::to_string(d.dev.threads()), rate_text(entries),
               rate_text(matrix), rate_text(floor)});
  }
}

}  // namespace

suite_results run_read_suite(const suite_options& options) {
  const scratch_folder folder("read");
  std::vector<sample> files;
  for (const std::string& path : options.matrices) files.push_back({path, path, 0});
  if (files.empty()) {
    const std::int64_t entries = options.quick ? 500000 : 8000000;
    options.say("writing the files");
    files = {{"short values", folder.file("short.mtx"), 1.0e9}, {"17 digits", folder.file("long.mtx"), 0.5e9}};
    write_sample(files[0].path, entries, short_value);
    write_sample(files[1].path, entries, long_value);
  }
  suite_results all;
  all.suite = "read";
  all.title = "Reading Matrix Market files";
  all.machine = measure_machine(options, open_devices({{"cpu1"}, {}, {}, 0, options.threads, false, {}, {}}));
  text_table table("Bytes a second from page cache",
                   {{"file", true}, {"size"}, {"threads"}, {"entries"}, {"matrix"}, {"plain read, 1 thread"}});
  table.note("entries: parsed, in the order of the file; matrix: sorted into CSR besides.");
  for (const sample& file : files) {
    if (options.stop()) break;
    options.say(file.name);
    measure(file, options, all, table);
  }
  all.interrupted = options.stop();
  all.sections.push_back({"Reading", {}, {table}, {}});
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
