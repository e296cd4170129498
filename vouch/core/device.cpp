#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <vouch/core/cgroup.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/error.hpp>

namespace vouch {
namespace {

// A team keeps some hundred bytes a thread on the stack.
constexpr int most_threads = 4096;

std::string cpu_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.rfind("model name\t: ", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

std::int64_t cpu_memory_free() {
  std::ifstream facts("/proc/meminfo");
  std::int64_t available = 0;
  for (std::string key; facts >> key;) {
    std::int64_t kilobytes = 0;
    if (key == "MemAvailable:" || key == "SwapFree:") {
      facts >> kilobytes;
      available += kilobytes * 1024;
    }
    facts.ignore(256, '\n');
  }
  static const cgroup_limits limits;
  return std::min(available, limits.memory_left().value_or(available));
}

// Threads beyond the quota of a container would be stopped while the others wait for them at barriers.
int usual_threads() {
  static const int quota = cgroup_limits().processors().value_or(most_threads);
  return std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads()
                                                   : std::min(omp_get_max_threads(), quota);
}

}  // namespace

struct device::stream_owner {
  std::shared_ptr<void> stream;
  std::atomic<int> handles{1};
};

void device::retain(stream_owner* owner) noexcept { owner->handles.fetch_add(1, std::memory_order_relaxed); }
void device::release(stream_owner* owner) noexcept {
  if (owner->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete owner;
}

device device::cpu(int threads) {
  if (threads < 0) throw value_error("a negative number of threads: " + std::to_string(threads));
  device dev;
  dev.threads_ = std::min(threads > 0 ? threads : usual_threads(), most_threads);
  return dev;
}

namespace {

[[noreturn]] void refuse_without_cuda() {
  throw no_cuda_error("this build of vouch has no CUDA", "build where nvcc is found, or use --device cpu");
}

}  // namespace

device device::cuda(int index, void* stream) {
  constexpr std::uintptr_t last_of_the_default_streams = 2;  // cudaStreamPerThread
  if (reinterpret_cast<std::uintptr_t>(stream) <= last_of_the_default_streams)
    throw value_error("a default stream of CUDA, which other work shares, is no stream of a device",
                      "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) makes one");
  if constexpr (!built_with_cuda) {
    refuse_without_cuda();
  } else {
    cuda_adopt(index, stream);
    device dev;
    dev.stream_ = stream;
    dev.index_ = index;
    return dev;
  }
}

device device::cuda(int index) {
  if constexpr (!built_with_cuda) {
    refuse_without_cuda();
  } else {
    device dev;
    dev.owner_ = new stream_owner{cuda_open(index)};
    dev.stream_ = dev.owner_->stream.get();
    dev.index_ = index;
    return dev;
  }
}

device device::best() {
  if (!cuda_may_be_present()) return cpu();
  try {
    return cuda(0);
  } catch (const error&) {  // no driver, a GPU that somebody holds alone or that this build has no code for
    return cpu();
  }
}

std::string device::name() const {
  if constexpr (built_with_cuda)
    if (is_cuda()) return cuda_facts(index_).name;
  return cpu_name();
}

std::int64_t device::memory_free() const {
  if constexpr (built_with_cuda)
    if (is_cuda()) return cuda_facts(index_).memory_free;
  return cpu_memory_free();
}

int device::processors() const {
  if constexpr (built_with_cuda)
    if (is_cuda()) return cuda_processors(index_);
  return omp_get_num_procs();
}

void device::synchronize() const {
  if constexpr (built_with_cuda)
    if (is_cuda()) cuda_synchronize(*this);
}

std::vector<cuda_device_facts> cuda_devices() {
  if constexpr (built_with_cuda) return cuda_list();
  return {};
}

bool cuda_may_be_present() {
  if constexpr (!built_with_cuda) return false;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;
  return access("/dev/nvidia0", F_OK) == 0 || access("/dev/nvidiactl", F_OK) == 0 ||
         access("/dev/dxg", F_OK) == 0;
}

std::int64_t host_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::int64_t device_peak_bytes() {
  if constexpr (built_with_cuda) return cuda_peak_bytes();
  return 0;
}

}  // namespace vouch
