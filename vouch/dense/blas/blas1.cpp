#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/blas1_cuda.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/blas1.hpp>

namespace vouch {
namespace {

using namespace detail;

template <class X, class Y>
void check(const device& dev, const char* routine, view<X> x, view<Y> y) {
  require_reachable(dev, routine, x, y);
  require_size(routine, "y", y.size(), x.size());
}

// The same where y is written, or both are.
template <class X, class Y>
void check_written(const device& dev, const char* routine, view<X> x, view<Y> y) {
  check(dev, routine, x, y);
  require_apart(routine, "y", y, "x", x);
}

// The door to a GPU: a build without CUDA has no device that is one.
template <class OnGpu, class OnCpu>
auto on(const device& dev, const OnGpu& on_gpu, const OnCpu& on_cpu) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return on_gpu();
  return on_cpu();
}

// Calls body(n, x, y) for matching pieces side by side in memory, and puts changed elements back.
template <class X, class Y, class Body>
void update_pieces(const device& dev, view<X> x, view<Y> y, const Body& body) {
  for_pieces(dev, x.size(), [&](std::int64_t piece) {
    const std::int64_t first = piece * piece_size, n = piece_length(x.size(), piece);
    gathered<X> from(x, first, n);
    gathered<Y> to(y, first, n);
    body(n, from.data(), to.data());
    if constexpr (!std::is_const_v<X>) from.scatter();
    to.scatter();
  });
}

// Halves the list until one is left: an order that a GPU can follow.
template <class R>
R sum_of_list(std::vector<R>& list) {
  std::size_t count = list.size();
  while (count > 1) {
    const std::size_t half = (count + 1) / 2;
    for (std::size_t i = 0; i + half < count; ++i) list[i] = list[i] + list[i + half];
    count = half;
  }
  return list.empty() ? R{} : list.front();
}

// The sum of body(n, x, y) over all pieces.
template <scalar R, class X, class Y, class Body>
R sum_pieces(const device& dev, view<X> x, view<Y> y, const Body& body) {
  std::vector<R> partial(static_cast<std::size_t>(piece_count(x.size())));
  for_pieces(dev, x.size(), [&](std::int64_t piece) {
    const std::int64_t first = piece * piece_size, n = piece_length(x.size(), piece);
    gathered<X> left(x, first, n);
    gathered<Y> right(y, first, n);
    partial[static_cast<std::size_t>(piece)] = body(n, left.data(), right.data());
  });
  return sum_of_list(partial);
}

template <scalar T, class Body>
T sum_pieces(const device& dev, view<const T> x, const Body& body) {
  return sum_pieces<T>(dev, x, x, [&](std::int64_t n, const T* a, const T*) { return body(n, a); });
}

template <scalar R, scalar TX, scalar TY>
R dot_of(const device& dev, const char* routine, view<const TX> x, view<const TY> y) {
  check(dev, routine, x, y);
  return on(
      dev, [&] { return dot_cuda<R>(dev, x, y); },
      [&] {
        return sum_pieces<R>(dev, x, y,
                             [](std::int64_t n, const TX* a, const TY* b) { return dot_piece<R>(n, a, b); });
      });
}

// Elements that are looked at together: few of them hold a new best one.
constexpr std::int64_t search_length = 64;

// Whether no size of the elements from .. to-1 beats the best one, where that is seen in vectors.
template <scalar T, class Size, class Better, class Best>
bool none_better(view<const T> x, std::int64_t from, std::int64_t to, const Size& size, const Better& better,
                 const Best& best) {
  if (x.stride() != 1 || to - from != search_length) return false;
  const T* const some = x.data() + from;
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < search_length; ++k) count += better(size(some[k]), best) ? 1 : 0;
  return count == 0;
}

// The index of the best size, where better(a, b) says that a beats b; the first of equals.
template <scalar T, class Size, class Better>
std::int64_t best_index(const device& dev, view<const T> x, const Size& size, const Better& better) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(piece_count(x.size())), -1);
  const auto improves = [&](std::int64_t i, std::int64_t on) {
    const auto candidate = size(x[i]);
    return candidate == candidate && (on < 0 || better(candidate, size(x[on])));
  };
  for_pieces(dev, x.size(), [&](std::int64_t piece) {
    std::int64_t found = -1;
    const std::int64_t first = piece * piece_size, last = first + piece_length(x.size(), piece);
    for (std::int64_t from = first; from < last; from += search_length) {
      const std::int64_t to = std::min(last, from + search_length);
      if (found >= 0 && none_better(x, from, to, size, better, size(x[found]))) continue;
      for (std::int64_t i = from; i < to; ++i)
        if (improves(i, found)) found = i;
    }
    best[static_cast<std::size_t>(piece)] = found;
  });
  std::int64_t all = -1;
  for (const std::int64_t i : best)
    if (i >= 0 && improves(i, all)) all = i;
  return all;
}

