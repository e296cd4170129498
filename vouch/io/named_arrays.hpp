// vouch/io/named_arrays.hpp -- arrays of an .npz archive that are asked for by name; private.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/io/npz.hpp>

namespace vouch::detail {

class named_arrays {
 public:
  /// hint says how such an archive is written.
  named_arrays(const std::string& path, std::span<const std::string_view> names, std::string hint)
      : path_(path), hint_(std::move(hint)), arrays_(read_npz(path, names)) {}

  const npy_array* find(std::string_view name) const {
    const auto named = [&](const npz_array& a) { return a.name == name; };
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), named);
    return found == arrays_.end() ? nullptr : &found->array;
  }
  /// Throws parse_error where it is not there.
  const npy_array& need(std::string_view name) const {
    if (const npy_array* array = find(name)) return *array;
    throw parse_error(path_, 0, 0, "there is no array " + std::string(name) + " in it", hint_);
  }

 private:
  const std::string& path_;
  std::string hint_;
  std::vector<npz_array> arrays_;
};

/// "2 x 3"
inline std::string shape_text(const npy_array& array) {
  std::string text;
  for (const std::int64_t length : array.shape) text += (text.empty() ? "" : " x ") + std::to_string(length);
  return text;
}

}  // namespace vouch::detail
