#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/factored.hpp>
#include <vouch/band/solve.hpp>

#include <cli/report/plot.hpp>
#include "tridiagonal_measure.hpp"

namespace vouch::bench {
namespace {

using method = tridiagonal_method;

// One measurement.
struct measured {
  std::string case_name, device, how;
  double seconds = 0, floor = 0;
  std::optional<peer_time> peer;
  double backward_error = 0;
};

// Of a drawing.
struct point {
  std::string device, series;
  std::int64_t n = 0;
  double seconds = 0;
  bool is_floor = false;
};

// A bar on the time over the floor, or on the speed-up over the peer.
struct bars {
  double over_floor = 0, over_peer = 0;  // 0: none
};

struct batch_case {
  std::int64_t n, systems;
  double over_peer;
};
constexpr batch_case batch_cases[] = {{512, 32768, 3.0}, {1024, 16384, 4.0}, {64, 262144, 1.6}};
constexpr batch_case odd_cases[] = {{511, 32768, 0}, {1001, 16384, 0}, {63, 262144, 0}};  // one after another

std::string size_text(std::int64_t n) {
  int power = 0;
  while ((std::int64_t{1} << power) < n) ++power;
  return (std::int64_t{1} << power) == n ? fmt::format("2^{}", power) : std::to_string(n);
}

class tridiagonal_run {
 public:
  tridiagonal_run(const suite_options& options, const std::vector<bench_device>& devices,
                  suite_results& results)
      : options_(options),
        devices_(devices),
        results_(results),
        table_("Seconds of a solve in double precision", {{"system", true},
                                                          {"device", true},
                                                          {"how", true},
                                                          {"time"},
                                                          {"floor"},
                                                          {"of floor"},
                                                          {"peer"},
                                                          {"faster"},
                                                          {"peer is", true},
                                                          {"backward error"}}) {
    table_.note(
        "floor: five streams (dl, d, du, b, x; four of symmetric factors) at the copy speed of the memory.");
    table_.note("backward error: of an answer checked afterwards; the time is of the solve alone.");
  }

  void run() {
    for (const bench_device& d : devices_) {
      if (d.dev.is_cuda())
        on_gpu(d);
      else
        on_cpu(d);
    }
    if (!why_.empty()) table_.note("cuSPARSE: " + why_);
    std::vector<figure> figures;
    for (const bench_device& d : devices_)
      if (auto drawing = figure_of(d.label)) figures.push_back(std::move(*drawing));
    results_.sections.push_back({"Tridiagonal systems", {}, {table_}, std::move(figures)});
  }

 private:
  bool room(const device& dev, std::int64_t rows) const {
    return !options_.stop() && bytes_of_systems<double>(rows) < dev.memory_free();
  }

  double floor_of(const bench_device& d, std::int64_t rows, double streams = 5) const {
    const machine_facts& machine = results_.machine;
    const double speed = d.dev.is_cuda()        ? (machine.gpu ? machine.gpu->copy : 0)
                         : d.dev.threads() == 1 ? machine.cpu.one.copy
                                                : machine.cpu.all.copy;
    return speed > 0 ? streams * 8 * static_cast<double>(rows) / speed : 0;
  }

  // Times unchecked solves, checks one.
  measured solve_timed(const bench_device& d, band_systems<double>& systems, method how) {
    tridiagonal_workspace workspace;
    tridiagonal_options plain;
    plain.method = how;
    plain.check = false;
    plain.workspace = &workspace;
    measured m;
    m.device = d.label;
    m.seconds = seconds_of(d.dev, options_,
                           [&] { solve(d.dev, systems.matrix(), systems.rhs(), systems.answer(), plain); });
    tridiagonal_options checked;
    checked.method = how;
    checked.max_refinements = 0;
    const tridiagonal_report report = solve(d.dev, systems.matrix(), systems.rhs(), systems.answer(), checked);
    m.how = report.method;
    m.backward_error = report.backward_error;
    m.floor = floor_of(d, systems.rows());
    return m;
  }

