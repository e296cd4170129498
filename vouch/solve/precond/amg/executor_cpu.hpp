// vouch/solve/precond/amg/executor_cpu.hpp -- where the set-up of algebraic multigrid runs: loops by the threads of a
// CPU; private.
#pragma once
#include <atomic>
#include <cstdint>
#include <numeric>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>

namespace vouch::multigrid {

class executor_cpu {
 public:
  explicit executor_cpu(const device& dev) : dev_(dev) {}
  const device& where() const { return dev_; }

  /// body(i) for every i from 0 to n - 1, in any order.
  template <class Body>
  void for_each(const char*, std::int64_t n, const Body& body) const {
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev_, n)) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) body(i);
  }
  /// v[i] := v[0] + ... + v[i]
  void scan(array<std::int64_t>& v) const { std::partial_sum(v.begin(), v.end(), v.begin()); }
  std::int64_t last(const array<std::int64_t>& v) const { return v[v.size() - 1]; }
  void set(std::int32_t* flag, std::int32_t value) const { *flag = value; }
  std::int32_t get(const std::int32_t* flag) const { return *flag; }
  /// *flag := 1, by any number of threads.
  static void raise(std::int32_t* flag) { std::atomic_ref(*flag).store(1, std::memory_order_relaxed); }
  static void increment(std::int32_t* count) {
    std::atomic_ref(*count).fetch_add(1, std::memory_order_relaxed);
  }

 private:
  device dev_;
};

}  // namespace vouch::multigrid
