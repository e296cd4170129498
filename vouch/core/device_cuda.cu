#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <vouch/core/check.cuh>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device_cuda.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/memory.hpp>
#include <vouch/core/scratch.cuh>

namespace vouch {
namespace {

std::atomic<std::int64_t> held_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

cudaStream_t stream_of(const device& dev) { return static_cast<cudaStream_t>(dev.stream()); }

// The runtime keeps a current GPU per thread; everything here that depends on it selects its GPU first.
void select(int index) { check(cudaSetDevice(index), "selecting the GPU"); }

void note_held(std::int64_t change) {
  const std::int64_t now = held_bytes += change;
  std::int64_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

// Memory of GPU `index` for all arrays. Asking the driver takes milliseconds for large blocks, so up to an
// eighth of the GPU's memory is kept for the next array.
cudaMemPool_t pool_of(int index) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(mutex);
  cudaMemPool_t& pool = pools[index];
  if (pool != nullptr) return pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, index};
  cudaMemPool_t made = nullptr;
  check(cudaMemPoolCreate(&made, &properties), "making a pool of GPU memory");
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking the GPU's free memory");
  std::uint64_t kept = total_bytes / 8;
  check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept), "keeping GPU memory");
  return pool = made;
}

// Bytes that the pool holds and no array uses.
std::uint64_t pool_idle(int index) {
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool_of(index), cudaMemPoolAttrReservedMemCurrent, &reserved),
        "asking the pool's size");
  check(cudaMemPoolGetAttribute(pool_of(index), cudaMemPoolAttrUsedMemCurrent, &used), "asking the pool's use");
  return reserved - used;
}

__global__ void any_kernel() {}

// A build has code for some compute capabilities only; on other GPUs every kernel would fail.
void expect_code_for_this_gpu(int index) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, any_kernel);
  if (code != cudaErrorNoKernelImageForDevice && code != cudaErrorInvalidDeviceFunction &&
      code != cudaErrorUnsupportedPtxVersion)
    return check(code, "asking for the code of this GPU");
  cudaGetLastError();
  const cuda_device_facts facts = cuda_facts(index);
  const std::string capability =
      std::to_string(facts.compute_major) + '.' + std::to_string(facts.compute_minor);
  throw no_cuda_error("this build of vouch has no code for GPU " + std::to_string(index) + ", " + facts.name +
                          " (compute capability " + capability + ")",
                      "configure with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(facts.compute_major) +
                          std::to_string(facts.compute_minor) + ", or use --device cpu");
}

// See cuda_device_facts::code_generation.
int generation_of_code(int index) {
  select(index);
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, any_kernel) == cudaSuccess) return attributes.ptxVersion;
  cudaGetLastError();
  return 0;
}

// Selects a GPU that is there and that this build has code for.
void open(int index) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess)
    throw no_cuda_error(std::string("no CUDA device: ") + cudaGetErrorString(code),
                        "use --device cpu, or check the driver with nvidia-smi");
  if (index < 0 || index >= count)
    throw no_cuda_error("no CUDA device " + std::to_string(index) + ": there are " + std::to_string(count),
                        "`vouch devices` lists them");
  select(index);
  expect_code_for_this_gpu(index);
}

}  // namespace

bool runs_sm90_code(const device& dev) {
  // Asked before every launch of some kernels; 0 is unknown.
  static std::array<std::atomic<int>, 64> known{};
  const auto at = static_cast<std::size_t>(dev.index());
  if (at >= known.size()) return generation_of_code(dev.index()) >= 90;
  int generation = known[at].load(std::memory_order_relaxed);
  if (generation == 0) {
    generation = generation_of_code(dev.index());
    known[at].store(generation, std::memory_order_relaxed);
  }
  return generation >= 90;
}

std::shared_ptr<void> cuda_open(int index) {
  open(index);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return {stream, [](void* s) { cudaStreamDestroy(static_cast<cudaStream_t>(s)); }};
}

void cuda_adopt(int index, void* stream) {
  open(index);
  int of_stream = -1;
  check(cudaStreamGetDevice(static_cast<cudaStream_t>(stream), &of_stream), "asking for the GPU of a stream");
  if (of_stream != index)
    throw value_error("the stream belongs to GPU " + std::to_string(of_stream) + ", not to GPU " +
                      std::to_string(index));
}

void cuda_synchronize(const device& dev) {
  check(cudaStreamSynchronize(stream_of(dev)), "waiting for the GPU");
}

cuda_device_facts cuda_facts(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "reading the GPU's properties");
  cuda_device_facts facts;
  facts.index = index;
  facts.name = properties.name;
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.code_generation = generation_of_code(index);
  facts.processors = properties.multiProcessorCount;
  facts.l2_bytes = properties.l2CacheSize;
  facts.shared_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  select(index);
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking the GPU's free memory");
  facts.memory_free = static_cast<std::int64_t>(free_bytes + pool_idle(index));
  facts.memory_total = static_cast<std::int64_t>(total_bytes);
  check(cudaDriverGetVersion(&facts.driver_version), "asking the driver's version");
  check(cudaRuntimeGetVersion(&facts.runtime_version), "asking the runtime's version");
  return facts;
}

