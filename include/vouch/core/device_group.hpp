// vouch/core/device_group.hpp -- the devices that share one piece of work: GPUs of a host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// So many GPUs share one piece of work at most.
inline constexpr int most_gpus = 8;

/// Whether a device is named as several: "cuda:all" or "cuda:0,1".
bool names_several_gpus(std::string_view device);

/// "all": the GPUs of this host that are of the kind of the first, up to most_gpus; or numbers, "0,1".
///
/// Throws  value_error    what is no number, a GPU named twice, too many of them
///         no_cuda_error  "all", and there is none
std::vector<int> gpus_named(std::string_view list);

/// Throws  value_error  a GPU twice, or too many of them
void check_gpus(const std::vector<int>& gpus);
/// Throws  value_error  too many of them
void check_number_of_gpus(std::size_t count);

/// One device, or several of a kind that share a batch whose parts need nothing of each other.
///
/// What takes a group takes host memory. It cuts the batch into blocks by the batch alone and gives them to the
/// devices in turn: the bits of a result do not depend on how many GPUs of one kind share it. Up to eight host threads
/// a GPU, each with a stream of its own, copy through pinned memory and wait. An error on any device ends the work and
/// is thrown once, that of the first block that failed; so does a request to end (cancellation.hpp).
///
/// Memory  Up to 64 MB of pinned memory a GPU, kept for the next call.
class device_group {
 public:
  /// That one alone. host_threads feed GPUs; 0: those of device::cpu().
  device_group(const device& one, int host_threads = 0);
  /// Each may stand more than once; CPUs work, too, each as one thread.
  ///
  /// Throws  value_error  none at all, too many, CPUs beside GPUs
  explicit device_group(std::vector<device> devices, int host_threads = 0);
  /// GPUs by their numbers.
  ///
  /// Throws  value_error    none at all, one twice, too many
  ///         no_cuda_error  what device::cuda() throws
  static device_group cuda(const std::vector<int>& gpus, int host_threads = 0);

  std::int64_t size() const { return static_cast<std::int64_t>(devices_.size()); }
  const device& operator[](std::int64_t k) const { return devices_[static_cast<std::size_t>(k)]; }
  const device& front() const { return devices_.front(); }
  bool is_cuda() const { return front().is_cuda(); }
  /// Threads that feed each device: at least one, on a GPU at most eight.
  int feeders() const;

 private:
  std::vector<device> devices_;
  int host_threads_;
};

}  // namespace vouch
