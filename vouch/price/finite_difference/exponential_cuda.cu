#include <algorithm>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/event_timer.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/price/finite_difference/exponential.hpp>

namespace vouch {
namespace {

// exp(T L) V by one block for each point of the contour, which solves its complex tridiagonal system.

constexpr int contour_threads = 512;
constexpr int points = static_cast<int>(talbot_points);

struct complex_number {
  double re = 0, im = 0;
};
__device__ complex_number operator+(complex_number a, complex_number b) { return {a.re + b.re, a.im + b.im}; }
__device__ complex_number operator-(complex_number a, complex_number b) { return {a.re - b.re, a.im - b.im}; }
__device__ complex_number operator*(double a, complex_number b) { return {a * b.re, a * b.im}; }
__device__ complex_number operator*(complex_number a, complex_number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ complex_number reciprocal(complex_number a) {
  const double scale = 1 / (a.re * a.re + a.im * a.im);
  return {a.re * scale, -a.im * scale};
}

// Rows lie so that threads read side by side: row j of thread t at j * contour_threads + t.
struct contour_parameters {
  std::int64_t n;
  const double *lower, *upper, *rhs;  // T a, T c and V; 0 at the ends and beyond
  double discount;                    // rate * T
  talbot_contour contour;
  complex_number first[points], last[points];  // transforms of the boundary values
  double* stash;                               // six numbers a row and point
  double* part;                                // a point's share of the result
};

struct row_of {
  double a, c;
  complex_number diagonal, rhs;
};

template <int Rows>
__device__ row_of fetch(const contour_parameters& p, int point, int j) {
  const int at = j * contour_threads + static_cast<int>(threadIdx.x);
  const std::int64_t i = static_cast<std::int64_t>(threadIdx.x) * Rows + j;
  if (i == 0) return {0, 0, {1, 0}, p.first[point]};
  if (i >= p.n - 1) return {0, 0, {1, 0}, i == p.n - 1 ? p.last[point] : complex_number{}};
  const double a = p.lower[at], c = p.upper[at];
  return {a, c, {p.contour.re[point] + a + c + p.discount, p.contour.im[point]}, {p.rhs[at], 0}};
}

// x = constant + left * (the row before the thread's) + right * (a row of its own).
struct relation {
  complex_number constant, left, right;
};

__device__ complex_number at_or_zero(const complex_number* values, int t) {
  return t >= 0 && t < contour_threads ? values[t] : complex_number{};
}

// before x_{t-s} + x_t + behind x_{t+s} = rhs for s = 1, by parallel cyclic reduction; all threads return x_t.
__device__ complex_number reduce(complex_number before, complex_number behind, complex_number rhs,
                                 complex_number (&shared)[3][contour_threads]) {
  const int t = static_cast<int>(threadIdx.x);
  for (int s = 1; s < contour_threads; s *= 2) {
    __syncthreads();
    shared[0][t] = before;
    shared[1][t] = behind;
    shared[2][t] = rhs;
    __syncthreads();
    const complex_number scale = reciprocal(complex_number{1, 0} - before * at_or_zero(shared[1], t - s) -
                                            behind * at_or_zero(shared[0], t + s));
    rhs = scale * (rhs - before * at_or_zero(shared[2], t - s) - behind * at_or_zero(shared[2], t + s));
    before = -1.0 * (scale * (before * at_or_zero(shared[0], t - s)));
    behind = -1.0 * (scale * (behind * at_or_zero(shared[1], t + s)));
  }
  return rhs;
}

// Mapping   A block has a point of the contour, a thread Rows neighbouring rows. It expresses them by its last
// row
//           and that of the thread before; the last rows of all threads form a tridiagonal system of their own,
//           reduced in shared memory.
// Bound     by the FP64 units: about 100 operations a row.
// Bits      the same on every run.
template <int Rows>
__global__ void __launch_bounds__(contour_threads, 1)
    solve_points(const __grid_constant__ contour_parameters p) {
  __shared__ complex_number shared[3][contour_threads];
  const int point = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x);
  double* stash = p.stash + static_cast<std::int64_t>(point) * 6 * Rows * contour_threads;
  relation down{{}, {1, 0}, {}};  // row j by the row before the thread and row j + 1
  for (int j = 0; j < Rows - 1; ++j) {
    const row_of r = fetch<Rows>(p, point, j);
    const complex_number scale = reciprocal(r.diagonal - r.a * down.right);
    down = {scale * (r.rhs + r.a * down.constant), scale * (r.a * down.left), r.c * scale};
    double* to = stash + j * contour_threads + t;
    constexpr int next = Rows * contour_threads;
    to[0] = down.constant.re;
    to[next] = down.constant.im;
    to[2 * next] = down.left.re;
    to[3 * next] = down.left.im;
    to[4 * next] = down.right.re;
    to[5 * next] = down.right.im;
  }
  relation up{{}, {}, {1, 0}};  // row j by row j - 1 and the thread's last row
  for (int j = Rows - 2; j >= 0; --j) {
    const row_of r = fetch<Rows>(p, point, j);
    const complex_number scale = reciprocal(r.diagonal - r.c * up.left);
    up = {scale * (r.rhs + r.c * up.constant), r.a * scale, scale * (r.c * up.right)};
  }
  shared[0][t] = up.constant;
  shared[1][t] = up.left;
  shared[2][t] = up.right;
  __syncthreads();
  const complex_number next_constant = at_or_zero(shared[0], t + 1), next_left = at_or_zero(shared[1], t + 1),
                       next_right = at_or_zero(shared[2], t + 1);
  const row_of r = fetch<Rows>(p, point, Rows - 1);
  const complex_number scale = reciprocal(r.diagonal - r.a * down.right - r.c * next_left);
  const complex_number before = -r.a * (scale * down.left), behind = -r.c * (scale * next_right);
  const complex_number rhs = scale * (r.rhs + r.a * down.constant + r.c * next_constant);
  complex_number x = reduce(before, behind, rhs, shared);
  __syncthreads();
  shared[0][t] = x;
  __syncthreads();
  const complex_number left = at_or_zero(shared[0], t - 1);
  double* part = p.part + static_cast<std::int64_t>(point) * Rows * contour_threads;
  const double weight_re = -2 * p.contour.weight_re[point], weight_im = -2 * p.contour.weight_im[point];
  part[(Rows - 1) * contour_threads + t] = weight_re * x.re - weight_im * x.im;
  for (int j = Rows - 2; j >= 0; --j) {
    const double* from = stash + j * contour_threads + t;
    constexpr int next = Rows * contour_threads;
    const complex_number constant{from[0], from[next]}, by_left{from[2 * next], from[3 * next]},
        by_right{from[4 * next], from[5 * next]};
    x = constant + by_left * left + by_right * x;
    part[j * contour_threads + t] = weight_re * x.re - weight_im * x.im;
  }
}

// values[i] := the sum of all points' shares, in their order.
template <int Rows>
__global__ void __launch_bounds__(contour_threads)
    add_points(const double* part, std::int64_t n, double* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * contour_threads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t at = i % Rows * contour_threads + i / Rows;
  double sum = 0;
  for (int point = 0; point < points; ++point)
    sum += part[static_cast<std::int64_t>(point) * Rows * contour_threads + at];
  values[i] = sum;
}

template <int Rows>
std::vector<double> transposed(const std::vector<double>& rows, double scale) {
  std::vector<double> laid(static_cast<std::size_t>(Rows * contour_threads), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) laid[i % Rows * contour_threads + i / Rows] = scale * rows[i];
  return laid;
}

complex_number transform(const talbot_contour& z, std::size_t k, const boundary_exponentials& terms) {
  complex_number sum;
  for (const exponential_term& term : terms) {
    const double re = z.re[k] + term.decay, im = z.im[k], scale = term.amount / (re * re + im * im);
    sum.re += re * scale;
    sum.im -= im * scale;
  }
  return sum;
}

template <int Rows>
double run(const device& gpu, const contract& c, const fd_payment& payment, const fd_grid& grid,
           std::vector<double>& values) {
  const double expiry = c.plain.expiry;
  const fd_operator L = make_operator(c, grid, 0);
  std::vector<double> start;
  for (const double spot : grid.spot) start.push_back(payoff_at(c.plain, spot) - payment.less);
  const auto lower = array<double>::from(gpu, transposed<Rows>(L.lower, expiry));
  const auto upper = array<double>::from(gpu, transposed<Rows>(L.upper, expiry));
  const auto rhs = array<double>::from(gpu, transposed<Rows>(start, 1));
  array<double> stash(gpu, std::int64_t{points} * 6 * Rows * contour_threads),
      part(gpu, std::int64_t{points} * Rows * contour_threads);
  array<double> result(gpu, grid.size());
  contour_parameters p{};
  p.n = grid.size();
  p.lower = lower.data();
  p.upper = upper.data();
  p.rhs = rhs.data();
  p.discount = c.plain.rate * expiry;
  p.contour = make_talbot_contour();
  for (std::size_t k = 0; k < talbot_points; ++k) {
    p.first[k] = transform(p.contour, k, boundary_terms(c, payment, grid.spot.front(), false));
    p.last[k] = transform(p.contour, k, boundary_terms(c, payment, grid.spot.back(), true));
  }
  p.stash = stash.data();
  p.part = part.data();
  event_timer clock(gpu);
  clock.mark(0);
  launch(gpu, "solve_points", {points, contour_threads}, solve_points<Rows>, p);
  launch(gpu, "add_points", {ceil_div<std::int64_t>(p.n, contour_threads), contour_threads}, add_points<Rows>,
         part.data(), p.n, result.data());
  clock.mark(1);
  values = result.to_vector();
  return clock.seconds();
}

}  // namespace

std::optional<std::vector<double>> exponential_by_contour_cuda(const device& gpu, const contract& c,
                                                               const fd_grid& grid, const fd_payment& payment,
                                                               double* seconds) {
  if (grid.size() > 32 * contour_threads) return std::nullopt;
  std::vector<double> values;
  const double took = grid.size() <= 8 * contour_threads ? run<8>(gpu, c, payment, grid, values)
                                                         : run<32>(gpu, c, payment, grid, values);
  if (seconds != nullptr) *seconds = took;
  return values;
}

namespace {

// exp(T L) V on a logarithmic grid by the sines that are left of it.

constexpr int sine_threads = 256;

// A block has a mode. Sums of threads by a fixed tree: the same bits on every run.
__global__ void __launch_bounds__(sine_threads)
    find_modes(const double* start, int cells, const double* decay, const double* less, double* coefficient) {
  __shared__ double part[sine_threads / 32];
  const int mode = static_cast<int>(blockIdx.x) + 1, t = static_cast<int>(threadIdx.x);
  const double unit = 1.0 / cells;
  double sum = 0;
  for (int i = t; i < cells; i += sine_threads) {
    const double value = start[i];
    if (value == 0) continue;
    const auto turned = static_cast<int>(static_cast<std::int64_t>(i) * mode % (2 * cells));
    sum = fma(value, sinpi(turned * unit), sum);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0U, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t != 0) return;
  for (int w = 1; w < sine_threads / 32; ++w) sum += part[w];
  coefficient[mode - 1] = decay[mode - 1] * (sum - less[mode - 1]);
}

struct lifts {
  sine_lift lift[4];
};

// A thread has a node: Clenshaw's recurrence over the modes, and the lifts.
__global__ void __launch_bounds__(sine_threads)
    add_modes(const double* coefficient, int modes, int cells, double log_ratio,
              const __grid_constant__ lifts all, double* values) {
  const int i = static_cast<int>(blockIdx.x * sine_threads + threadIdx.x);
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

std::vector<double> exponential_by_sine_cuda(const device& gpu, const sine_plan& plan, double* seconds) {
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
  launch(gpu, "find_modes", {modes, sine_threads}, find_modes, given.data(), cells, given.data() + nodes,
         given.data() + nodes + modes, coefficient.data());
  launch(gpu, "add_modes", {ceil_div<std::int64_t>(nodes, sine_threads), sine_threads}, add_modes,
         static_cast<const double*>(coefficient.data()), static_cast<int>(modes), cells, plan.log_ratio,
         all_lifts, values.data());
  clock.mark(1);
  std::vector<double> result = values.to_vector();
  if (seconds != nullptr) *seconds = clock.seconds();
  return result;
}

}  // namespace vouch