  // One system on a device: time over its size.
  std::optional<figure> figure_of(const std::string& device) const {
    plot::line_plot drawing;
    drawing.title = "One system, " + device;
    drawing.x = {"unknowns", plot::scale::logarithmic, {}, {}};
    drawing.y = {"seconds of a solve", plot::scale::logarithmic, {}, {}};
    for (const point& p : points_) {
      if (p.device != device) continue;
      auto found = std::find_if(drawing.lines.begin(), drawing.lines.end(),
                                [&](const plot::series& s) { return s.name == p.series; });
      if (found == drawing.lines.end())
        found = drawing.lines.insert(found, plot::series{p.series, {}, {}, true, true, p.is_floor});
      found->x.push_back(static_cast<double>(p.n));
      found->y.push_back(p.seconds);
    }
    if (drawing.lines.empty()) return std::nullopt;
    return figure{drawing.title, plot::to_svg(drawing)};
  }

  // For the drawing: what was measured, its peer, and the floor once for each size.
  void note_point(const measured& m, std::int64_t n, const std::string& series, bool with_floor) {
    points_.push_back({m.device, series, n, m.seconds, false});
    if (m.peer) {
      const std::string peer = m.peer->name;
      const bool there = std::any_of(points_.begin(), points_.end(), [&](const point& p) {
        return p.device == m.device && p.series == peer && p.n == n;
      });
      if (!there) points_.push_back({m.device, peer, n, m.peer->seconds, false});
    }
    if (with_floor && m.floor > 0) points_.push_back({m.device, "floor", n, m.floor, true});
  }

  // The largest backward error of what lies in the answer.
  double error_of(const bench_device& d, band_systems<double>& systems) {
    std::vector<detail::band_residual_facts> facts(static_cast<std::size_t>(systems.shape.systems));
    const batch_view<double> x = systems.answer();
    detail::band_residual<double>(d.dev, systems.matrix(), {systems.b.data(), systems.shape},
                                  {x.data, systems.shape}, nullptr, facts.data());
    double worst = 0;
    for (const auto& f : facts) worst = std::max(worst, f.backward_error());
    return worst;
  }

  void add(const measured& m, const bars& of) {
    const auto ratio = [](double a, double b) -> std::optional<double> {
      return a > 0 && b > 0 ? std::optional<double>(a / b) : std::nullopt;
    };
    const std::optional<double> peer = m.peer ? std::optional<double>(m.peer->seconds) : std::nullopt;
    const std::optional<double> of_floor = ratio(m.seconds, m.floor), gain = ratio(peer.value_or(0), m.seconds);
    table_.add({m.case_name, m.device, m.how, seconds_text(m.seconds), seconds_text(m.floor),
                ratio_text(of_floor), seconds_text(peer), ratio_text(gain), m.peer ? m.peer->name : "-",
                small_text(m.backward_error)});
    results_.rows.push_back({m.case_name,
                             m.device,
                             "double",
                             "time_" + m.how,
                             m.seconds,
                             "s",
                             m.floor,
                             peer,
                             peer ? gain : ratio(m.floor, m.seconds),
                             {},
                             {}});
    if (of.over_floor > 0)
      results_.rows.push_back({m.case_name,
                               m.device,
                               "double",
                               "time_over_floor",
                               of_floor,
                               "1",
                               1.0,
                               {},
                               {},
                               of.over_floor,
                               pass(of_floor, of.over_floor, false)});
    if (of.over_peer > 0)
      results_.rows.push_back({m.case_name,
                               m.device,
                               "double",
                               "speedup_over_cusparse",
                               gain,
                               "1",
                               {},
                               {},
                               {},
                               of.over_peer,
                               pass(gain, of.over_peer, true)});
  }
  static std::optional<bool> pass(std::optional<double> value, double bar, bool more_is_better) {
    if (!value) return std::nullopt;
    return more_is_better ? *value >= bar : *value <= bar;
  }

