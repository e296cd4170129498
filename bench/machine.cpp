#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/stopwatch.hpp>

#include "machine_cuda.hpp"

namespace vouch::bench {
namespace {

constexpr int passes = 10;

template <class Work>
double best_seconds(Work work) {
  double best = 1e300;
  for (int pass = 0; pass <= passes; ++pass) {  // the first one warms up
    const stopwatch clock;
    work();
    const double seconds = clock.seconds();
    if (pass > 0) best = std::min(best, seconds);
  }
  return best;
}

cpu_bandwidth measure(array<double>& a, const array<double>& b, const array<double>& c, int threads) {
  const std::int64_t n = a.size();
  double* const pa = a.data();
  const double* const pb = b.data();
  const double* const pc = c.data();
  const double copy = best_seconds([=] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) pa[i] = pb[i];
  });
  const double triad = best_seconds([=] {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) pa[i] = pb[i] + 3.0 * pc[i];
  });
  const auto bytes = static_cast<double>(n) * sizeof(double);
  return {threads, 2 * bytes / copy, 3 * bytes / triad};
}

// The third-level caches of all cores together, as Linux tells; sysconf reports the whole chip to a virtual
// machine that has a part of it.
std::int64_t last_level_cache(int cores) {
  std::set<int> seen;
  std::int64_t bytes = 0;
  for (int core = 0; core < cores; ++core) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index3/", core);
    int id = 0;
    std::int64_t kibibytes = 0;  // "32768K"
    if (std::ifstream(folder + "id") >> id && std::ifstream(folder + "size") >> kibibytes &&
        seen.insert(id).second)
      bytes += kibibytes * 1024;
  }
  return bytes;
}

nlohmann::ordered_json to_json(const cpu_bandwidth& b) {
  return {{"threads", b.threads}, {"copy_bytes_per_s", b.copy}, {"triad_bytes_per_s", b.triad}};
}

}  // namespace

cpu_facts measure_cpu(const device& all_threads, std::int64_t array_bytes) {
  cpu_facts facts;
  facts.name = all_threads.name();
  facts.cores = all_threads.processors();
  facts.cache_bytes = last_level_cache(facts.cores);
  const std::int64_t n = array_bytes / static_cast<std::int64_t>(sizeof(double));
  auto a = array<double>::zeros(all_threads, n);
  const auto b = array<double>::zeros(all_threads, n);
  const auto c = array<double>::zeros(all_threads, n);
  facts.all = measure(a, b, c, all_threads.threads());
  facts.one = all_threads.threads() == 1 ? facts.all : measure(a, b, c, 1);
  return facts;
}

gpu_facts measure_gpu(const device& gpu, std::int64_t array_bytes) {
  gpu_facts facts;
  facts.name = gpu.name();
  facts.index = gpu.index();
  facts.processors = gpu.processors();
  for (const cuda_device_facts& known : cuda_devices())
    if (known.index == gpu.index()) facts.cache_bytes = known.l2_bytes;
  if constexpr (built_with_cuda) {
    auto to = array<std::byte>::zeros(gpu, array_bytes);
    const auto from = array<std::byte>::zeros(gpu, array_bytes);
    facts.copy = cuda_copy_speed(gpu, to.data(), from.data(), static_cast<std::size_t>(array_bytes), passes);
  }
  return facts;
}

nlohmann::ordered_json to_json(const machine_facts& machine) {
  const cpu_facts& cpu = machine.cpu;
  nlohmann::ordered_json object;
  object["cpu"] = {{"name", cpu.name},
                   {"cores", cpu.cores},
                   {"cache_bytes", cpu.cache_bytes},
                   {"one_thread", to_json(cpu.one)},
                   {"all_threads", to_json(cpu.all)}};
  object["gpu"] = nullptr;
  if (const auto& gpu = machine.gpu)
    object["gpu"] = {{"name", gpu->name},
                     {"index", gpu->index},
                     {"multiprocessors", gpu->processors},
                     {"cache_bytes", gpu->cache_bytes},
                     {"copy_bytes_per_s", gpu->copy}};
  return object;
}

text_table machine_table(const machine_facts& machine) {
  text_table table("The machine, measured in this run",
                   {{"device", true}, {"what", true}, {"copy"}, {"triad"}});
  const cpu_facts& cpu = machine.cpu;
  table.add(
      {"cpu1", fmt::format("{}, one thread", cpu.name), rate_text(cpu.one.copy), rate_text(cpu.one.triad)});
  table.add({"cpu", fmt::format("{}, {} threads, {} cores", cpu.name, cpu.all.threads, cpu.cores),
             rate_text(cpu.all.copy), rate_text(cpu.all.triad)});
  if (const auto& gpu = machine.gpu)
    table.add({"gpu", fmt::format("{}, {} multiprocessors", gpu->name, gpu->processors), rate_text(gpu->copy),
               rate_text({})});
  table.note("Bytes read and written a second, best of several passes over arrays larger than any cache.");
  return table;
}

}  // namespace vouch::bench
