// python/src/bindings.hpp -- what the sources of the extension share: arrays of NumPy, calls that can be interrupted.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <cstdint>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>

namespace nb = nanobind;

namespace vouchnum {

template <class T>
using vector_in = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using vector_out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
vouch::view<const T> read(const vector_in<T>& v) {
  return {v.data(), static_cast<std::int64_t>(v.size())};
}

/// An array of NumPy that owns the elements; nothing is copied.
template <class T>
nb::object to_numpy(vouch::array<T>&& elements) {
  auto* const kept = new vouch::array<T>(std::move(elements));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<vouch::array<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {static_cast<std::size_t>(kept->size())}, owner));
}

/// While it lives, Ctrl-C asks the work of this thread to end: the handler of Python is called after ours. Only the main
/// thread is sent signals by Python, others are left alone.
class interruptible {
 public:
  interruptible();
  ~interruptible();
  interruptible(const interruptible&) = delete;
  interruptible& operator=(const interruptible&) = delete;

 private:
  bool installed_ = false;
  struct sigaction before_ {};
  vouch::cancellation request_;
  vouch::cancellation_scope listens_{request_};
  static void handle(int signal, siginfo_t* info, void* context);
};

/// While one lives, a call is under way: since when, and what its solver said last. For a thread that shows it.
class under_way {
 public:
  under_way();
  ~under_way();
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  static void iteration(std::int64_t number, double residual);
  /// Nothing, or seconds, the part done or 0, the iteration or -1, its residual.
  static nb::object now();
};

/// work() without the lock of the interpreter, until it is done or Ctrl-C is pressed, which becomes KeyboardInterrupt.
template <class Work>
auto without_lock(const Work& work) {
  const interruptible listens;
  try {
    auto result = [&] {
      const nb::gil_scoped_release free;
      const under_way call;
      return work();
    }();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return result;
  } catch (const vouch::cancelled&) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    throw;
  }
}

vouch::device cpu_of(int threads);

void bind_errors(nb::module_& m);
void bind_data(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_prices(nb::module_& m);
void bind_intervals(nb::module_& m);

}  // namespace vouchnum
