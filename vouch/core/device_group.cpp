#include <vouch/core/device_group.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>

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
    throw value_error("up to " + std::to_string(most_gpus) + " GPUs share one piece of work, not " +
                      std::to_string(count));
}

device_group::device_group(const device& one, int host_threads)
    : device_group(std::vector<device>{one}, host_threads) {}

device_group::device_group(std::vector<device> devices, int host_threads)
    : devices_(std::move(devices)), host_threads_(device::cpu(host_threads).threads()) {
  if (devices_.empty()) throw value_error("a group of no devices");
  check_number_of_gpus(devices_.size());
  for (const device& dev : devices_)
    if (dev.is_cuda() != is_cuda()) throw value_error("GPUs and CPUs do not share one piece of work");
}

device_group device_group::cuda(const std::vector<int>& gpus, int host_threads) {
  check_gpus(gpus);
  std::vector<device> devices;
  for (const int gpu : gpus) devices.push_back(device::cuda(gpu));
  return device_group(std::move(devices), host_threads);
}

int device_group::feeders() const {
  constexpr int most = 8;  // docs/decisions/text_to_gpu.md
  return is_cuda() ? std::clamp(host_threads_ / static_cast<int>(devices_.size()), 1, most) : 1;
}

}  // namespace vouch
