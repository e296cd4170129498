// vouch/io/npy_elements.hpp -- the elements of an .npy file, in pieces by all threads; private.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <type_traits>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch::detail::npy {

static_assert(std::endian::native == std::endian::little, ".npy elements are copied as they are");

// As NumPy names it: f a float, i an integer, u one without sign, b a truth; its bytes; the wrong way round.
struct element {
  char kind = 'f';
  int bytes = 8;
  bool big_endian = false;
};

template <class Source>
[[noreturn]] void truncated(const Source& file) {
  throw parse_error(file.path(), 0, 0, "the .npy file ends early", "it may be truncated");
}

// IEEE 754 binary16.
struct half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = std::ldexp(fraction + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    if (exponent == 31)
      value = fraction > 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return bits >> 15 != 0 ? -value : value;
  }
};

struct nearest_double {
  template <class T>
  double operator()(T number) const {
    return static_cast<double>(number);
  }
};

// How far an element is from the double nearest to it: integers beyond 2^53 are no doubles. Both halves of one
// are, and so is either difference.
struct distance_to_double {
  template <class T>
  double operator()(T number) const {
    if constexpr (std::is_integral_v<T>) {
      constexpr std::int64_t half_range = std::int64_t{1} << 32;
      const double high = static_cast<double>(number / half_range) * 0x1p32;
      return std::fabs(static_cast<double>(number) - high - static_cast<double>(number % half_range));
    }
    return 0;
  }
};

// Where the elements of a file go: lines of so many elements, one after the other or, transposed, side by side.
struct arrangement {
  std::int64_t lines, length;
  bool transposed;

  std::int64_t count() const { return lines * length; }
  std::int64_t place(std::int64_t k) const { return transposed ? k % length * lines + k / length : k; }
};

// Elements that a thread reads at once: a megabyte, whole lines of it where they are transposed and not too long,
// as many at least as fill a cache line of the result.
inline std::int64_t elements_at_once(const arrangement& to, std::int64_t bytes) {
  const std::int64_t piece = (1 << 20) / bytes;
  if (!to.transposed || to.length > 2 * piece) return piece;
  return to.length * std::clamp<std::int64_t>(piece / to.length, 8, 64);
}

// Puts elements from number `first` on where they belong, as value() has them; the number of the first one that
// is not finite, or none.
template <class T, class Value>
std::int64_t put_elements(const std::vector<T>& some, std::int64_t first, std::int64_t count,
                          const arrangement& to, Value value, double* result, std::int64_t none) {
  std::int64_t bad = none;
  const auto put = [&](std::int64_t k, std::int64_t at) {
    const double number = value(some[static_cast<std::size_t>(k)]);
    if (!std::isfinite(number)) bad = std::min(bad, first + k);
    result[at] = number;
  };
  if (to.transposed && first % to.length == 0 && count % to.length == 0) {
    for (std::int64_t j = 0; j < to.length; ++j)
      for (std::int64_t i = 0; i < count / to.length; ++i)
        put(i * to.length + j, j * to.lines + first / to.length + i);
  } else {
    for (std::int64_t k = 0; k < count; ++k) put(k, to.place(first + k));
  }
  return bad;
}

// Reads elements that begin at a byte of the file, by all threads where it can be read anywhere; the number of
// the first one that is not finite, or as many as there are.
template <class T, class Source, class Value>
std::int64_t read_elements(const device& cpu, Source& file, std::int64_t start, bool big_endian,
                           const arrangement& to, Value value, double* result) {
  const std::int64_t count = to.count(), piece = elements_at_once(to, sizeof(T));
  const bool anywhere = file.random_access();
  const auto read = [&](std::int64_t first, char* at, std::size_t bytes) {
    return anywhere ? file.read_at(start + first * static_cast<std::int64_t>(sizeof(T)), at, bytes)
                    : file.read(at, bytes);
  };
  const int threads = anywhere && count > piece ? cpu.threads() : 1;
  std::int64_t bad = count;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // the first
  const cancellation_probe stop;
#pragma omp parallel firstprivate(ieee) num_threads(threads) reduction(min : bad)
  {
    std::vector<T> some(static_cast<std::size_t>(std::min(count, piece)));
    char* const bytes = reinterpret_cast<char*>(some.data());
#pragma omp for schedule(monotonic : dynamic)
    for (std::int64_t first = 0; first < count; first += piece) try {
        if (failed) continue;
        stop.check();
        const std::int64_t now = std::min(piece, count - first);
        const std::size_t wanted = static_cast<std::size_t>(now) * sizeof(T);
        if (read(first, bytes, wanted) != wanted) truncated(file);
        if (big_endian)
          for (char* at = bytes; at < bytes + wanted; at += sizeof(T)) std::reverse(at, at + sizeof(T));
        bad = std::min(bad, put_elements(some, first, now, to, value, result, count));
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
  }
  if (failure) std::rethrow_exception(failure);
  char extra = 0;
  if (read(count, &extra, 1) != 0)
    throw parse_error(file.path(), 0, 0, "bytes behind the end of the .npy array");
  return bad;
}

template <class Source, class Value>
std::int64_t read_elements_as(element type, const device& cpu, Source& file, std::int64_t start,
                              const arrangement& to, Value value, double* result) {
  std::int64_t bad = 0;
  const auto read = [&]<class T>(T) {
    bad = read_elements<T>(cpu, file, start, type.big_endian, to, value, result);
  };
  const auto read_integers = [&](auto one, auto two, auto four, auto eight) {
    if (type.bytes == 1) read(one);
    if (type.bytes == 2) read(two);
    if (type.bytes == 4) read(four);
    if (type.bytes == 8) read(eight);
  };
  if (type.kind == 'i') read_integers(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::int64_t{});
  if (type.kind == 'u') read_integers(std::uint8_t{}, std::uint16_t{}, std::uint32_t{}, std::uint64_t{});
  if (type.kind == 'b') read(std::uint8_t{});
  if (type.kind == 'f' && type.bytes == 8) read(double{});
  if (type.kind == 'f' && type.bytes == 4) read(float{});
  if (type.kind == 'f' && type.bytes == 2) read(half{});
  return bad;
}

}  // namespace vouch::detail::npy
