// tests/fingerprint/shared_prints.hpp -- synthetic prints with what the original program makes of them at every stage,
// from the data folder beside the project.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <vouch/fingerprint/classify.hpp>

#include "data.hpp"

namespace vouch::testing {

/// The bytes of a file, unpacked where it ends in .xz.
inline std::string unpacked(const std::string& path) {
  if (!path.ends_with(".xz")) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  FILE* pipe = popen(("xz -dc '" + path + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("xz cannot be started");
  std::string bytes;
  char part[65536];
  while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) bytes.append(part, got);
  if (pclose(pipe) != 0) throw std::runtime_error("xz cannot unpack " + path);
  return bytes;
}

template <class T>
std::vector<T> numbers_in(const std::string& path) {
  const std::string bytes = unpacked(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// All prints side by side, in the order of results.tsv.
struct shared_prints {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> results;
  std::vector<fingerprint::grey_image> pages;
  std::vector<std::uint8_t> snips, enhanced, indices, foreground;
  std::vector<float> averages, registered, mlp_features, pnn_features;

  double number(std::size_t print, const std::string& column) const {
    return std::stod(results[print].at(column));
  }
  char pattern(std::size_t print, const std::string& column) const { return results[print].at(column).front(); }
  std::size_t size() const { return names.size(); }
};

inline shared_prints read_shared_prints(const std::string& folder) {
  shared_prints all;
  std::istringstream table(unpacked(folder + "/results.tsv"));
  std::string line, cell;
  std::getline(table, line);
  std::vector<std::string> columns;
  for (std::istringstream head(line); std::getline(head, cell, '\t');) columns.push_back(cell);
  const std::vector<float> averages = numbers_in<float>(folder + "/averages.f32.xz");
  while (std::getline(table, line)) {
    std::map<std::string, std::string> row;
    std::istringstream fields(line);
    for (const std::string& column : columns) {
      std::getline(fields, cell, '\t');
      row[column] = cell;
    }
    const std::string name = row.at("name");
    const std::string images = unpacked(folder + "/" + name + ".pgms.xz");
    constexpr std::size_t page_bytes = 15 + 832 * 768;
    all.pages.push_back(fingerprint::parse_grey_image(name, std::string_view(images).substr(0, page_bytes)));
    const auto append = [](std::vector<std::uint8_t>& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(all.snips, fingerprint::parse_grey_image(name, std::string_view(images).substr(page_bytes)).pixels);
    append(all.enhanced, unpacked(folder + "/" + name + ".enh.u8.xz"));
    append(all.indices, unpacked(folder + "/" + name + ".pix.u8.xz"));
    const auto of_print =
        averages.begin() + static_cast<std::ptrdiff_t>(2 * fingerprint::orientation_size * all.size());
    all.averages.insert(all.averages.end(), of_print, of_print + fingerprint::orientation_size);
    all.registered.insert(all.registered.end(), of_print + fingerprint::orientation_size,
                          of_print + 2 * fingerprint::orientation_size);
    all.names.push_back(name);
    all.results.push_back(row);
  }
  all.foreground = numbers_in<std::uint8_t>(folder + "/foreground.u8.xz");
  all.mlp_features = numbers_in<float>(folder + "/features_mlp.f32");
  all.pnn_features = numbers_in<float>(folder + "/features_pnn.f32");
  return all;
}

}  // namespace vouch::testing
