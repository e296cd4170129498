// bench_dense [cpu|gpu] [N] -- dense routines against the floor of their bytes or of their arithmetic.
//
// Floor of bytes: what the routine must move at the bandwidth of a copy of 512 MB (axpy on numbers is counted
// as three streams) in the same run. Products are in GFLOP/s as 2 n^3. Times are the least of several.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/transpose.hpp>

namespace vouch::bench {
namespace {

double bandwidth = 0;  // bytes a second, read and written together

template <class Body>
double least_seconds(const device& dev, const Body& body) {
  double least = 1e30;
  for (int repeat = 0; repeat < 4; ++repeat) {
    dev.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    body();
    dev.synchronize();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

template <class Body>
void bytes_row(const device& dev, const std::string& name, double bytes, const Body& body) {
  const double seconds = least_seconds(dev, body);
  std::printf("%-44s %9.3f ms  floor %9.3f ms  %5.1f %%\n", name.c_str(), seconds * 1e3,
              bytes / bandwidth * 1e3, 100 * bytes / bandwidth / seconds);
}

template <class Body>
void flops_row(const device& dev, const std::string& name, double n, const Body& body) {
  const double seconds = least_seconds(dev, body);
  std::printf("%-44s %9.3f ms  %9.1f GFLOP/s\n", name.c_str(), seconds * 1e3, 2e-9 * n * n * n / seconds);
}

// Products of digits of 8 bits at the peak of INT8 tensor cores: for numbers of (-1, 1) 9 digits of doubles, 5
// of floats; for each bound of intervals as many products of parts as signs meet.
template <class TA, class TB>
double exact_floor(double n) {
  constexpr double peak = 1.979e15, digits = sizeof(bound_of<TA>) == 8 ? 9 : 5;
  constexpr int parts = is_interval<TA> && is_interval<TB> ? 8 : is_interval<TA> || is_interval<TB> ? 4 : 1;
  return parts * digits * digits * 2 * n * n * n / peak;
}

// Entries around random numbers of (-1, 1), with a relative radius of 1e-3.
template <class E>
matrix<E> random_matrix(const device& dev, std::int64_t m, std::int64_t n, std::uint64_t seed) {
  matrix<E> A(device::cpu(1), m, n);
  using T = bound_of<E>;
  // A column of numbers, over and over: filling must not take longer than measuring.
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto x = static_cast<T>(2 * random_unit(seed, static_cast<std::uint64_t>(i ^ (j << 5))) - 1);
      const T r = x > 0 ? x / 1000 : -x / 1000;
      if constexpr (is_interval<E>)
        A(i, j) = E::unchecked(x - r, x + r);
      else
        A(i, j) = x;
    }
  return A.to(dev);
}

template <class TA, class TX, class TY>
void measure_gemv(const device& dev, const std::string& name, std::int64_t n) {
  const auto A = random_matrix<TA>(dev, n, n, 1);
  const auto x = random_matrix<TX>(dev, n, 1, 2);
  auto y = random_matrix<TY>(dev, n, 1, 3);
  const view<const TX> from(x.data(), n);
  const double bytes = static_cast<double>(n) * static_cast<double>(n) * sizeof(TA);
  for (const transpose trans : {transpose::no, transpose::yes})
    bytes_row(dev, "gemv " + name + (trans == transpose::no ? "" : ", transposed"), bytes,
              [&] { gemv(dev, trans, TY(bound_of<TY>{1}), A.all(), from, TY{}, view<TY>(y.data(), n)); });
}

template <class E>
void measure_matrix_updates(const device& dev, const std::string& name, std::int64_t n) {
  auto A = random_matrix<E>(dev, n, n, 1);
  auto B = matrix<E>::zeros(dev, n, n);
  const auto x = random_matrix<E>(dev, n, 1, 2);
  const view<const E> vector(x.data(), n);
  const double bytes = 2.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(E);
  bytes_row(dev, "ger " + name, bytes, [&] { ger(dev, E(bound_of<E>{1}), vector, vector, B.all()); });
  bytes_row(dev, "transpose_into " + name, bytes, [&] { transpose_into<E>(dev, A.read(), B.all()); });
  // Small below the diagonal, so that the solution stays of the size of the right side.
  scal<E>(dev, E(static_cast<bound_of<E>>(1 / static_cast<double>(n))), {A.data(), n * n});
  auto b = random_matrix<E>(dev, n, 1, 4);
  for (const transpose trans : {transpose::no, transpose::yes})
    bytes_row(dev, "trsv " + name + (trans == transpose::no ? "" : ", transposed"), bytes / 4,
              [&] { trsv(dev, triangle::lower, trans, diagonal::unit, A.read(), view<E>(b.data(), n)); });
}

template <class TA, class TB, class TC>
void measure_products(const device& dev, const std::string& name, std::int64_t n, bool modes) {
  const auto A = random_matrix<TA>(dev, n, n, 1);
  const auto B = random_matrix<TB>(dev, n, n, 2);
  auto C = matrix<TC>::zeros(dev, n, n);
  const TC one(bound_of<TC>{1});
  const auto size = static_cast<double>(n);
  flops_row(dev, "gemm " + name, size,
            [&] { gemm(dev, transpose::no, transpose::no, one, A.read(), B.read(), TC{}, C.all()); });
  if constexpr (is_interval<TC>)
    if (modes) {
      const auto in = [&](gemm_mode mode) {
        gemm(dev, transpose::no, transpose::no, one, A.read(), B.read(), TC{}, C.all(), mode);
      };
      flops_row(dev, "gemm " + name + ", fast", size, [&] { in(gemm_mode::fast); });
      flops_row(dev, "gemm " + name + ", exact", size, [&] { in(gemm_mode::exact); });
      if (dev.is_cuda()) std::printf("%58s floor %9.3f ms\n", "", 1e3 * exact_floor<TA, TB>(size));
    }
  if constexpr (std::same_as<TB, TC>) {
    flops_row(dev, "symm " + name, size,
              [&] { symm(dev, side::left, triangle::lower, one, A.read(), B.read(), TC{}, C.all()); });
    flops_row(dev, "trmm " + name, size, [&] {
      trmm(dev, side::left, triangle::lower, transpose::no, diagonal::unit, one, A.read(), C.all());
    });
  }
  if constexpr (std::same_as<TA, TB>)
    flops_row(dev, "syrk " + name, size,
              [&] { syrk(dev, triangle::lower, transpose::no, one, A.read(), TC{}, C.all()); });
}

void measure(const device& dev, std::int64_t n, std::int64_t order) {
  using D = interval<double>;
  using F = interval<float>;
  constexpr std::int64_t words = std::int64_t{1} << 25;
  auto from = array<double>::zeros(dev, words), to = array<double>::zeros(dev, words);
  const double seconds = least_seconds(dev, [&] { copy<double, double>(dev, from.all(), to.all()); });
  bandwidth = 2.0 * sizeof(double) * static_cast<double>(words) / seconds;
  std::printf("%s: copy %.0f GB/s, vectors of matrices %lld, products %lld\n", dev.name().c_str(),
              bandwidth * 1e-9, static_cast<long long>(n), static_cast<long long>(order));
  measure_gemv<D, D, D>(dev, "interval<double>", n);
  measure_gemv<double, D, D>(dev, "double times interval<double>", n);
  measure_gemv<double, double, double>(dev, "double", n);
  measure_gemv<F, F, F>(dev, "interval<float>", n);
  measure_gemv<float, F, F>(dev, "float times interval<float>", n);
  measure_matrix_updates<D>(dev, "interval<double>", n);
  measure_matrix_updates<double>(dev, "double", n);
  measure_matrix_updates<float>(dev, "float", n);
  measure_products<double, double, double>(dev, "double", order, false);
  measure_products<double, double, D>(dev, "double x double", order, true);
  measure_products<double, D, D>(dev, "double x interval<double>", order, true);
  measure_products<D, D, D>(dev, "interval<double>", order, true);
  measure_products<F, F, F>(dev, "interval<float>", order, true);
}

}  // namespace
}  // namespace vouch::bench

int main(int count, char** words) try {
  using namespace vouch;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const bool gpu = count > 1 && std::string(words[1]) == "gpu";
  const std::int64_t n = count > 2 ? std::atoll(words[2]) : gpu ? 16384 : 4096;
  bench::measure(gpu ? device::cuda(0) : device::cpu(), n, gpu ? std::min<std::int64_t>(n, 4096) : 1024);
} catch (const vouch::error& e) {
  std::fprintf(stderr, "bench_dense: error: %s\n", e.what());
  return 3;
}
