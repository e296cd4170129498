// The library's exceptions as those of vouchnum.errors, signals, and how far calls are.
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <typeinfo>

#include <vouch/core/error.hpp>
#include <vouch/core/progress.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

// The request of the main thread's innermost call, and what Python had installed.
vouch::cancellation* current_request = nullptr;
struct sigaction python_action {};

// Of all calls that are under way; the clock is that of the first.
std::atomic<int> calls = 0;
std::atomic<double> began = 0, last_residual = 0;
std::atomic<std::int64_t> last_iteration = -1;

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void raise(const char* type, const vouch::error& e, const nb::dict& attributes) {
  const nb::object made = nb::module_::import_("vouchnum.errors").attr(type)(e.what());
  for (auto [name, value] : attributes) nb::setattr(made, name, value);
  if (!e.hint().empty()) {
    nb::setattr(made, "hint", nb::cast(e.hint()));
    if (nb::hasattr(made, "add_note")) made.attr("add_note")("hint: " + e.hint());
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  nb::dict attributes;
  try {
    std::rethrow_exception(thrown);
  } catch (const vouch::shape_error& e) {
    raise("ShapeError", e, attributes);
  } catch (const vouch::parse_error& e) {
    const std::string text = e.what();
    const std::string place = ":" + std::to_string(e.line()) + ":" + std::to_string(e.column()) + ": ";
    attributes["file"] = text.substr(0, text.find(place));
    attributes["line"] = e.line();
    attributes["column"] = e.column();
    raise("ParseError", e, attributes);
  } catch (const vouch::value_error& e) {
    raise("InputError", e, attributes);
  } catch (const vouch::file_error& e) {
    raise("FileError", e, attributes);
  } catch (const vouch::out_of_memory& e) {
    attributes["asked"] = e.bytes_asked();
    attributes["free"] = e.bytes_free();
    raise("OutOfMemory", e, attributes);
  } catch (const vouch::no_cuda_error& e) {
    raise("NoCudaError", e, attributes);
  } catch (const vouch::device_error& e) {
    attributes["code"] = e.code();
    raise("DeviceError", e, attributes);
  } catch (const vouch::error& e) {
    raise("VouchError", e, attributes);
  } catch (const std::bad_cast&) {
    raise("InputError", vouch::value_error("an option has a value of another type than it takes"), attributes);
  }
}

}  // namespace

interruptible::interruptible() {
  static const nb::object& main_thread =
      *new nb::object(nb::module_::import_("threading").attr("main_thread")());
  const bool main = nb::cast<unsigned long>(main_thread.attr("ident")) == PyThread_get_thread_ident();
  if (!main || current_request != nullptr) return;
  struct sigaction ours {};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGINT, nullptr, &before_) != 0) return;
  const bool ignored = (before_.sa_flags & SA_SIGINFO) == 0 && before_.sa_handler == SIG_IGN;
  if (ignored || sigaction(SIGINT, &ours, &before_) != 0) return;
  python_action = before_;
  current_request = &request_;
  installed_ = true;
}

interruptible::~interruptible() {
  if (!installed_) return;
  sigaction(SIGINT, &before_, nullptr);
  current_request = nullptr;
}

void interruptible::handle(int signal, siginfo_t* info, void* context) {
  if (current_request != nullptr) current_request->request();
  if ((python_action.sa_flags & SA_SIGINFO) != 0)
    python_action.sa_sigaction(signal, info, context);
  else if (python_action.sa_handler != SIG_DFL && python_action.sa_handler != SIG_IGN)
    python_action.sa_handler(signal);
}

under_way::under_way() {
  if (calls.fetch_add(1) > 0) return;
  began.store(clock_seconds());
  last_iteration.store(-1);
  vouch::progress::begin(0);
}

under_way::~under_way() { calls.fetch_sub(1); }

void under_way::iteration(std::int64_t number, double residual) {
  last_residual.store(residual, std::memory_order_relaxed);
  last_iteration.store(number, std::memory_order_relaxed);
}

nb::object under_way::now() {
  if (calls.load() == 0) return nb::none();
  return nb::make_tuple(clock_seconds() - began.load(), vouch::progress::fraction(), last_iteration.load(),
                        last_residual.load());
}

vouch::device cpu_of(int threads) { return vouch::device::cpu(threads); }

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace vouchnum