template <scalar T>
T root(T x) {
  if constexpr (is_interval<T>)
    return sqrt(x);
  else
    return std::sqrt(x);
}

// Below this a sum of squares may have lost bits to underflow.
template <real T>
constexpr T tiny_square = sizeof(T) == 8 ? T(0x1p-900) : T(0x1p-100);

// A power of two that brings x near 1 and has an inverse.
template <real T>
T scale_of(T x) {
  constexpr int most = sizeof(T) == 8 ? 1000 : 120;
  return std::ldexp(T{1}, std::clamp(-std::ilogb(x), -most, most));
}

// The sum of the squares of scale x_i.
template <scalar T>
T squares(const device& dev, view<const T> x, bound_of<T> scale) {
  return on(
      dev, [&] { return squares_cuda(dev, x, scale); },
      [&] {
        return sum_pieces(dev, x, [scale](std::int64_t n, const T* a) {
          if (scale == 1) return squares_piece(n, a);
          std::vector<T> scaled(static_cast<std::size_t>(n));
          scaled_piece(n, T{scale}, a, scaled.data());
          return squares_piece(n, static_cast<const T*>(scaled.data()));
        });
      });
}

template <scalar T>
T element(const device& dev, view<const T> x, std::int64_t i) {
  return on(
      dev, [&] { return element_cuda(dev, x, i); }, [&] { return x[i]; });
}

}  // namespace

template <scalar TX, scalar TY>
requires accumulates<TY, TX>
void copy(const device& dev, view<const TX> x, view<TY> y) {
  const ieee_environment here;
  check_written(dev, "copy", x, y);
  on(
      dev, [&] { copy_cuda(dev, x, y); },
      [&] {
        for_pieces(dev, x.size(), [&](std::int64_t piece) {
          const std::int64_t first = piece * piece_size;
          for (std::int64_t i = first; i < first + piece_length(x.size(), piece); ++i) y[i] = x[i];
        });
      });
}

template <scalar T>
void swap(const device& dev, view<T> x, view<T> y) {
  const ieee_environment here;
  check_written(dev, "swap", x, y);
  on(
      dev, [&] { swap_cuda(dev, x, y); },
      [&] {
        for_pieces(dev, x.size(), [&](std::int64_t piece) {
          const std::int64_t first = piece * piece_size;
          for (std::int64_t i = first; i < first + piece_length(x.size(), piece); ++i) std::swap(x[i], y[i]);
        });
      });
}

template <scalar T>
void scal(const device& dev, std::type_identity_t<T> alpha, view<T> x) {
  const ieee_environment here;
  require_reachable(dev, "scal", x);
  on(
      dev, [&] { scal_cuda(dev, alpha, x); },
      [&] {
        update_pieces(dev, view<const T>(x), x, [alpha](std::int64_t n, const T*, T* to) {
          scaled_piece(n, alpha, static_cast<const T*>(to), to);
        });
      });
}

template <scalar TX, scalar TY>
requires accumulates<TY, TX>
void axpy(const device& dev, std::type_identity_t<TY> alpha, view<const TX> x, view<TY> y) {
  const ieee_environment here;
  check_written(dev, "axpy", x, y);
  on(
      dev, [&] { axpy_cuda(dev, alpha, x, y); },
      [&] {
        update_pieces(dev, x, y,
                      [alpha](std::int64_t n, const TX* from, TY* to) { axpy_piece(n, alpha, from, to); });
      });
}

template <scalar TX, scalar TY>
requires accumulates<product_of<TX, TY>, TX, TY> product_of<TX, TY> dot(const device& dev, view<const TX> x,
                                                                        view<const TY> y) {
  const ieee_environment here;
  return dot_of<product_of<TX, TY>>(dev, "dot", x, y);
}

template <real T>
interval<T> dot_enclosure(const device& dev, view<const T> x, view<const T> y) {
  const ieee_environment here;
  return dot_of<interval<T>>(dev, "dot_enclosure", x, y);
}

template <scalar T>
T asum(const device& dev, view<const T> x) {
  const ieee_environment here;
  require_reachable(dev, "asum", x);
  return on(
      dev, [&] { return magnitudes_cuda(dev, x); },
      [&] { return sum_pieces(dev, x, [](std::int64_t n, const T* a) { return magnitudes_piece(n, a); }); });
}

