// vouch/core/device.hpp -- where work runs: the CPU with a number of threads, or one CUDA GPU.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <utility>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A cheap handle on the CPU or on one CUDA GPU with a stream of its own. Copies share the stream.
///
/// No CUDA context exists before the first cuda(), best() or cuda_devices().
class device {
 public:
  /// The CPU with this many threads; 0 takes OMP_NUM_THREADS, else all cores, in a container those of its quota.
  static device cpu(int threads = 0);

  /// CUDA GPU number index, with a new stream.
  /// Throws  no_cuda_error  no such GPU, no driver, a build without CUDA or without code for this GPU
  static device cuda(int index = 0);

  /// The same GPU on a stream of the caller, a cudaStream_t as an opaque pointer: all work is enqueued there, in
  /// order with the caller's own.
  ///
  /// Memory  Nothing is owned: the stream must outlive every handle and whatever was made with one.
  /// Throws  value_error    a default stream (0, cudaStreamLegacy, cudaStreamPerThread), which orders the work of
  ///                        others; a stream of another GPU
  ///         no_cuda_error  as above
  static device cuda(int index, void* stream);

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
  /// Bytes that an allocation can hope for now, in a container of what its limit leaves.
  std::int64_t memory_free() const;
  /// Number of multiprocessors of a GPU, cores on the CPU.
  int processors() const;
  /// Waits for all work given to this device; nothing to do on the CPU.
  void synchronize() const;
  /// The cudaStream_t, as an opaque pointer; nullptr on the CPU.
  void* stream() const { return stream_; }

  device(const device& other) noexcept
      : threads_(other.threads_), index_(other.index_), stream_(other.stream_), owner_(other.owner_) {
    if (owner_ != nullptr) retain(owner_);
  }
  device& operator=(device other) noexcept {
    std::swap(threads_, other.threads_);
    std::swap(index_, other.index_);
    std::swap(stream_, other.stream_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~device() {
    if (owner_ != nullptr) release(owner_);
  }

  friend bool operator==(const device& a, const device& b) {
    return a.index_ == b.index_ && a.stream_ == b.stream_ && a.threads_ == b.threads_;
  }

 private:
  struct stream_owner;  // counts the handles of a stream: <memory> is a third of what a small source compiles
  static void retain(stream_owner* owner) noexcept;
  static void release(stream_owner* owner) noexcept;

  device() = default;
  int threads_ = 1;
  int index_ = -1;
  void* stream_ = nullptr;
  stream_owner* owner_ = nullptr;
};

/// False when there certainly is no GPU; costs a look at /dev, no driver call.
bool cuda_may_be_present();

/// Peak resident memory of this process in bytes; 0 where unknown.
std::int64_t host_peak_bytes();
/// Peak bytes that arrays have held on GPUs in this process.
std::int64_t device_peak_bytes();

}  // namespace vouch
