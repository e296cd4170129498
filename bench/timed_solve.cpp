#include "timed_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/solver.hpp>

#include "timing.hpp"

namespace vouch::bench {
namespace {

// Asks what runs in its scope to end once the seconds are over.
class deadline {
 public:
  explicit deadline(double seconds)
      : timer_([this, seconds] {
          std::unique_lock lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; }))
            request_.request();
        }) {}
  ~deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    timer_.join();
  }
  const cancellation& request() const { return request_; }

 private:
  cancellation request_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread timer_;
};

// One solve, all of it counted.
timed_solve solve_once(const test_system& system, const bench_device& d, const solve_options& options,
                       double limit) {
  timed_solve made;
  array<double> x(device::cpu(1), system.rows());
  std::fill(x.begin(), x.end(), 0.0);
  const deadline at(limit);
  const cancellation_scope listens(at.request());
  try {
    solve_result result;
    const device home = d.dev.is_cuda() ? device::cpu(0) : d.dev;
    const double seconds = seconds_of([&] {
      result = system.is_dense() ? solve(home, system.dense.all(), system.b, x, options)
                                 : solve(home, system.sparse, system.b, x, options);
    });
    made.what = result.how->name;
    made.iterations = result.iterations;
    made.residual = result.relative_true();
    if (result.preconditioner != "none" && !result.preconditioner.empty())
      made.what += ", " + result.preconditioner;
    if (result.status == solve_status::converged)
      made.seconds = seconds;
    else if (result.status == solve_status::interrupted)
      made.end = fmt::format("> {:.2g} s", limit);
    else
      made.end = vouch::name(result.status);
  } catch (const cancelled&) {
    made.end = fmt::format("> {:.2g} s", limit);
  } catch (const error&) {
    made.end = "refused";
  }
  return made;
}

}  // namespace

std::string text_of(const timed_solve& solve) {
  if (std::isfinite(solve.seconds)) return fmt::format("{} {}", solve.what, seconds_text(solve.seconds));
  return solve.what.empty() ? solve.end : solve.what + " " + solve.end;
}

timed_solve best_solve(const suite_options& suite, const test_system& system, const bench_device& d,
                       const solve_options& options, double limit) {
  constexpr double enough = 0.15;
  timed_solve best = solve_once(system, d, options, limit);
  double spent = best.seconds;
  const std::int64_t most = suite.repeat > 0 ? suite.repeat : 9;
  for (std::int64_t k = 1; k < most && spent < enough && !suite.stop(); ++k) {
    const timed_solve again = solve_once(system, d, options, limit);
    spent += again.seconds;
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

}  // namespace vouch::bench
