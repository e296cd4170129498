#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cli/build.hpp>
#include <cli/commit.hpp>
#include <filesystem>
#include <fstream>

#include <vouch/core/config.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>

#include "json.hpp"

namespace vouch::cli {
namespace {

const char* instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
  return "baseline";
}

json gpus() {
  json names = json::array();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream facts(entry.path() / "information");
    for (std::string line; std::getline(facts, line);)
      if (line.starts_with("Model:"))
        names.push_back(line.substr(std::min(line.find_first_not_of(" \t", 6), line.size())));
  }
  return names;
}

json backends() {
  json names = json::array();
  for (const sparse_backend& b : sparse_backends())
    if (b.missing.empty()) names.push_back(b.library);
  return names;
}

// Libraries of sparse factorisations take longer to load than a line of text should.
json facts(bool with_sparse) {
  const device cpu = device::cpu();
  return {{"schema", "vouch.version/1"},
          {"version", version},
          {"commit", or_null(std::string(VOUCH_COMMIT))},
          {"build", VOUCH_BUILD},
          {"cpu", fmt::format("{}, {}, {} threads", cpu.name(), instruction_set(), cpu.threads())},
          {"cuda", known_if(built_with_cuda, VOUCH_CUDA_FACTS)},
          {"gpus", gpus()},
          {"lapack", or_null(std::string(lapack::name()))},
          {"sparse", with_sparse ? backends() : json("vouch devices says which libraries are there")},
          {"mpfr", known_if(built_with_mpfr, VOUCH_MPFR_FACTS)}};
}

std::string shown(const json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  for (const json& element : value) text += (text.empty() ? "" : ", ") + element.get<std::string>();
  return text.empty() ? "none" : text;
}

}  // namespace

std::string version_text(bool as_json) {
  const json all = facts(as_json);
  if (as_json) return dump(all) + "\n";
  std::string text = fmt::format("vouch {}\n", version);
  for (const auto& [key, value] : all.items())
    if (key != "schema" && key != "version") text += fmt::format("{:<9}{}\n", key, shown(value));
  return text;
}

}  // namespace vouch::cli
