// Compiled by itself, with -frounding-math, as Boost.Interval asks.
#if VOUCH_HAVE_BOOST
#include <boost/numeric/interval.hpp>
#endif

#include <vector>

#include <vouch/core/random.hpp>

#include "interval_peers.hpp"
#include "timing.hpp"

namespace vouch::bench {

#if VOUCH_HAVE_BOOST
namespace {

namespace lib = boost::numeric::interval_lib;

template <class T>
using standard_interval = boost::numeric::interval<T>;
template <class T>
using fastest_interval = boost::numeric::interval<
    T, lib::policies<lib::save_state_nothing<lib::rounded_arith_opp<T>>, lib::checking_base<T>>>;

// Sets the mode that save_state_nothing leaves to its user, in this thread, and puts the old one back.
template <class T>
struct one_mode {
  typename standard_interval<T>::traits_type::rounding guard;
};
struct no_mode {
  no_mode() {}
};

template <class I>
std::vector<I> numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<I> all(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    using T = typename I::base_type;
    const T x = static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(i) % 4096) - 0.5);
    all[static_cast<std::size_t>(i)] = I(x - T(0x1p-20), x + T(0x1p-20));
  }
  return all;
}

// The loops as IntLAG wrote them, columns outside so that memory is read in its order.
template <class I, class Mode>
struct calls {
  std::int64_t n;
  int threads;
  std::vector<I> a, x, y;

  void axpy(I alpha) {
#pragma omp parallel num_threads(threads)
    {
      const Mode mode;
#pragma omp for
      for (std::int64_t i = 0; i < n; ++i)
        y[static_cast<std::size_t>(i)] += alpha * x[static_cast<std::size_t>(i)];
    }
  }

  I dot() {
    I all(0);
#pragma omp parallel num_threads(threads)
    {
      const Mode mode;
      I sum(0);
#pragma omp for nowait
      for (std::int64_t i = 0; i < n; ++i)
        sum += x[static_cast<std::size_t>(i)] * y[static_cast<std::size_t>(i)];
#pragma omp critical(vouch_boost_dot)
      all += sum;
    }
    return all;
  }

  // Columns first to last - 1 of C, or, for a vector, rows of y.
  void gemv() {
#pragma omp parallel num_threads(threads)
    {
      const Mode mode;
#pragma omp for
      for (std::int64_t i = 0; i < n; ++i) {
        I sum(0);
        for (std::int64_t j = 0; j < n; ++j)
          sum += a[static_cast<std::size_t>(i * n + j)] * x[static_cast<std::size_t>(j)];
        y[static_cast<std::size_t>(i)] += sum;
      }
    }
  }

  void gemm() {
#pragma omp parallel num_threads(threads)
    {
      const Mode mode;
#pragma omp for
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n; ++k) {
          const I factor = x[static_cast<std::size_t>(k + j * n)];
          for (std::int64_t i = 0; i < n; ++i)
            y[static_cast<std::size_t>(i + j * n)] += a[static_cast<std::size_t>(i + k * n)] * factor;
        }
    }
  }
};

template <class I, class Mode>
double seconds_of(blas_routine routine, std::int64_t n, int threads) {
  const bool matrices = routine == blas_routine::gemm;
  const std::int64_t square = n * n;
  calls<I, Mode> c{n, threads, {}, {}, {}};
  if (matrices || routine == blas_routine::gemv) c.a = numbers<I>(square, 1);
  c.x = numbers<I>(matrices ? square : n, 2);
  c.y = numbers<I>(matrices ? square : n, 3);
  volatile typename I::base_type seen = 0;
  constexpr double budget = 0.1;
  return best_seconds(
      budget,
      [&] {
        if (routine == blas_routine::axpy) c.axpy(I(0.5));
        if (routine == blas_routine::dot) seen = c.dot().upper();
        if (routine == blas_routine::gemv) c.gemv();
        if (routine == blas_routine::gemm) c.gemm();
      },
      [] {});
}

}  // namespace

template <real T>
std::optional<double> boost_seconds(boost_policy policy, blas_routine routine, std::int64_t n, int threads) {
  if (policy == boost_policy::standard) return seconds_of<standard_interval<T>, no_mode>(routine, n, threads);
  return seconds_of<fastest_interval<T>, one_mode<T>>(routine, n, threads);
}
#else
template <real T>
std::optional<double> boost_seconds(boost_policy, blas_routine, std::int64_t, int) {
  return std::nullopt;
}
#endif

template std::optional<double> boost_seconds<float>(boost_policy, blas_routine, std::int64_t, int);
template std::optional<double> boost_seconds<double>(boost_policy, blas_routine, std::int64_t, int);

}  // namespace vouch::bench
