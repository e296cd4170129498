#include "results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include <vouch/core/config.hpp>

namespace vouch::bench {
namespace {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// JSON has no NaN and no infinity: such a figure is no figure.
nlohmann::ordered_json or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string figure_text(std::optional<double> value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "s") return seconds_text(value);
  return fmt::format("{:.3g}{}", *value, unit == "1" ? "" : " " + unit);
}

}  // namespace

nlohmann::ordered_json to_json(const bench_row& row) {
  return {{"case", row.case_name},       {"device", row.device},        {"precision", row.precision},
          {"metric", row.metric},        {"value", or_null(row.value)}, {"unit", row.unit},
          {"floor", or_null(row.floor)}, {"peer", or_null(row.peer)},   {"ratio", or_null(row.ratio)},
          {"bar", or_null(row.bar)},     {"pass", or_null(row.pass)}};
}

nlohmann::ordered_json to_json(const suite_results& results) {
  nlohmann::ordered_json object{{"schema", "vouch.bench/1"}, {"version", version}, {"suite", results.suite}};
  object["device"] = to_json(results.machine);
  object["rows"] = nlohmann::ordered_json::array();
  for (const bench_row& row : results.rows) object["rows"].push_back(to_json(row));
  return object;
}

std::string to_text(const suite_results& results) {
  std::string out;
  for (const report_section& section : results.sections) {
    out += fmt::format("{}{}\n{}\n\n", out.empty() ? "" : "\n", section.title,
                       std::string(section.title.size(), '='));
    for (const std::string& paragraph : section.paragraphs) out += paragraph + "\n\n";
    for (const text_table& table : section.tables) out += table.text() + '\n';
  }
  return out;
}

std::string bars_text(const std::vector<bench_row>& rows) {
  int reached = 0, missed = 0, open = 0;
  for (const bench_row& row : rows) {
    if (!row.bar) continue;
    ++(!row.pass ? open : *row.pass ? reached : missed);
  }
  if (reached + missed + open == 0) return "no bars in this run";
  std::string text = fmt::format("{} of {} bars reached", reached, reached + missed);
  if (open > 0) text += fmt::format(", {} not measured", open);
  return text;
}

text_table bars_table(const std::vector<bench_row>& rows) {
  text_table table("What must be reached", {{"case", true},
                                            {"device", true},
                                            {"precision", true},
                                            {"metric", true},
                                            {"measured"},
                                            {"bar"},
                                            {"floor"},
                                            {"peer"},
                                            {"verdict", true}});
  for (const bench_row& row : rows) {
    if (!row.bar) continue;
    table.add({row.case_name, row.device, row.precision, row.metric, figure_text(row.value, row.unit),
               figure_text(row.bar, row.unit), figure_text(row.floor, row.unit),
               figure_text(row.peer, row.unit),
               !row.pass   ? "not measured"
               : *row.pass ? "reached"
                           : "MISSED"});
  }
  return table;
}

}  // namespace vouch::bench
