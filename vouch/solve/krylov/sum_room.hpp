// vouch/solve/krylov/sum_room.hpp -- where passes over vectors leave their sums; private.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>

namespace vouch {

/// What a kernel leaves for the host, in memory of the host that both see.
struct sum_mailbox {
  static constexpr int most = 256;
  double value[most];
  std::int64_t arrived = 0;  // the number of the last pass whose sums are there
  std::int64_t given = 0;    // to the last pass that was enqueued
};

/// A kernel's part of it.
struct sum_message {
  double* value;
  std::int64_t* arrived;
  std::int64_t number;
};

/// Of one device and one stream.
class sum_room {
 public:
  explicit sum_room(const device& dev);
  /// At least so many on the device, or on the CPU.
  double* parts(std::int64_t count);
  /// For the blocks of a kernel: the last to come finds it at their number, and leaves it at zero.
  unsigned* ticket() { return ticket_.data(); }
  /// For the next kernel.
  sum_message message() { return {mailbox_->value, &mailbox_->arrived, ++mailbox_->given}; }
  const double* received() const { return mailbox_->value; }

 private:
  device dev_;
  array<double> parts_;
  array<unsigned> ticket_;
  std::shared_ptr<sum_mailbox> mailbox_;
};

std::shared_ptr<sum_mailbox> pinned_sums_cuda();

/// Until the kernel that the message was given to, which has been enqueued, has posted it: the host looks for it without
/// pause, since that takes less than waiting for the stream.
///
/// Throws  device_error  the stream has failed
void wait_for_sums_cuda(const device& dev, const sum_message& message);

}  // namespace vouch