int cuda_processors(int index) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, index), "reading the GPU's properties");
  return count;
}

std::vector<cuda_device_facts> cuda_list() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<cuda_device_facts> all;
  for (int k = 0; k < count; ++k) all.push_back(cuda_facts(k));
  return all;
}

std::int64_t cuda_peak_bytes() { return peak_bytes; }

std::byte* cuda_allocate(const device& dev, std::size_t bytes) {
  select(dev.index());
  const cudaMemPool_t pool = pool_of(dev.index());
  void* memory = nullptr;
  cudaError_t code = cudaMallocFromPoolAsync(&memory, bytes, pool, stream_of(dev));
  if (code == cudaErrorMemoryAllocation) {
    // What other streams gave back in pieces may do as a whole.
    cudaGetLastError();
    check(cudaDeviceSynchronize(), "waiting for the GPU");
    check(cudaMemPoolTrimTo(pool, 0), "giving back unused GPU memory");
    code = cudaMallocFromPoolAsync(&memory, bytes, pool, stream_of(dev));
  }
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw_out_of_memory(dev, static_cast<std::int64_t>(bytes));
  }
  check(code, "allocating GPU memory");
  note_held(static_cast<std::int64_t>(bytes));
  return static_cast<std::byte*>(memory);
}

void cuda_deallocate(const device& dev, std::byte* memory, std::size_t bytes) noexcept {
  cudaFreeAsync(memory, stream_of(dev));
  note_held(-static_cast<std::int64_t>(bytes));
}

void cuda_copy(void* to, const device& to_device, const void* from, const device& from_device,
               std::size_t bytes) {
  const device& on = to_device.is_cuda() ? to_device : from_device;
  if (to_device.is_cuda() && from_device.is_cuda()) from_device.synchronize();
  select(on.index());
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(on)), "copying to or from the GPU");
  on.synchronize();
}

void cuda_zero(const device& dev, void* to, std::size_t bytes) {
  select(dev.index());
  check(cudaMemsetAsync(to, 0, bytes, stream_of(dev)), "clearing GPU memory");
}

bool cuda_can_share(int owner, int user) {
  int can = 0;
  if (owner != user) check(cudaDeviceCanAccessPeer(&can, user, owner), "asking for access between GPUs");
  return owner == user || can != 0;
}

void cuda_share_memory(int owner, int user) {
  if (owner == user) return;
  if (!cuda_can_share(owner, user))
    throw no_cuda_error(
        "GPU " + std::to_string(user) + " cannot read the memory of GPU " + std::to_string(owner),
        "GPUs joined by NVLink can; --device cuda:" + std::to_string(owner) + " solves on one");
  cudaMemAccessDesc access{};
  access.location = {cudaMemLocationTypeDevice, user};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  check(cudaMemPoolSetAccess(pool_of(owner), &access, 1), "sharing the memory of a GPU");
}

bool cuda_is_accessible(const device& dev, const void* p) {
  const bool unused = !dev.is_cuda() && cuda_peak_bytes() == 0;
  if (p == nullptr || unused) return true;
  cudaPointerAttributes facts = {};
  if (cudaPointerGetAttributes(&facts, p) != cudaSuccess) {
    cudaGetLastError();
    return true;
  }
  if (facts.type == cudaMemoryTypeDevice) return dev.is_cuda() && facts.device == dev.index();
  return !dev.is_cuda() || facts.type != cudaMemoryTypeUnregistered;
}

std::byte* cuda_pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating pinned memory");
  return static_cast<std::byte*>(memory);
}

namespace detail {

cudaMemPool_t scratch_pool(int index) {
  static std::mutex lock;
  static std::array<cudaMemPool_t, 64> pools{};
  const std::lock_guard hold(lock);
  cudaMemPool_t& pool = pools.at(static_cast<std::size_t>(index));
  if (pool != nullptr) return pool;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, index};
  check(cudaMemPoolCreate(&pool, &properties), "making a pool of GPU memory");
  std::uint64_t kept = std::uint64_t{256} << 20;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "making a pool of GPU memory");
  return pool;
}

}  // namespace detail

void throw_device_error(cudaError_t code, const char* what) {
  cudaGetLastError();  // a sticky error stays; any other is taken off the next caller's plate
  throw device_error(std::string(what) + ": " + cudaGetErrorString(code), static_cast<int>(code));
}

void throw_too_many_blocks(const char* name) { throw value_error(std::string(name) + ": too many blocks"); }

void throw_too_much_shared_memory(const char* name, std::size_t bytes) {
  cudaGetLastError();
  int index = 0, most = 0;
  cudaGetDevice(&index);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
  throw device_error(std::string(name) + ": its blocks need " + std::to_string((bytes + 1023) >> 10) +
                         " KiB of shared memory, this GPU has " + std::to_string(most >> 10) +
                         "; use --device cpu for it",
                     static_cast<int>(cudaErrorInvalidValue));
}

}  // namespace vouch
