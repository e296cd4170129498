// vouch/solve/krylov/sum_room.hpp -- where passes over vectors leave their sums; private.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>

namespace vouch {

/// Of one device and one stream.
class sum_room {
 public:
  explicit sum_room(const device& dev);
  /// At least so many on the device, or on the CPU.
  double* parts(std::int64_t count);
  /// For the blocks of a kernel: the last to come finds it at their number, and leaves it at zero.
  unsigned* ticket() { return ticket_.data(); }
  /// So many sums that a kernel writes and the host reads.
  static constexpr int most_sums = 256;
  double* result() const { return result_.get(); }

 private:
  device dev_;
  array<double> parts_;
  array<unsigned> ticket_;
  std::shared_ptr<double> result_;  // both see it
};

std::shared_ptr<double> mapped_sums_cuda();

}  // namespace vouch
