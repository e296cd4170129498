// bench/suite.hpp -- what every suite of vouch bench takes, and the list of them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>

#include "results.hpp"

namespace vouch::bench {

/// A device under the name by which rows refer to it: "cpu1", "cpu" or "gpu".
struct bench_device {
  std::string label;
  device dev;
};

struct suite_options {
  std::vector<std::string> devices;                // labels; empty: all that are there
  std::vector<std::string> matrices;               // Matrix Market files in place of the suite's own systems
  std::string data;                                // folder with the published matrices; may be empty
  std::int64_t repeat = 0;                         // solves a table cell; 0: as many as fit a short time
  int threads = 0;                                 // of "cpu"; 0: all
  bool quick = false;                              // a small selection, a minute on two cores
  bool simulate = false;                           // scale: by the model, nothing is measured
  std::function<void(std::string_view)> progress;  // one line when a piece of work begins; may be empty
  std::function<bool()> interrupted;               // asked often; true ends the suite early; may be empty

  void say(std::string_view line) const {
    if (progress) progress(line);
  }
  bool stop() const { return interrupted && interrupted(); }
};

struct suite {
  std::string_view name;
  std::string_view summary;
  suite_results (*run)(const suite_options&);
};

/// All suites, in the order in which help lists them.
std::span<const suite> suites();

/// Opens the devices asked for.
///
/// Throws  value_error    an unknown label, or one twice
///         no_cuda_error  "gpu" was asked for by name and there is none
std::vector<bench_device> open_devices(const suite_options& options);

/// Measures the memory of the machine; the GPU's where it is among the devices.
machine_facts measure_machine(const suite_options& options, const std::vector<bench_device>& devices);
/// Bytes a second of a copy there.
double copy_speed(const machine_facts& machine, const bench_device& d);

}  // namespace vouch::bench