  void on_gpu(const bench_device& d) {
    for (int power = 10; power <= (options_.quick ? 22 : 30); power += power < 26 ? 2 : 1) {
      if (power == 28 || power == 29) continue;
      one_on_gpu(d, std::int64_t{1} << power);
    }
    for (const batch_case& of : batch_cases) {
      batches_on_gpu(d, of, band_kind::dominant);
      batches_on_gpu(d, of, band_kind::general);
    }
    for (const batch_case& of : odd_cases)
      for (const band_kind kind : {band_kind::dominant, band_kind::general}) odd_batch_on_gpu(d, of, kind);
    for (const std::int64_t n : {std::int64_t{1} << 14, std::int64_t{1} << 24}) {
      factored_on_gpu(d, n, band_kind::dominant);
      factored_on_gpu(d, n, band_kind::slow);
    }
  }

  void one_on_gpu(const bench_device& d, std::int64_t n) {
    const bool barred = n == std::int64_t{1} << 24 || n == std::int64_t{1} << 27;
    for (const band_kind kind :
         {band_kind::dominant, band_kind::general, band_kind::slow, band_kind::general_slow}) {
      if (!room(d.dev, n)) return;
      options_.say(fmt::format("one system of {}, {}, {}", size_text(n), name(kind), d.label));
      band_systems<double> systems(d.dev, kind, contiguous(n));
      measured m = solve_timed(d, systems, method::automatic);
      m.case_name = fmt::format("one system, n = {}, {}", size_text(n), name(kind));
      const bool interchanges = kind == band_kind::general || kind == band_kind::general_slow;
      if (n <= std::int64_t{1} << 27) m.peer = cusparse_one(d.dev, systems, interchanges, why_);
      note_point(m, n, name(kind), kind == band_kind::dominant);
      add(m, {!barred ? 0 : kind == band_kind::dominant ? 1.35 : 2.1, 0});
    }
  }

  void batches_on_gpu(const bench_device& d, const batch_case& of, band_kind kind) {
    if (!room(d.dev, 2 * of.n * of.systems)) return;
    options_.say(fmt::format("{} systems of {}, {}, {}", of.systems, of.n, name(kind), d.label));
    band_systems<double> side_by_side(d.dev, kind, interleaved(of.n, of.systems));
    band_systems<double> in_line(d.dev, kind, contiguous(of.n, of.systems));
    const std::optional<peer_time> peer = cusparse_batch(d.dev, in_line, side_by_side, why_);
    for (band_systems<double>* systems : {&in_line, &side_by_side}) {
      measured m = solve_timed(d, *systems, method::automatic);
      m.case_name = fmt::format("{} x {}, {}, {}", of.n, of.systems,
                                systems == &in_line ? "contiguous" : "interleaved", name(kind));
      m.peer = peer;
      add(m, {1.3, of.over_peer});
    }
  }

  // Every other system begins off the lines of 16 bytes that the copy engine moves.
  void odd_batch_on_gpu(const bench_device& d, const batch_case& of, band_kind kind) {
    if (!room(d.dev, of.n * of.systems)) return;
    options_.say(fmt::format("{} systems of {}, {}, {}", of.systems, of.n, name(kind), d.label));
    band_systems<double> systems(d.dev, kind, contiguous(of.n, of.systems));
    measured m = solve_timed(d, systems, method::automatic);
    m.case_name = fmt::format("{} x {}, contiguous, {}", of.n, of.systems, name(kind));
    add(m, {1.3, 0});
  }

