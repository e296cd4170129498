// bench/machine.hpp -- the machine that a suite runs on, and what its memory can do, measured.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>

#include "text_table.hpp"

namespace vouch::bench {

using namespace report;

/// Bytes a second as STREAM counts them: copy 2, triad 3 words an element. Best of several passes.
struct cpu_bandwidth {
  int threads = 1;
  double copy = 0;
  double triad = 0;
  double best() const { return copy > triad ? copy : triad; }
};

struct cpu_facts {
  std::string name;
  int cores = 0;
  std::int64_t cache_bytes = 0;  // of the last level; 0 where unknown
  cpu_bandwidth one;             // one thread
  cpu_bandwidth all;             // all threads
};

struct gpu_facts {
  std::string name;
  int index = 0;
  int processors = 0;
  std::int64_t cache_bytes = 0;
  double copy = 0;  // device to device, bytes read and written a second
};

struct machine_facts {
  cpu_facts cpu;
  std::optional<gpu_facts> gpu;
};

/// Measures the memory of the CPU with one and with all its threads; three arrays of array_bytes each.
///
/// Throws  out_of_memory  no room for the arrays
cpu_facts measure_cpu(const device& all_threads, std::int64_t array_bytes);

/// Measures the GPU's copy speed by events on its stream; two arrays of array_bytes each.
gpu_facts measure_gpu(const device& gpu, std::int64_t array_bytes);

nlohmann::ordered_json to_json(const machine_facts& machine);
text_table machine_table(const machine_facts& machine);

}  // namespace vouch::bench
