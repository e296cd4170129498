#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/file_upload.hpp>

namespace vouch {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{1} << 21;  // a copy costs some 8 us besides its bytes
constexpr int slots_a_thread = 2;                            // one is filled while the other travels
constexpr int most_threads = 8;                              // docs/decisions/text_to_gpu.md

struct slot {
  char* text = nullptr;
  cudaStream_t stream = nullptr;
};

// Pinned memory of one GPU's uploads. It stays to the end of the process: CUDA may be gone before statics are.
struct ring {
  std::mutex in_use;
  std::array<slot, most_threads * slots_a_thread> slots;

  ring() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, slots.size() * piece_bytes, cudaHostAllocDefault), "allocating pinned memory");
    for (std::size_t k = 0; k < slots.size(); ++k) {
      slots[k].text = static_cast<char*>(memory) + static_cast<std::int64_t>(k) * piece_bytes;
      check(cudaStreamCreateWithFlags(&slots[k].stream, cudaStreamNonBlocking), "making a stream");
    }
  }
};

ring& ring_of(int gpu) {
  static std::mutex making;
  static std::array<ring*, 64> rings{};
  const std::lock_guard hold(making);
  ring*& mine = rings.at(static_cast<std::size_t>(gpu));
  if (mine == nullptr) mine = new ring;
  return *mine;
}

struct upload_job {
  const device& gpu;
  const input_file& file;
  std::int64_t offset;
  std::int64_t bytes;
  char* to;
  std::atomic<std::int64_t> next = 0;  // piece

  void send(slot& by, std::int64_t from) const {
    check(cudaStreamSynchronize(by.stream), "waiting for the GPU");
    const std::int64_t size = std::min(piece_bytes, bytes - from);
    const auto got = file.read_at(offset + from, by.text, static_cast<std::size_t>(size));
    if (static_cast<std::int64_t>(got) < size) throw file_error("'" + file.path() + "' has become shorter");
    check(
        cudaMemcpyAsync(to + from, by.text, static_cast<std::size_t>(size), cudaMemcpyHostToDevice, by.stream),
        "copying text to the GPU");
  }
  void work(slot* mine) {
    check(cudaSetDevice(gpu.index()), "selecting the GPU");
    int turn = 0;
    for (std::int64_t from = next++ * piece_bytes; from < bytes; from = next++ * piece_bytes)
      send(mine[turn++ % slots_a_thread], from);
  }
};

}  // namespace

void upload(const device& gpu, const input_file& file, std::int64_t offset, std::int64_t bytes, char* to) {
  gpu.synchronize();  // what its stream does to this memory comes first
  check(cudaSetDevice(gpu.index()), "selecting the GPU");
  ring& by = ring_of(gpu.index());
  const std::lock_guard hold(by.in_use);
  upload_job job{gpu, file, offset, bytes, to};
  const std::int64_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  const auto threads =
      static_cast<int>(std::min<std::int64_t>({pieces, most_threads, device::cpu().threads()}));
  std::array<std::exception_ptr, most_threads> failures;
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    try {
      job.work(by.slots.data() + t * slots_a_thread);
    } catch (...) {
      failures[static_cast<std::size_t>(t)] = std::current_exception();
      job.next = pieces;
    }
  }
  // Also where something failed: no copy may run on.
  for (const slot& one : by.slots)
    if (const cudaError_t code = cudaStreamSynchronize(one.stream); code != cudaSuccess && !failures[0])
      failures[0] = std::make_exception_ptr(device_error("copying text to the GPU", static_cast<int>(code)));
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace vouch
