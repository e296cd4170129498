// vouch/solve/loop/pinned_history.cuh -- the history in pinned memory and the host's side of the communication; private.
#pragma once
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/solve/loop/pinned_history.hpp>

namespace vouch {

/// Iterations between two looks at the stop flag and two reports of progress; a power of two.
inline constexpr std::int64_t mailbox_interval = 512;

/// The first of `count` boxes in a row, of memory of the host that kernels write.
template <class Box>
std::shared_ptr<Box> make_pinned(std::size_t count = 1) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(Box), cudaHostAllocMapped | cudaHostAllocPortable),
        "allocating pinned memory");
  std::uninitialized_default_construct_n(static_cast<Box*>(memory), count);
  return {static_cast<Box*>(memory), [](Box* m) { cudaFreeHost(m); }};
}
inline std::shared_ptr<pinned_history> make_pinned_histories(std::size_t count = 1) {
  return make_pinned<pinned_history>(count);
}

/// One that was used before, where there is one: pinning memory takes longer than many a solve. It comes back
/// with its last owner.
template <class Box>
std::shared_ptr<Box> acquire_pinned() {
  struct shelf {
    std::mutex lock;
    std::vector<std::shared_ptr<Box>> boxes;
  };
  static shelf& all = *new shelf;  // for ever: at the end of the process CUDA may be gone before it
  std::shared_ptr<Box> box;
  {
    const std::lock_guard guard(all.lock);
    if (!all.boxes.empty()) {
      box = std::move(all.boxes.back());
      all.boxes.pop_back();
    }
  }
  if (box == nullptr) box = make_pinned<Box>();
  Box* const raw = box.get();
  return {raw, [box = std::move(box)](Box*) {
            const std::lock_guard guard(all.lock);
            all.boxes.push_back(box);
          }};
}
inline std::shared_ptr<pinned_history> acquire_pinned_history() { return acquire_pinned<pinned_history>(); }

/// Whether a kernel that ends an iteration looks at its mailbox then.
__device__ inline bool looks_at_mailbox(std::int64_t iteration) {
  return (iteration + 1) % mailbox_interval == 0 || iteration < 16;
}

/// One thread of a kernel: whether the host wants an end.
__device__ inline bool asked_to_stop(const pinned_history& box, std::int64_t iteration) {
  return looks_at_mailbox(iteration) && *static_cast<const volatile std::int32_t*>(&box.stop) != 0;
}

/// One thread of a kernel: an iteration's residual and, where it is the last, the event that ended the loop.
/// progress: the host is to see all iterations so far.
__device__ inline void publish_to_host(pinned_history& box, std::int64_t iteration, double rr,
                                       solver_event event, bool progress) {
  const std::int64_t slot = history_slot(iteration);
  if (slot >= 0) box.residual_squared[slot] = rr;
  if (progress) {
    __threadfence_system();
    *static_cast<volatile std::int64_t*>(&box.progress) = iteration + 1;
  }
  if (event == solver_event::running) return;
  box.event = static_cast<std::int32_t>(event);
  box.iterations = iteration;
  box.last_squared = rr;
}
__device__ inline void publish_to_host(pinned_history& box, std::int64_t iteration, double rr,
                                       solver_event event) {
  publish_to_host(box, iteration, rr, event, looks_at_mailbox(iteration));
}

/// One thread of a kernel, before it publishes that iteration: the step that it takes, or the one before it took.
__device__ inline void publish_step(pinned_history& box, std::int64_t iteration, double alpha, double beta) {
  box.step[iteration & (pinned_history::steps - 1)] = {alpha, beta};
}

/// What kernels tell the host of their iterations.
enum class mail { residuals, residuals_and_steps };

/// The host's side of one mailbox: new history goes to the log, a wish to stop back.
class history_reader {
 public:
  history_reader(pinned_history& box, iteration_log& log, mail kind = mail::residuals)
      : box_(&box), log_(&log), has_steps_(kind == mail::residuals_and_steps) {}
  void read() {
    const std::int64_t until = progress();
    read_steps(until, [this] { return progress() + mailbox_interval; });
    deliver(until);
  }
  /// What is left once the work is done.
  void read_rest() {
    const std::int64_t until = box_->iterations + 1;
    read_steps(until, [=] { return until; });
    deliver(until);
  }

 private:
  std::int64_t progress() const { return *static_cast<volatile std::int64_t*>(&box_->progress); }

  // Steps below `until`; none from written() on has been written over an older one. Once some are lost, as behind a
  // slow monitor, the log hears of no more.
  template <class Written>
  void read_steps(std::int64_t until, const Written& written) {
    for (; has_steps_ && steps_read_ < until; ++steps_read_) {
      const volatile auto& from = box_->step[steps_read_ & (pinned_history::steps - 1)];
      const double alpha = from.alpha, beta = from.beta;
      has_steps_ = written() <= steps_read_ + pinned_history::steps;
      if (has_steps_) log_->step(alpha, beta);
    }
  }

  void deliver(std::int64_t until) {
    for (; noted_ < until; ++noted_) {
      const std::int64_t slot = history_slot(noted_);
      if (slot < 0) continue;
      if (!log_->note(noted_, std::sqrt(box_->residual_squared[slot])))
        *static_cast<volatile std::int32_t*>(&box_->stop) = 1;
    }
  }

  pinned_history* box_;
  iteration_log* log_;
  bool has_steps_;
  std::int64_t noted_ = 0;
  std::int64_t steps_read_ = 0;
};

/// Reads the mail until the work on dev's stream is done.
///
/// The host never waits inside an iteration: it polls, and sleeps between polls once the solve is a long one.
inline void follow(const device& dev, std::span<history_reader> readers) {
  using clock = std::chrono::steady_clock;
  const auto stream = static_cast<cudaStream_t>(dev.stream());
  const auto start = clock::now();
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) {
      check(state, "conjugate gradients");
      break;
    }
    for (history_reader& reader : readers) reader.read();
    if (clock::now() - start > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  for (history_reader& reader : readers) reader.read_rest();
}

inline void follow(const device& dev, pinned_history& box, iteration_log& log, mail kind = mail::residuals) {
  history_reader reader(box, log, kind);
  follow(dev, {&reader, 1});
}

}  // namespace vouch
