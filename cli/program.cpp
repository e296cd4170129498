#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"

namespace vouch::cli {
namespace {

int fail(int code, const char* what, const std::string& hint) {
  to_stderr(fmt::format("vouch: {} {}\n", shaded(shade::bad, "error:", STDERR_FILENO), printable(what)));
  if (!hint.empty()) to_stderr(fmt::format("hint: {}\n", printable(hint)));
  return code;
}

// A closed standard stream would be taken by the first file that is opened: prices would stand in the log, or
// the log in a file of prices. Nothing can be read from or written to what takes the place of the first two.
void hold_standard_streams() {
  for (const auto& [stream, mode] : {std::pair(STDIN_FILENO, O_WRONLY), std::pair(STDOUT_FILENO, O_RDONLY),
                                     std::pair(STDERR_FILENO, O_WRONLY)})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", mode);
}

}  // namespace

int telling_failures(const std::function<int()>& work) {
  try {
    return work();
  } catch (const cancelled&) {
    to_stderr("vouch: interrupted\n");
    return 128 + interrupt_signal();
  } catch (const file_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const out_of_memory& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const device_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const no_cuda_error& e) {
    return fail(no_means, e.what(), e.hint());
  } catch (const error& e) {
    return fail(bad_input, e.what(), e.hint());
  } catch (const std::bad_alloc&) {
    return fail(no_means, "out of memory on the host", "");
  } catch (const std::exception& e) {
    return fail(no_means, e.what(), "");
  }
}

int run_program(int argc, char** argv, int (*work)(std::span<const char* const> arguments)) {
  const ieee_environment here;
  hold_standard_streams();
  const int code = telling_failures([&] {
    const cancellation_scope listens(catch_interrupts());
    return work({argv + std::min(argc, 1), static_cast<std::size_t>(std::max(argc - 1, 0))});
  });
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    to_stderr("vouch: error: standard output could not be written\n");
    return no_means;
  }
  return interrupt_signal() == 0 ? code : 128 + interrupt_signal();
}

}  // namespace vouch::cli
