#include <algorithm>
#include <charconv>
#include <string>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/loop/choose_device.hpp>

namespace vouch {
namespace {

std::vector<int> all_of_one_kind() {
  std::vector<int> gpus;
  const std::vector<cuda_device_facts> there = cuda_devices();
  for (const cuda_device_facts& gpu : there)
    if (gpu.name == there.front().name && std::ssize(gpus) < most_gpus) gpus.push_back(gpu.index);
  if (gpus.empty())
    throw no_cuda_error("no CUDA device", "use --device cpu, or check the driver with nvidia-smi");
  return gpus;
}

}  // namespace

bool names_several_gpus(std::string_view device) {
  return device == "cuda:all" || (device.starts_with("cuda:") && device.find(',') != std::string_view::npos);
}

std::vector<int> gpus_named(std::string_view list) {
  if (list == "all") return all_of_one_kind();
  std::vector<int> gpus;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::string_view name = list.substr(from, comma - from);
    int gpu = -1;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), gpu);
    if (code != std::errc{} || end != name.data() + name.size() || gpu < 0)
      throw value_error("\"" + std::string(name) + "\" is no number of a GPU");
    gpus.push_back(gpu);
    from = comma + 1;
  }
  check_gpus(gpus);
  return gpus;
}

void check_gpus(const std::vector<int>& gpus) {
  for (auto gpu = gpus.begin(); gpu != gpus.end(); ++gpu)
    if (std::find(gpus.begin(), gpu, *gpu) != gpu)
      throw value_error("GPU " + std::to_string(*gpu) + " is named twice");
  check_number_of_gpus(gpus.size());
}

void check_number_of_gpus(std::size_t count) {
  if (count > most_gpus)
    throw value_error("up to " + std::to_string(most_gpus) + " GPUs share a solve, not " +
                      std::to_string(count));
}

}  // namespace vouch
