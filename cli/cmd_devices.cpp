// vouch devices and vouch --version: what the machine and the build have for us.
#include <fmt/format.h>

#include <algorithm>
#include <cli/build.hpp>
#include <cli/commit.hpp>
#include <filesystem>
#include <fstream>
#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"

namespace vouch::cli {
namespace {

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

std::string code_of(const cuda_device_facts& gpu) {
  return fmt::format("{}.{}", gpu.code_generation / 10, gpu.code_generation % 10);
}

void print_text(const device& cpu, const std::vector<cuda_device_facts>& gpus) {
  fmt::print("cpu     {}, {} cores, {} threads in use, {:.1f} GiB free\n", cpu.name(), cpu.processors(),
             cpu.threads(), gib(cpu.memory_free()));
  for (const cuda_device_facts& gpu : gpus) {
    fmt::print("cuda:{}  {}, compute {}.{}, {} multiprocessors, {:.1f} of {:.1f} GiB free\n", gpu.index,
               gpu.name, gpu.compute_major, gpu.compute_minor, gpu.processors, gib(gpu.memory_free),
               gib(gpu.memory_total));
    fmt::print("        {} MiB L2, {} KiB shared memory a block, driver {}, runtime {}, {}\n",
               gpu.l2_bytes >> 20, gpu.shared_per_block >> 10, gpu.driver_version, gpu.runtime_version,
               gpu.code_generation == 0 ? "no code for it in this build" : "code for compute " + code_of(gpu));
  }
  if (gpus.empty())
    fmt::print("cuda    {}\n", built_with_cuda ? "no usable GPU found" : "not in this build of vouch");
  for (const sparse_backend& b : sparse_backends())
    fmt::print("{:<7} {}\n", b.name,
               !b.missing.empty() ? b.missing
               : b.on_gpu         ? b.library + " factorises sparse matrices on a GPU"
                                  : b.library + " factorises sparse matrices");
}

void print_object(const device& cpu, const std::vector<cuda_device_facts>& gpus) {
  json object = object_of("devices");
  object["built_with_cuda"] = built_with_cuda;
  object["cpu"] = {{"kind", "cpu"},
                   {"name", cpu.name()},
                   {"threads", cpu.threads()},
                   {"cores", cpu.processors()},
                   {"memory_free_bytes", cpu.memory_free()}};
  object["gpus"] = json::array();
  for (const cuda_device_facts& gpu : gpus)
    object["gpus"].push_back({{"kind", "cuda"},
                              {"index", gpu.index},
                              {"name", gpu.name},
                              {"compute", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                              {"code", known_if(gpu.code_generation != 0, code_of(gpu))},
                              {"multiprocessors", gpu.processors},
                              {"memory_total_bytes", gpu.memory_total},
                              {"memory_free_bytes", gpu.memory_free},
                              {"l2_bytes", gpu.l2_bytes},
                              {"shared_per_block_bytes", gpu.shared_per_block},
                              {"driver_version", gpu.driver_version},
                              {"runtime_version", gpu.runtime_version}});
  object["backends"] = json::array();
  for (const sparse_backend& b : sparse_backends())
    object["backends"].push_back({{"name", b.name},
                                  {"library", known_if(b.missing.empty(), b.library)},
                                  {"missing", or_null(b.missing)}});
  print_json(object);
}

// ---- --version ----

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

int cmd_devices(std::span<const char* const> arguments) {
  common_options common;
  command_line line("devices", "list the CPU and the GPUs that vouch can use");
  line.example("vouch devices", "a line or two for each");
  line.example("vouch devices --json", "the same for programs");
  add_threads_option(line, common);
  line.flag("--json", common.json, "print one JSON object instead of the list");
  if (!line.parse(arguments)) return goal_reached;

  const device cpu = open_cpu(common);
  const std::vector<cuda_device_facts> gpus =
      cuda_may_be_present() ? cuda_devices() : std::vector<cuda_device_facts>{};
  common.json ? print_object(cpu, gpus) : print_text(cpu, gpus);
  return goal_reached;
}

}  // namespace vouch::cli
