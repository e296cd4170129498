#include "verify_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <cli/report/plot.hpp>

namespace vouch::bench {
namespace {

// The figures of one case on one device.
struct proof_times {
  std::string case_name, device;
  std::optional<double> solve, certificate, bound, overestimation;
};

// In the order of the rows.
std::vector<proof_times> collect(const std::vector<bench_row>& rows) {
  std::vector<proof_times> all;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const bench_row& row : rows) {
    const auto [place, is_new] = places.try_emplace({row.case_name, row.device}, all.size());
    if (is_new) all.push_back({row.case_name, row.device, {}, {}, {}, {}});
    proof_times& one = all[place->second];
    if (row.metric == "solve_time") one.solve = row.value;
    if (row.metric == "certificate_time") one.certificate = row.value;
    if (row.metric == "bound_time") one.bound = row.value;
    if (row.metric == "median_bound_over_error") one.overestimation = row.value;
  }
  return all;
}

std::vector<std::string> devices_of(const std::vector<proof_times>& all) {
  std::vector<std::string> devices;
  for (const proof_times& one : all)
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) devices.push_back(one.device);
  return devices;
}

std::optional<figure> cost_drawing(const std::vector<proof_times>& all) {
  plot::line_plot drawing;
  drawing.title = "Proof over plain solve";
  drawing.x = {"seconds to solve", plot::scale::logarithmic, {}, {}};
  drawing.y = {"seconds to prove", plot::scale::logarithmic, {}, {}};
  double least = 1e300, most = 0;
  for (const std::string& device : devices_of(all)) {
    plot::series points{device, {}, {}, false, true, false};
    for (const proof_times& one : all) {
      if (one.device != device || !one.solve || !one.bound) continue;
      points.x.push_back(*one.solve);
      points.y.push_back(one.certificate.value_or(0) + *one.bound);
      least = std::min(least, *one.solve);
      most = std::max(most, *one.solve);
    }
    if (!points.x.empty()) drawing.lines.push_back(std::move(points));
  }
  if (drawing.lines.empty()) return std::nullopt;
  drawing.lines.push_back({"as long as the solve", {least, most}, {least, most}, true, false, true});
  return figure{
      "A point for each system: certificate and bound of the first right-hand side. Below the dashed "
      "line the proof is cheaper than the solve.",
      plot::to_svg(drawing)};
}

std::optional<figure> sharpness_drawing(const std::vector<proof_times>& all) {
  plot::line_plot drawing;
  drawing.title = "Bound over true error";
  drawing.x = {"system", plot::scale::linear, {}, {}};
  drawing.y = {"median of bound / error", plot::scale::logarithmic, 1.0, {}};
  drawing.references.push_back({100, "bar"});
  std::vector<std::string> names;
  std::string key;
  for (const proof_times& one : all)
    if (one.overestimation && std::find(names.begin(), names.end(), one.case_name) == names.end()) {
      names.push_back(one.case_name);
      key += fmt::format("{}{}: {}", key.empty() ? "" : "; ", names.size(), one.case_name);
    }
  drawing.x.from = 0;
  drawing.x.to = static_cast<double>(names.size()) + 1;
  for (const std::string& device : devices_of(all)) {
    plot::series points{device, {}, {}, false, true, false};
    for (const proof_times& one : all) {
      if (one.device != device || !one.overestimation) continue;
      points.x.push_back(
          static_cast<double>(std::find(names.begin(), names.end(), one.case_name) - names.begin() + 1));
      points.y.push_back(*one.overestimation);
    }
    if (!points.x.empty()) drawing.lines.push_back(std::move(points));
  }
  if (drawing.lines.empty()) return std::nullopt;
  return figure{"Where the solution is known exactly. " + key + ".", plot::to_svg(drawing)};
}

}  // namespace

std::vector<figure> proof_drawings(const std::vector<bench_row>& rows) {
  const std::vector<proof_times> all = collect(rows);
  std::vector<figure> drawings;
  if (auto cost = cost_drawing(all)) drawings.push_back(std::move(*cost));
  if (auto sharpness = sharpness_drawing(all)) drawings.push_back(std::move(*sharpness));
  return drawings;
}

}  // namespace vouch::bench
