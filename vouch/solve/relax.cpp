#include <algorithm>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t piece = 4096;  // elements whose squares are summed by one thread

// Adds up what each piece gives, in order.
template <class Piece>
double add_pieces(int threads, std::int64_t n, Piece body) {
  const std::int64_t pieces = ceil_div(n, piece);
  std::vector<double> sums(static_cast<std::size_t>(pieces));
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (n >= 65536)
  for (std::int64_t k = 0; k < pieces; ++k)
    sums[static_cast<std::size_t>(k)] = body(k * piece, std::min(n, (k + 1) * piece));
  double all = 0;
  for (const double sum : sums) all += sum;
  return all;
}

template <real T>
double squares(const T* s, std::int64_t first, std::int64_t last) {
  double sum[8] = {};
  std::int64_t i = first;
  for (; i + 8 <= last; i += 8)
    for (int l = 0; l < 8; ++l) sum[l] += double{s[i + l]} * double{s[i + l]};
  for (; i < last; ++i) sum[0] += double{s[i]} * double{s[i]};
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

template <real T>
double relax(int threads, std::int64_t n, const T* factor, const T* s, T* d) {
  return add_pieces(threads, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) d[i] += factor[i] * s[i];
    return squares(s, first, last);
  });
}

template <real T>
double sum_of_squares(int threads, std::int64_t n, const T* s) {
  return add_pieces(threads, n, [=](std::int64_t first, std::int64_t last) { return squares(s, first, last); });
}

template double relax(int, std::int64_t, const float*, const float*, float*);
template double relax(int, std::int64_t, const double*, const double*, double*);
template double sum_of_squares(int, std::int64_t, const float*);
template double sum_of_squares(int, std::int64_t, const double*);

}  // namespace vouch::detail
