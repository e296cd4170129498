// exp(T L) V on a GPU: one block for each point of the contour solves its complex tridiagonal system.
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/event_timer.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/price/finite_difference/talbot.hpp>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

namespace vouch {
namespace {

constexpr int threads = 512;
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

// Rows lie so that threads read side by side: row j of thread t at j * threads + t.
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
  const int at = j * threads + static_cast<int>(threadIdx.x);
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
  return t >= 0 && t < threads ? values[t] : complex_number{};
}

// before x_{t-s} + x_t + behind x_{t+s} = rhs for s = 1, by parallel cyclic reduction; all threads return x_t.
__device__ complex_number reduce(complex_number before, complex_number behind, complex_number rhs,
                                 complex_number (&shared)[3][threads]) {
  const int t = static_cast<int>(threadIdx.x);
  for (int s = 1; s < threads; s *= 2) {
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
__global__ void __launch_bounds__(threads, 1) solve_points(const __grid_constant__ contour_parameters p) {
  __shared__ complex_number shared[3][threads];
  const int point = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x);
  double* stash = p.stash + static_cast<std::int64_t>(point) * 6 * Rows * threads;
  relation down{{}, {1, 0}, {}};  // row j by the row before the thread and row j + 1
  for (int j = 0; j < Rows - 1; ++j) {
    const row_of r = fetch<Rows>(p, point, j);
    const complex_number scale = reciprocal(r.diagonal - r.a * down.right);
    down = {scale * (r.rhs + r.a * down.constant), scale * (r.a * down.left), r.c * scale};
    double* to = stash + j * threads + t;
    constexpr int next = Rows * threads;
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
  double* part = p.part + static_cast<std::int64_t>(point) * Rows * threads;
  const double weight_re = -2 * p.contour.weight_re[point], weight_im = -2 * p.contour.weight_im[point];
  part[(Rows - 1) * threads + t] = weight_re * x.re - weight_im * x.im;
  for (int j = Rows - 2; j >= 0; --j) {
    const double* from = stash + j * threads + t;
    constexpr int next = Rows * threads;
    const complex_number constant{from[0], from[next]}, by_left{from[2 * next], from[3 * next]},
        by_right{from[4 * next], from[5 * next]};
    x = constant + by_left * left + by_right * x;
    part[j * threads + t] = weight_re * x.re - weight_im * x.im;
  }
}

// values[i] := the sum of all points' shares, in their order.
template <int Rows>
__global__ void __launch_bounds__(threads) add_points(const double* part, std::int64_t n, double* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t at = i % Rows * threads + i / Rows;
  double sum = 0;
  for (int point = 0; point < points; ++point)
    sum += part[static_cast<std::int64_t>(point) * Rows * threads + at];
  values[i] = sum;
}

template <int Rows>
std::vector<double> transposed(const std::vector<double>& rows, double scale) {
  std::vector<double> laid(static_cast<std::size_t>(Rows * threads), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) laid[i % Rows * threads + i / Rows] = scale * rows[i];
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
  array<double> stash(gpu, std::int64_t{points} * 6 * Rows * threads),
      part(gpu, std::int64_t{points} * Rows * threads);
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
  launch(gpu, "solve_points", {points, threads}, solve_points<Rows>, p);
  launch(gpu, "add_points", {ceil_div<std::int64_t>(p.n, threads), threads}, add_points<Rows>, part.data(), p.n,
         result.data());
  clock.mark(1);
  values = result.to_vector();
  return clock.seconds();
}

}  // namespace

std::optional<std::vector<double>> contour_cuda(const device& gpu, const contract& c, const fd_grid& grid,
                                                const fd_payment& payment, double* seconds) {
  if (grid.size() > 32 * threads) return std::nullopt;
  std::vector<double> values;
  const double took = grid.size() <= 8 * threads ? run<8>(gpu, c, payment, grid, values)
                                                 : run<32>(gpu, c, payment, grid, values);
  if (seconds != nullptr) *seconds = took;
  return values;
}

}  // namespace vouch
