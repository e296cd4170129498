#include "readme_table.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include <vouch/core/error.hpp>

#include "text_table.hpp"

namespace vouch::bench {

namespace {

using nlohmann::json;

json read(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw file_error(file + ": cannot be read");
  json object = json::parse(in, nullptr, false);
  if (!object.is_object() || object.value("schema", "") != "vouch.bench/1" || !object.contains("rows"))
    throw value_error(file + ": no results of vouch bench", "make one with: vouch bench SUITE -o FILE.json");
  return object;
}

std::string figure_text(const json& number, const std::string& unit = "1") {
  if (!number.is_number()) return "";
  if (unit == "s") return seconds_text(number.get<double>());
  return fmt::format("{:.3g}{}", number.get<double>(), unit == "1" ? "" : " " + unit);
}

std::string heading(const json& object) {
  const std::string suite = "Suite " + object.at("suite").get<std::string>();
  if (!object.contains("device")) return suite;
  const json& device = object.at("device");
  std::string line = fmt::format("{}, on {} ({} cores)", suite, device.at("cpu").at("name").get<std::string>(),
                                 device.at("cpu").at("cores").get<int>());
  if (device.at("gpu").is_object()) line += ", " + device.at("gpu").at("name").get<std::string>();
  return line;
}

std::string row_line(const json& row) {
  const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
  const std::string unit = text("unit");
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", text("case"), text("device"),
                     text("precision"), text("metric"), figure_text(row.at("value"), unit),
                     figure_text(row.at("peer"), unit), figure_text(row.at("ratio")),
                     figure_text(row.at("bar"), unit == "s" ? "s" : "1"),
                     row.at("pass").get<bool>() ? "reached" : "missed");
}

}  // namespace

std::string readme_table(const std::vector<std::string>& json_files) {
  std::string out;
  for (const std::string& file : json_files) {
    const json object = read(file);
    try {
      out += fmt::format("{}{}:\n\n", out.empty() ? "" : "\n", heading(object));
      out += "| case | device | precision | metric | measured | peer | ratio | bar | verdict |\n";
      out += "|---|---|---|---|---|---|---|---|---|\n";
      for (const json& row : object.at("rows"))
        if (row.at("bar").is_number() && row.at("pass").is_boolean()) out += row_line(row);
    } catch (const json::exception& e) {
      throw value_error(fmt::format("{}: {}", file, e.what()));
    }
  }
  return out;
}

}  // namespace vouch::bench
