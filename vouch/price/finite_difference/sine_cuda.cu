// exp(T L) V on a logarithmic grid by the sines that are left of it.
#include <algorithm>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/event_timer.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/price/finite_difference/sine.hpp>

namespace vouch {
namespace {

constexpr int threads = 256;

// A block has a mode. Sums of threads by a fixed tree: the same bits on every run.
__global__ void __launch_bounds__(threads)
    find_modes(const double* start, int cells, const double* decay, const double* less, double* coefficient) {
  __shared__ double part[threads / 32];
  const int mode = static_cast<int>(blockIdx.x) + 1, t = static_cast<int>(threadIdx.x);
  const double unit = 1.0 / cells;
  double sum = 0;
  for (int i = t; i < cells; i += threads) {
    const double value = start[i];
    if (value == 0) continue;
    const auto turned = static_cast<int>(static_cast<std::int64_t>(i) * mode % (2 * cells));
    sum = fma(value, sinpi(turned * unit), sum);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0U, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t != 0) return;
  for (int w = 1; w < threads / 32; ++w) sum += part[w];
  coefficient[mode - 1] = decay[mode - 1] * (sum - less[mode - 1]);
}

struct lifts {
  sine_lift lift[4];
};

// A thread has a node: Clenshaw's recurrence over the modes, and the lifts.
__global__ void __launch_bounds__(threads)
    add_modes(const double* coefficient, int modes, int cells, double log_ratio,
              const __grid_constant__ lifts all, double* values) {
  const int i = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (i > cells) return;
  double sine, cosine;
  sincospi(static_cast<double>(i) / cells, &sine, &cosine);
  double b1 = 0, b2 = 0;
  for (int k = modes - 1; k >= 0; --k) {
    const double b0 = fma(2 * cosine, b1, coefficient[k] - b2);
    b2 = b1;
    b1 = b0;
  }
  double value = exp(log_ratio * i) * b1 * sine;
  for (const sine_lift& lift : all.lift)
    if (lift.amount != 0) value += lift_at(lift, log_ratio, cells, i);
  values[i] = value;
}

}  // namespace

std::vector<double> sine_cuda(const device& gpu, const sine_plan& plan, double* seconds) {
  const auto modes = static_cast<std::int64_t>(plan.decay.size()), nodes = plan.cells + 1;
  std::vector<double> all(plan.start.begin(), plan.start.begin() + nodes);
  all.insert(all.end(), plan.decay.begin(), plan.decay.end());
  all.insert(all.end(), plan.less.begin(), plan.less.end());
  const auto given = array<double>::from(gpu, all);
  array<double> coefficient(gpu, modes), values(gpu, nodes);
  lifts all_lifts{};
  std::copy(plan.lifts.begin(), plan.lifts.end(), all_lifts.lift);
  const auto cells = static_cast<int>(plan.cells);
  event_timer clock(gpu);
  clock.mark(0);
  launch(gpu, "find_modes", {modes, threads}, find_modes, given.data(), cells, given.data() + nodes,
         given.data() + nodes + modes, coefficient.data());
  launch(gpu, "add_modes", {ceil_div<std::int64_t>(nodes, threads), threads}, add_modes,
         static_cast<const double*>(coefficient.data()), static_cast<int>(modes), cells, plan.log_ratio,
         all_lifts, values.data());
  clock.mark(1);
  std::vector<double> result = values.to_vector();
  if (seconds != nullptr) *seconds = clock.seconds();
  return result;
}

}  // namespace vouch
