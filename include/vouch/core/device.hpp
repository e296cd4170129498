// vouch/core/device.hpp -- where work runs: the CPU with a number of threads, or one CUDA GPU.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vouch {

/// A cheap handle on the CPU or on one CUDA GPU with a stream of its own. Copies share the stream.
///
/// No CUDA context exists before the first cuda(), best() or cuda_devices().
class device {
 public:
  /// The CPU with this many threads; 0 takes OMP_NUM_THREADS, else all cores.
  static device cpu(int threads = 0);

  /// CUDA GPU number index, with a new stream.
  /// Throws  no_cuda_error  no such GPU, no driver, a build without CUDA or without code for this GPU
  static device cuda(int index = 0);

  /// cuda(0) where there is a usable GPU, else cpu().
  static device best();

  bool is_cuda() const { return index_ >= 0; }
  /// CPU threads; 1 on a GPU.
  int threads() const { return threads_; }
  /// GPU number, -1 on the CPU.
  int index() const { return index_; }
  /// "cpu" or "cuda".
  const char* kind() const { return is_cuda() ? "cuda" : "cpu"; }
  /// The hardware's marketing name.
  std::string name() const;
  /// Bytes that an allocation can hope for now.
  std::int64_t memory_free() const;
  /// Number of multiprocessors of a GPU, cores on the CPU.
  int processors() const;
  /// Waits for all work given to this device; nothing to do on the CPU.
  void synchronize() const;
  /// The cudaStream_t, as an opaque pointer; nullptr on the CPU.
  void* stream() const { return stream_.get(); }

  friend bool operator==(const device& a, const device& b) {
    return a.index_ == b.index_ && a.stream_ == b.stream_ && a.threads_ == b.threads_;
  }

 private:
  device() = default;
  int threads_ = 1;
  int index_ = -1;
  std::shared_ptr<void> stream_;
};

/// What `vouch devices` shows of one GPU.
struct cuda_device_facts {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int processors = 0;
  std::int64_t memory_total = 0, memory_free = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_per_block = 0;
  int driver_version = 0, runtime_version = 0;
};

/// All usable GPUs; empty where there is none, no driver, or a build without CUDA. Never throws for those.
std::vector<cuda_device_facts> cuda_devices();

/// False when there certainly is no GPU; costs a look at /dev, no driver call.
bool cuda_may_be_present();

/// Peak resident memory of this process in bytes; 0 where unknown.
std::int64_t host_peak_bytes();
/// Peak bytes that arrays have held on GPUs in this process.
std::int64_t device_peak_bytes();

}  // namespace vouch