template <scalar T>
T nrm2(const device& dev, view<const T> x) {
  const ieee_environment here;
  require_reachable(dev, "nrm2", x);
  const T sum = squares(dev, x, bound_of<T>{1});
  const bound_of<T> size = upper(sum);
  if (size >= tiny_square<bound_of<T>> && finite(size)) return root(sum);
  const std::int64_t largest = iamax(dev, x);
  if (size != size || largest < 0) return root(sum);
  const bound_of<T> most = largest_size(element(dev, x, largest));
  if (most == 0 || !finite(most)) return root(sum);
  const bound_of<T> scale = scale_of(most);
  return root(squares(dev, x, scale)) * (1 / scale);
}

template <scalar T>
std::int64_t iamax(const device& dev, view<const T> x) {
  const ieee_environment here;
  require_reachable(dev, "iamax", x);
  return on(
      dev, [&] { return best_index_cuda(dev, x, true); },
      [&] {
        return best_index(
            dev, x, [](T a) { return largest_size(a); }, [](auto a, auto b) { return a > b; });
      });
}

template <scalar T>
std::int64_t iamin(const device& dev, view<const T> x) {
  const ieee_environment here;
  require_reachable(dev, "iamin", x);
  return on(
      dev, [&] { return best_index_cuda(dev, x, false); },
      [&] {
        return best_index(
            dev, x, [](T a) { return smallest_size(a); }, [](auto a, auto b) { return a < b; });
      });
}

template <scalar T>
void rot(const device& dev, view<T> x, view<T> y, std::type_identity_t<T> c, std::type_identity_t<T> s) {
  const ieee_environment here;
  rotm(dev, x, y, modified_rotation<T>{-1, c, s, -s, c});
}

template <scalar T>
void rotm(const device& dev, view<T> x, view<T> y, const modified_rotation<T>& h) {
  const ieee_environment here;
  check_written(dev, "rotm", x, y);
  on(
      dev, [&] { rotm_cuda(dev, x, y, h); },
      [&] {
        update_pieces(dev, x, y, [&h](std::int64_t n, T* a, T* b) {
          const std::vector<T> old(a, a + n);
          scaled_piece(n, h.h11, old.data(), a);
          axpy_piece(n, h.h12, static_cast<const T*>(b), a);
          scaled_piece(n, h.h22, static_cast<const T*>(b), b);
          axpy_piece(n, h.h21, old.data(), b);
        });
      });
}

#define VOUCH_POINTS_AND_INTERVALS(TX, TY)                                                            \
  template VOUCH_PUBLIC void copy(const device&, view<const TX>, view<TY>);                           \
  template VOUCH_PUBLIC void axpy(const device&, std::type_identity_t<TY>, view<const TX>, view<TY>); \
  template VOUCH_PUBLIC product_of<TX, TY> dot(const device&, view<const TX>, view<const TY>);
#define VOUCH_ONE_TYPE(T)                                                                        \
  VOUCH_POINTS_AND_INTERVALS(T, T)                                                               \
  template VOUCH_PUBLIC void swap(const device&, view<T>, view<T>);                              \
  template VOUCH_PUBLIC void scal(const device&, std::type_identity_t<T>, view<T>);              \
  template VOUCH_PUBLIC T nrm2(const device&, view<const T>);                                    \
  template VOUCH_PUBLIC T asum(const device&, view<const T>);                                    \
  template VOUCH_PUBLIC std::int64_t iamax(const device&, view<const T>);                        \
  template VOUCH_PUBLIC std::int64_t iamin(const device&, view<const T>);                        \
  template VOUCH_PUBLIC void rotm(const device&, view<T>, view<T>, const modified_rotation<T>&); \
  template VOUCH_PUBLIC void rot(const device&, view<T>, view<T>, std::type_identity_t<T>,       \
                                 std::type_identity_t<T>);
#define VOUCH_PRECISION(T)                                                                      \
  VOUCH_ONE_TYPE(T)                                                                             \
  VOUCH_ONE_TYPE(interval<T>)                                                                   \
  VOUCH_POINTS_AND_INTERVALS(T, interval<T>)                                                    \
  template VOUCH_PUBLIC interval<T> dot(const device&, view<const interval<T>>, view<const T>); \
  template VOUCH_PUBLIC interval<T> dot_enclosure(const device&, view<const T>, view<const T>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
