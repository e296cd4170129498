#include "json.hpp"

#include <fmt/format.h>

#include <cmath>

#include <vouch/core/config.hpp>
#include <vouch/core/memory.hpp>

namespace vouch::cli {

json object_of(std::string_view what, const json& more) {
  json object{{"schema", fmt::format("vouch.{}/1", what)}, {"version", version}};
  object.update(more);
  return object;
}

json or_null(double value) { return known_if(std::isfinite(value), value); }
json or_null(const std::string& text) { return known_if(!text.empty(), text); }
json or_null(const std::optional<double>& value) { return value ? or_null(*value) : json(); }

json to_json(const device& first, const std::vector<int>& gpus) {
  json object{{"kind", first.kind()}, {"name", first.name()}, {"threads", nullptr}, {"gpus", nullptr}};
  if (!first.is_cuda())
    object["threads"] = first.threads();
  else
    object["gpus"] = gpus.empty() ? std::vector<int>{first.index()} : gpus;
  return object;
}

json to_json(const device_group& devices) {
  std::vector<int> gpus;
  for (std::int64_t k = 0; k < devices.size(); ++k) gpus.push_back(devices[k].index());
  return to_json(devices.front(), gpus);
}

json matrix_json(const std::string& file, std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                 bool symmetric, bool complex) {
  json object{{"file", file}, {"rows", rows}, {"cols", cols}, {"nonzeros", nonzeros}, {"symmetric", symmetric}};
  if (complex) object["field"] = "complex";
  return object;
}

json memory_json() { return {{"host_peak", host_peak_bytes()}, {"device_peak", device_peak_bytes()}}; }

std::string dump(const json& object, int indent) {
  return object.dump(indent, ' ', false, json::error_handler_t::replace);
}

void print_json(const json& object) { fmt::print("{}\n", dump(object)); }

}  // namespace vouch::cli
