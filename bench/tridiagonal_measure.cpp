#include "tridiagonal_measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/memory.hpp>
#include <vouch/core/random.hpp>
#include <vouch/core/stopwatch.hpp>

#include "peer_module.hpp"
#include "peers/cuda_tridiagonal.h"

namespace vouch::bench {
namespace {

constexpr std::int64_t block_rows = std::int64_t{1} << 24;

double uniform(std::uint64_t stream, std::int64_t i) {
  return 0x1p-52 * static_cast<double>(random_bits(stream, static_cast<std::uint64_t>(i)) >> 11) - 1;
}

// A block of numbers in host memory, then as often as it takes.
template <real T, class Make>
array<T> repeated(const device& dev, std::int64_t size, const Make& make) {
  const std::int64_t first = std::min(size, block_rows);
  std::vector<T> block(static_cast<std::size_t>(first));
#pragma omp parallel for
  for (std::int64_t i = 0; i < first; ++i) block[static_cast<std::size_t>(i)] = static_cast<T>(make(i));
  array<T> all(dev, size);
  constexpr auto width = static_cast<std::int64_t>(sizeof(T));
  copy_bytes(all.data(), dev, block.data(), device::cpu(1), static_cast<std::size_t>(first * width));
  for (std::int64_t done = first; done < size; done += std::min(done, size - done))
    copy_bytes(all.data() + done, dev, all.data(), dev,
               static_cast<std::size_t>(std::min(done, size - done) * width));
  return all;
}

// What a system's first dl and last du hold does not matter to us; the peers want zeros.
template <real T>
void clear_unused(const device& dev, band_systems<T>& systems) {
  const batch_shape& shape = systems.shape;
  const auto clear = [&](T* first, std::int64_t count) {
    zero_bytes(dev, first, static_cast<std::size_t>(count) * sizeof(T));
  };
  if (shape.system_stride == 1) {
    clear(systems.dl.data(), shape.systems);
    clear(systems.du.data() + (shape.n - 1) * shape.systems, shape.systems);
  } else if (shape.systems == 1) {
    clear(systems.dl.data(), 1);
    clear(systems.du.data() + shape.n - 1, 1);
  }
}

template <real T>
std::optional<peer_time> cusparse(const device& gpu, band_systems<T>& systems, int variant, const char* called,
                                  std::string& why) {
  const auto solve = reinterpret_cast<vouch_peer_cuda_tridiagonal_function*>(
      cuda_peer_function("vouch_peer_cuda_tridiagonal", why));
  if (solve == nullptr) return std::nullopt;
  gpu.synchronize();
  const vouch_peer_tridiagonal_task task{gpu.index(),
                                         sizeof(T) == sizeof(double),
                                         variant,
                                         systems.shape.n,
                                         systems.shape.systems,
                                         systems.dl.data(),
                                         systems.d.data(),
                                         systems.du.data(),
                                         systems.b.data(),
                                         systems.x.data(),
                                         5};
  vouch_peer_tridiagonal_answer answer;
  if (solve(&task, &answer) == 0) return peer_time{answer.seconds, called};
  why = std::string(called) + ": " + answer.message;
  return std::nullopt;
}

void keep_faster(std::optional<peer_time>& best, const std::optional<peer_time>& other) {
  if (other && (!best || other->seconds < best->seconds)) best = other;
}

// LAPACK's calling convention, and its names in two precisions.
template <real T>
struct lapack {
  using gtsv_function = void(const int*, const int*, T*, T*, T*, T*, const int*, int*);
  using gttrf_function = void(const int*, T*, T*, T*, T*, int*, int*);
  using gttrs_function = void(const char*, const int*, const int*, const T*, const T*, const T*, const T*,
                              const int*, T*, const int*, int*);
  template <class Function>
  static Function* find(const char* in_double, const char* in_single) {
    return reinterpret_cast<Function*>(lapack_function(sizeof(T) == sizeof(double) ? in_double : in_single));
  }
};

template <real T>
struct lapack_system {
  std::vector<T> dl, d, du, x;
  explicit lapack_system(const band_systems<T>& from)
      : dl(from.dl.begin() + 1, from.dl.end()),
        d(from.d.begin(), from.d.end()),
        du(from.du.begin(), from.du.end() - 1),
        x(from.b.begin(), from.b.end()) {}
};
}  // namespace

const char* name(band_kind kind) {
  switch (kind) {
    case band_kind::dominant:
      return "dominant";
    case band_kind::general:
      return "general";
    case band_kind::slow:
      return "(-1, 2, -1)";
    default:
      return "general, slow decay";
  }
}

template <real T>
band_systems<T>::band_systems(const device& dev, band_kind kind, const batch_shape& of) : shape(of) {
  const std::int64_t size = of.n * of.systems;
  // The same systems in either layout. Those that fit the block begin and end in it with zeros.
  const bool side_by_side = of.system_stride == 1 && of.systems > 1;
  const auto place_in_line = [&](std::int64_t i) {
    return side_by_side ? i % of.systems * of.n + i / of.systems : i;
  };
  const bool marked = of.systems > 1 && of.n <= block_rows;
  const auto off = [&](std::uint64_t stream, std::int64_t k, std::int64_t unused) {
    if (marked && k % of.n == unused) return 0.0;
    if (kind == band_kind::slow) return -1.0;
    return kind == band_kind::general_slow ? std::copysign(1.0, uniform(stream, k)) : uniform(stream, k);
  };
  dl = repeated<T>(dev, size, [&](std::int64_t i) { return off(1, place_in_line(i), 0); });
  du = repeated<T>(dev, size, [&](std::int64_t i) { return off(2, place_in_line(i), of.n - 1); });
  d = repeated<T>(dev, size, [&](std::int64_t i) {
    if (kind == band_kind::slow) return 2.0;
    const std::int64_t k = place_in_line(i);
    const double own = uniform(3, k);
    if (kind == band_kind::general) return own;
    if (kind == band_kind::general_slow) return own / 16;
    return std::copysign(1 + std::fabs(off(1, k, 0)) + std::fabs(off(2, k, of.n - 1)), own);
  });
  b = repeated<T>(dev, size, [&](std::int64_t i) { return uniform(4, place_in_line(i)); });
  x = array<T>::zeros(dev, size);
  clear_unused(dev, *this);
}

double seconds_of(const device& dev, const suite_options& options, const std::function<void()>& call) {
  const auto pass = [&](std::int64_t calls) {
    dev.synchronize();
    const stopwatch clock;
    for (std::int64_t k = 0; k < calls; ++k) call();
    dev.synchronize();
    return clock.seconds() / static_cast<double>(calls);
  };
  const double first = std::max(std::min(pass(1), pass(1)), 1e-7);
  const std::int64_t calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(0.02 / first), 1, 1000);
  double best = std::numeric_limits<double>::max();
  for (std::int64_t k = 0; k < (options.repeat > 0 ? options.repeat : 5) && !options.stop(); ++k)
    best = std::min(best, pass(calls));
  return best;
}

