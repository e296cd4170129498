#include <string>

#include <vouch/core/device_cuda.hpp>
#include <vouch/solve/krylov/gpu_share.cuh>

namespace vouch {

std::vector<row_range> slabs_of(std::int64_t rows) {
  constexpr std::int64_t unit = 96;
  const std::int64_t each = ceil_div(rows, slab_count * unit) * unit;
  std::vector<row_range> slabs;
  for (int k = 0; k < slab_count; ++k) {
    const std::int64_t first = std::min(rows, k * each);
    slabs.push_back({first, std::min(rows, first + each) - first});
  }
  return slabs;
}

void prepare_team(std::span<const int> gpus) {
  const cuda_device_facts first = cuda_facts(device::cuda(gpus.front()).index());
  for (const int gpu : gpus) {
    const cuda_device_facts facts = cuda_facts(device::cuda(gpu).index());
    if (facts.name != first.name || facts.processors != first.processors)
      throw value_error("GPU " + std::to_string(first.index) + ", " + first.name + ", and GPU " +
                            std::to_string(gpu) + ", " + facts.name + ", are of different kinds",
                        "a solve takes several of one kind");
  }
  for (const int owner : gpus)
    for (const int user : gpus) cuda_share_memory(owner, user);
}

side_streams::side_streams(const device& dev, int count) : dev_(dev) {
  for (int k = 0; k < count; ++k) lanes_.push_back(device::cuda(dev.index()));
  for (int k = 0; k <= count; ++k) {
    cudaEvent_t event = nullptr;
    check(cudaSetDevice(dev.index()), "making an event");
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    events_.push_back({event, [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); }});
  }
}

void side_streams::fork() const {
  record(0, dev_);
  for (const device& lane : lanes_) wait(lane, 0);
}

void side_streams::join() const {
  for (std::size_t k = 0; k < lanes_.size(); ++k) {
    record(k + 1, lanes_[k]);
    wait(dev_, k + 1);
  }
}

void side_streams::record(std::size_t event, const device& on) const {
  check(cudaSetDevice(dev_.index()), "recording an event");
  check(cudaEventRecord(static_cast<cudaEvent_t>(events_[event].get()), static_cast<cudaStream_t>(on.stream())),
        "recording an event");
}

void side_streams::wait(const device& on, std::size_t event) const {
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(on.stream()),
                            static_cast<cudaEvent_t>(events_[event].get()), 0),
        "waiting for an event");
}

}  // namespace vouch
