// cli/json.hpp -- what the objects of --json have in common.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device_group.hpp>

namespace vouch::cli {

using json = nlohmann::ordered_json;

/// {"schema": "vouch.WHAT/1", "version"}, how every object begins, and what is to follow.
json object_of(std::string_view what, const json& more = json::object());

// null for NaN, infinity, "" and nothing.
json or_null(double value);
json or_null(const std::string& text);
json or_null(const std::optional<double>& value);
template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}
/// null where it is not known.
template <class T>
json known_if(bool known, const T& value) {
  return known ? json(value) : json();
}

/// Puts what describe() says of a result or a proof into an object.
struct into_json {
  json& object_;

  template <class T>
  void operator()(const char* key, const T& value) const {
    object_[key] = value;
  }
  void operator()(const char* key, double value) const { object_[key] = or_null(value); }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    object_[key] = or_null(value);
  }
  template <class Describe>
  void object(const char* key, const Describe& describe) const {
    describe(into_json{object_[key]});
  }
};
/// The object that describe() makes of it.
template <class T>
json described(const T& what) {
  json object;
  describe(what, into_json{object});
  return object;
}

/// {"kind", "name", "threads", "gpus"} of the devices that were taken; threads is null on GPUs, gpus on a CPU.
json to_json(const device_group& devices);
/// The same by the first of them and the numbers of all; none: it alone.
json to_json(const device& first, const std::vector<int>& gpus);

/// {"file", "rows", "cols", "nonzeros", "symmetric"}: the key "matrix" of every command that has one; of a complex one with
/// its field.
json matrix_json(const std::string& file, std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                 bool symmetric, bool complex = false);

/// {"host_peak", "device_peak"}: the key "memory_bytes".
json memory_json();

/// Prints the one object of --json, indented. What is no UTF-8, as in the name of a file, is shown with replacement
/// characters rather than refused.
void print_json(const json& object);
/// Its text.
std::string dump(const json& object, int indent = 2);

}  // namespace vouch::cli