template <real T>
std::optional<peer_time> cusparse_one(const device& gpu, band_systems<T>& systems, bool interchanges,
                                      std::string& why) {
  if (interchanges) return cusparse(gpu, systems, vouch_peer_gtsv2, "gtsv2", why);
  return cusparse(gpu, systems, vouch_peer_gtsv2_nopivot, "gtsv2_nopivot", why);
}

template <real T>
std::optional<peer_time> cusparse_batch(const device& gpu, band_systems<T>& contiguous_systems,
                                        band_systems<T>& interleaved_systems, std::string& why) {
  std::optional<peer_time> best =
      cusparse(gpu, contiguous_systems, vouch_peer_gtsv2_strided, "gtsv2StridedBatch", why);
  constexpr const char* called[] = {"gtsvInterleavedBatch 0", "gtsvInterleavedBatch 1",
                                    "gtsvInterleavedBatch 2"};
  for (int algorithm = 0; algorithm < 3; ++algorithm)
    keep_faster(best, cusparse(gpu, interleaved_systems, vouch_peer_gtsv_interleaved_0 + algorithm,
                               called[algorithm], why));
  return best;
}

template <real T>
std::optional<double> lapack_gtsv(const suite_options& options, const band_systems<T>& systems) {
  const auto gtsv = lapack<T>::template find<typename lapack<T>::gtsv_function>("dgtsv_", "sgtsv_");
  if (gtsv == nullptr) return std::nullopt;
  const int n = static_cast<int>(systems.shape.n), one = 1;
  const std::int64_t rows = systems.rows();
  double best = std::numeric_limits<double>::max();
  for (int k = 0; k < 5 && !options.stop(); ++k) {
    lapack_system<T> copy(systems);
    int info = 0;
    const stopwatch clock;
    for (std::int64_t at = 0; at < rows; at += n)
      gtsv(&n, &one, copy.dl.data() + at, copy.d.data() + at, copy.du.data() + at, copy.x.data() + at, &n,
           &info);
    best = std::min(best, clock.seconds());
  }
  return best;
}

template <real T>
std::optional<double> lapack_gttrs(const suite_options& options, const band_systems<T>& systems) {
  const auto gttrf = lapack<T>::template find<typename lapack<T>::gttrf_function>("dgttrf_", "sgttrf_");
  const auto gttrs = lapack<T>::template find<typename lapack<T>::gttrs_function>("dgttrs_", "sgttrs_");
  if (gttrf == nullptr || gttrs == nullptr) return std::nullopt;
  const int n = static_cast<int>(systems.shape.n), one = 1;
  lapack_system<T> of(systems);
  std::vector<T> du2(of.d.size());
  std::vector<int> pivots(of.d.size());
  int info = 0;
  gttrf(&n, of.dl.data(), of.d.data(), of.du.data(), du2.data(), pivots.data(), &info);
  return seconds_of(device::cpu(1), options, [&] {
    gttrs("N", &n, &one, of.dl.data(), of.d.data(), of.du.data(), du2.data(), pivots.data(), of.x.data(), &n,
          &info);
  });
}

template struct band_systems<float>;
template struct band_systems<double>;
template std::optional<peer_time> cusparse_one(const device&, band_systems<double>&, bool, std::string&);
template std::optional<peer_time> cusparse_batch(const device&, band_systems<double>&, band_systems<double>&,
                                                 std::string&);
template std::optional<double> lapack_gtsv(const suite_options&, const band_systems<double>&);
template std::optional<double> lapack_gttrs(const suite_options&, const band_systems<double>&);

}  // namespace vouch::bench
