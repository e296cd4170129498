// vouch/io/ordered_writer.hpp -- text that several threads print and a file takes in order; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// Calls print(number, text) for number = 0 to pieces - 1 with all threads; text is empty then. Writes the
/// texts in the order of their numbers.
///
/// Throws  what print and the file throw, the first in that order; cancelled
template <class Print>
void write_in_order(atomic_file& file, std::int64_t pieces, Print print) {
  std::exception_ptr failure;
  const cancellation_probe stop;
  const int team = static_cast<int>(std::clamp<std::int64_t>(pieces, 1, device::cpu().threads()));
#pragma omp parallel firstprivate(ieee) num_threads(team)
  {
    std::string text;
#pragma omp for ordered schedule(dynamic, 1)
    for (std::int64_t number = 0; number < pieces; ++number) {
      std::exception_ptr failed;
      text.clear();
      try {
        if (!stop.requested()) print(number, text);
      } catch (...) {
        failed = std::current_exception();
      }
#pragma omp ordered
      try {
        if (failure == nullptr) failure = failed;
        if (failure == nullptr) file.write(text);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  stop.check();
}

}  // namespace vouch
