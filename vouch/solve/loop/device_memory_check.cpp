#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/solve/loop/device_memory_check.hpp>

namespace vouch {
namespace {

// Beyond any memory there is, yet a number of bytes.
std::int64_t in_bytes(double amount) {
  constexpr auto most = static_cast<double>(std::int64_t{1} << 62);
  return static_cast<std::int64_t>(std::min(amount, most));
}

}  // namespace

void check_dense_memory(const std::string& where, std::int64_t free, std::int64_t rows,
                        std::int64_t bytes_an_entry) {
  const std::int64_t needed =
      in_bytes(static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(bytes_an_entry));
  if (needed <= free) return;
  auto fits =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(free) / static_cast<double>(bytes_an_entry)));
  while (fits * fits * bytes_an_entry > free) --fits;
  throw out_of_memory(where + ", where dense systems of at most " + std::to_string(fits) +
                          " rows fit in this precision and method",
                      needed, free);
}

void check_sparse_memory(const std::string& where, std::int64_t free, std::int64_t rows, std::int64_t nonzeros,
                         std::int64_t bytes_an_entry, std::int64_t bytes_a_row) {
  const std::int64_t needed = in_bytes(static_cast<double>(nonzeros) * static_cast<double>(bytes_an_entry) +
                                       static_cast<double>(rows) * static_cast<double>(bytes_a_row));
  if (needed <= free) return;
  const std::int64_t fits = std::max<std::int64_t>(
      0, (free - std::min(free, in_bytes(static_cast<double>(rows) * static_cast<double>(bytes_a_row)))) /
             bytes_an_entry);
  throw out_of_memory(where + ", where sparse matrices of this many rows with at most " + std::to_string(fits) +
                          " nonzeros fit in this precision and method",
                      needed, free);
}

}  // namespace vouch