  void factored_on_gpu(const bench_device& d, std::int64_t n, band_kind kind) {
    if (!room(d.dev, n)) return;
    options_.say(fmt::format("factored once, {}, {}, {}", size_text(n), name(kind), d.label));
    band_systems<double> systems(d.dev, kind, contiguous(n));
    measured m = solve_timed(d, systems, method::automatic);
    const double unfactored = m.seconds;
    const factored_tridiagonal<double> factors(d.dev, systems.matrix());
    m.seconds = seconds_of(d.dev, options_, [&] { factors.solve(systems.rhs(), systems.answer()); });
    m.backward_error = error_of(d, systems);
    m.how = "factored";
    m.case_name = fmt::format("factored, n = {}, {}", size_text(n), name(kind));
    m.peer = peer_time{unfactored, "our solve without factors"};
    if (kind == band_kind::slow) m.floor = floor_of(d, n, 4);  // symmetric: one factor less to read
    const bool large = n >= std::int64_t{1} << 24;
    add(m, {!large ? 0 : kind == band_kind::dominant ? 1.3 : 2.0, 0});
    if (large) return;
    const double gain = unfactored / m.seconds;
    results_.rows.push_back(
        {m.case_name, d.label, "double", "speedup_over_unfactored", gain, "1", {}, {}, {}, 3.0, gain >= 3});
  }

  void on_cpu(const bench_device& d) {
    for (const int power : options_.quick ? std::vector<int>{14, 18} : std::vector<int>{14, 20, 24})
      one_on_cpu(d, std::int64_t{1} << power);
    for (const batch_case& of : batch_cases) {
      const std::int64_t systems_count = options_.quick ? of.systems / 64 : of.systems / 8;
      if (!room(d.dev, of.n * systems_count)) return;
      options_.say(fmt::format("{} systems of {}, {}", systems_count, of.n, d.label));
      for (const bool across : {false, true}) {
        band_systems<double> systems(
            d.dev, band_kind::dominant,
            across ? interleaved(of.n, systems_count) : contiguous(of.n, systems_count));
        measured m = solve_timed(d, systems, method::thomas);
        m.case_name = fmt::format("{} x {}, {}", of.n, systems_count, across ? "interleaved" : "contiguous");
        if (const auto gtsv = across ? std::nullopt : lapack_gtsv(options_, systems))
          m.peer = peer_time{*gtsv, "LAPACK gtsv"};
        add(m, {});
      }
    }
  }

  void one_on_cpu(const bench_device& d, std::int64_t n) {
    if (!room(d.dev, n)) return;
    options_.say(fmt::format("one system of {}, {}", size_text(n), d.label));
    band_systems<double> systems(d.dev, band_kind::dominant, contiguous(n));
    const auto gtsv = lapack_gtsv(options_, systems), gttrs = lapack_gttrs(options_, systems);
    const std::string case_name = fmt::format("one system, n = {}, dominant", size_text(n));
    for (const method how : {method::thomas, method::partition, method::cyclic_reduction, method::pcr}) {
      if (how == method::pcr && n > std::int64_t{1} << 18) continue;
      measured m = solve_timed(d, systems, how);
      m.case_name = case_name;
      if (gtsv) m.peer = peer_time{*gtsv, "LAPACK gtsv"};
      note_point(m, n, m.how, how == method::thomas);
      add(m, {});
    }
    const factored_tridiagonal<double> factors(d.dev, systems.matrix());
    measured m;
    m.device = d.label;
    m.case_name = case_name;
    m.how = "factored";
    m.floor = floor_of(d, n);
    m.seconds = seconds_of(d.dev, options_, [&] { factors.solve(systems.rhs(), systems.answer()); });
    m.backward_error = error_of(d, systems);
    if (gttrs) m.peer = peer_time{*gttrs, "LAPACK gttrs"};
    note_point(m, n, m.how, false);
    add(m, {});
  }

  const suite_options& options_;
  const std::vector<bench_device>& devices_;
  suite_results& results_;
  text_table table_;
  std::vector<point> points_;
  std::string why_;
};

}  // namespace

suite_results run_tridiagonal_suite(const suite_options& options) {
  const std::vector<bench_device> devices = open_devices(options);
  suite_results all;
  all.suite = "tridiagonal";
  all.title = "Tridiagonal systems";
  all.machine = measure_machine(options, devices);
  all.sections.push_back({"The machine", {}, {machine_table(all.machine)}, {}});
  tridiagonal_run(options, devices, all).run();
  all.interrupted = options.stop();
  all.sections.push_back({"The bars: " + bars_text(all.rows), {}, {bars_table(all.rows)}, {}});
  return all;
}

}  // namespace vouch::bench
