// The figures as rows, tables and plots.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <cli/report/plot.hpp>
#include "interval_results.hpp"

namespace vouch::bench {
namespace {

std::string case_name(const interval_cell& c) {
  return fmt::format("{}, {}, n = {}", c.routine, c.operands, c.n);
}

bool is_product(const interval_cell& c) { return c.routine.rfind("gemm", 0) == 0; }

// Bytes a second that the device's memory was measured to move.
double bandwidth(const interval_results& results, const std::string& device) {
  if (device == "gpu") return results.machine.gpu ? results.machine.gpu->copy : 0;
  return (device == "cpu1" ? results.machine.cpu.one : results.machine.cpu.all).best();
}

// The time of the plain routine for a product, of the bytes otherwise.
std::optional<double> floor_of(const interval_results& results, const interval_cell& c) {
  if (is_product(c)) return c.plain;
  const double speed = bandwidth(results, c.device);
  return speed > 0 ? std::optional(c.bytes / speed) : std::nullopt;
}

bench_row time_row(const interval_results& results, const interval_cell& c) {
  bench_row row{case_name(c),         c.device,        c.precision, "time", c.seconds, "s",
                floor_of(results, c), c.boost_fastest, {},          {},     {}};
  if (row.peer)
    row.ratio = *row.peer / c.seconds;
  else if (row.floor)
    row.ratio = *row.floor / c.seconds;
  return row;
}

const interval_cell* find(const interval_results& results, const std::string& device,
                          const std::string& routine, const std::string& operands, std::int64_t n) {
  for (const interval_cell& c : results.cells)
    if (c.device == device && c.precision == "double" && c.routine == routine && c.operands == operands &&
        c.n == n)
      return &c;
  return nullptr;
}

bench_row bar(std::string what, std::string device, std::string metric, std::optional<double> value,
              std::string unit, double bar, bool at_most) {
  bench_row row{std::move(what),
                std::move(device),
                "double",
                std::move(metric),
                value,
                std::move(unit),
                {},
                {},
                {},
                bar,
                {}};
  if (value) row.pass = at_most ? *value <= bar : *value >= bar;
  return row;
}

// A product's time over that of the plain one.
void add_plain_bar(const interval_results& results, const char* routine, const char* operands, double most,
                   std::vector<bench_row>& rows) {
  constexpr std::int64_t n = 8192;
  const interval_cell* c = find(results, "gpu", routine, operands, n);
  std::optional<double> value;
  if (c != nullptr && c->plain) value = c->seconds / *c->plain;
  rows.push_back(bar(fmt::format("{}, {}, n = {}", routine, operands, n), "gpu", "time_over_plain", value, "1",
                     most, true));
}

void add_rate_bar(const interval_results& results, const char* operands, double least,
                  std::vector<bench_row>& rows) {
  constexpr std::int64_t n = 8192;
  const interval_cell* c = find(results, "gpu", "gemm tight", operands, n);
  std::optional<double> value;
  if (c != nullptr) value = c->operations / c->seconds;
  rows.push_back(bar(fmt::format("gemm tight, {}, n = {}", operands, n), "gpu", "operations_per_second", value,
                     "1/s", least, false));
}

// The largest vectors and matrices there are: bytes over bandwidth.
void add_memory_bars(const interval_results& results, const std::string& device, std::vector<bench_row>& rows) {
  for (const char* routine : {"axpy", "dot", "gemv"}) {
    const interval_cell* largest = nullptr;
    for (const interval_cell& c : results.cells)
      if (c.device == device && c.precision == "double" && c.routine == routine &&
          (largest == nullptr || c.n > largest->n))
        largest = &c;
    if (device != "gpu" && routine != std::string("axpy")) continue;
    std::optional<double> share;
    const double speed = bandwidth(results, device);
    if (largest != nullptr && speed > 0) share = largest->bytes / largest->seconds / speed;
    rows.push_back(bar(largest != nullptr ? case_name(*largest) : std::string(routine) + ", large", device,
                       "share_of_bandwidth", share, "1", 0.85, false));
  }
}

void add_boost_bars(const interval_results& results, std::vector<bench_row>& rows) {
  constexpr std::int64_t n = 128;
  const interval_cell* c = find(results, "cpu1", "gemm tight", "interval x interval", n);
  const auto times = [&](std::optional<double> interval_cell::*peer) -> std::optional<double> {
    if (c == nullptr || !(c->*peer)) return std::nullopt;
    return *(c->*peer) / c->seconds;
  };
  const std::string what = "gemm tight, interval x interval, n = 128";
  rows.push_back(
      bar(what, "cpu1", "times_boost_fastest", times(&interval_cell::boost_fastest), "1", 20, false));
  rows.push_back(
      bar(what, "cpu1", "times_boost_standard", times(&interval_cell::boost_standard), "1", 100, false));
}

void add_width_bars(const interval_results& results, std::vector<bench_row>& rows) {
  for (const tightness_cell& t : results.tightness) {
    const std::string what = fmt::format("gemm {}, {}", t.mode, t.operands);
    if (t.mode == "fast" && t.operands != "point x point")
      rows.push_back(bar(what, t.device, "median_width_over_tight", t.median, "1", 1.6, true));
    else
      rows.push_back({what, t.device, "double", "median_width_over_tight", t.median, "1", {}, {}, {}, {}, {}});
    rows.push_back({what, t.device, "double", "largest_width_over_tight", t.largest, "1", {}, {}, {}, {}, {}});
  }
}

std::string rate(const interval_cell& c) {
  if (is_product(c)) return fmt::format("{:.4g} GFLOP/s", 1e-9 * c.operations / c.seconds);
  return rate_text(c.bytes / c.seconds);
}

std::optional<double> over(std::optional<double> other, double mine) {
  if (!other) return std::nullopt;
  return *other / mine;
}

text_table times_table(const interval_results& results, const std::string& title, bool products) {
  text_table table(title, {{"routine", true},
                           {"operands", true},
                           {"n"},
                           {"device", true},
                           {"precision", true},
                           {"time"},
                           {"rate"},
                           {products ? "over plain" : "of bandwidth"},
                           {"plain BLAS"},
                           {"with transfer"},
                           {"Boost fastest"},
                           {"times"},
                           {"Boost default"},
                           {"times"}});
  for (const interval_cell& c : results.cells) {
    if (is_product(c) != products) continue;
    const auto floor = floor_of(results, c);
    table.add({c.routine, c.operands, count_text(c.n), c.device, c.precision, seconds_text(c.seconds), rate(c),
               !floor     ? "-"
               : products ? ratio_text(c.seconds / *floor)
                          : percent_text(*floor / c.seconds),
               seconds_text(c.plain), seconds_text(c.with_transfer), seconds_text(c.boost_fastest),
               ratio_text(over(c.boost_fastest, c.seconds)), seconds_text(c.boost_standard),
               ratio_text(over(c.boost_standard, c.seconds))});
  }
  table.note(
      "plain BLAS: the same routine on points by cuBLAS or OpenBLAS. Boost.Interval runs on as many threads.");
  return table;
}

text_table widths_table(const interval_results& results) {
  text_table table("Width of a product's entries over that by mode tight",
                   {{"mode", true}, {"operands", true}, {"device", true}, {"median"}, {"largest"}});
  for (const tightness_cell& t : results.tightness)
    table.add(
        {t.mode, t.operands, t.device, fmt::format("{:.4f}", t.median), fmt::format("{:.4f}", t.largest)});
  return table;
}

// A line a device and precision, over n.
figure rates_figure(const interval_results& results, const std::string& routine, const std::string& operands) {
  const bool product = routine.rfind("gemm", 0) == 0;
  plot::line_plot drawing;
  drawing.title = routine + ", " + operands;
  drawing.x = {"n", plot::scale::logarithmic, {}, {}};
  drawing.y = {product ? "operations a second" : "bytes a second", plot::scale::logarithmic, {}, {}};
  std::map<std::string, plot::series> lines;
  for (const interval_cell& c : results.cells) {
    if (c.routine != routine || c.operands != operands) continue;
    const std::string name = c.device + ", " + c.precision;
    plot::series& line = lines[name];
    line.name = name;
    line.markers = true;
    line.x.push_back(static_cast<double>(c.n));
    line.y.push_back((product ? c.operations : c.bytes) / c.seconds);
  }
  for (auto& [name, line] : lines) drawing.lines.push_back(std::move(line));
  return {drawing.title, plot::to_svg(drawing)};
}

// What each call of a function that a header defines pays for the question about the environment.
text_table questions_table(const interval_results& results) {
  text_table table("One call, after the question about the floating-point environment and without it",
                   {{"call", true}, {"time"}, {"unasked"}, {"ratio of pairs"}});
  for (const question_cell& q : results.questions)
    table.add({q.call, seconds_text(q.seconds), seconds_text(q.unasked), fmt::format("{:.3f}", q.ratio)});
  return table;
}

}  // namespace

std::vector<bench_row> interval_rows(const interval_results& results) {
  std::vector<bench_row> rows;
  std::set<std::string> devices;
  for (const interval_cell& c : results.cells) {
    rows.push_back(time_row(results, c));
    devices.insert(c.device);
  }
  if (devices.count("gpu") != 0) {
    add_plain_bar(results, "gemm tight", "point x point", 2.1, rows);
    add_plain_bar(results, "gemm tight", "point x interval", 4.4, rows);
    add_plain_bar(results, "gemm fast", "interval x interval", 1.3, rows);
    add_rate_bar(results, "interval x interval", 6e12, rows);
    add_rate_bar(results, "both holding 0", 1.7e12, rows);
    add_memory_bars(results, "gpu", rows);
  }
  if (devices.count("cpu1") != 0) {
    add_boost_bars(results, rows);
    add_memory_bars(results, "cpu1", rows);
  }
  add_width_bars(results, rows);
  for (const question_cell& q : results.questions) {
    rows.push_back(
        {"environment, " + q.call, "cpu1", "double", "time_of_one", q.seconds, "s", {}, {}, {}, {}, {}});
    rows.push_back(bar("environment, " + q.call, "cpu1", "time_over_unasked", q.ratio, "1", 1.01, true));
  }
  for (const repetition_cell& r : results.repetitions)
    rows.push_back(bar(r.routine + " twice", r.device, "same_bits", r.same ? 1.0 : 0.0, "1", 1, false));
  return rows;
}

std::vector<report_section> interval_sections(const interval_results& results) {
  return {{"Vectors, and matrices times vectors",
           {},
           {times_table(results, "Times of axpy, dot and gemv", false)},
           {rates_figure(results, "axpy", "interval"), rates_figure(results, "gemv", "interval")}},
          {"Products of matrices",
           {},
           {times_table(results, "Times of gemm", true)},
           {rates_figure(results, "gemm tight", "interval x interval")}},
          {"Tightness", {}, {widths_table(results)}, {}},
          {"The environment", {}, {questions_table(results)}, {}}};
}

}  // namespace vouch::bench
