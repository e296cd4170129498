// Any bytes are read as a matrix or refused by one parse_error, alike for any number of threads, whatever the format.
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/decimal_radii.hpp>
#include <vouch/io/vectors.hpp>

namespace {

using namespace vouch;
using fuzz::memory_file;

// Memory for so many rows is no matter of parsing.
constexpr std::int64_t most_rows = 100000;

struct outcome {
  coo entries;
  std::string complaint;
};

outcome read(const std::string& path, int threads) {
  outcome result;
  try {
    result.entries = read_coo(device::cpu(threads), path);
  } catch (const parse_error& e) {
    result.complaint = e.what();
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file file(data, size);
  const outcome one = read(file.path(), 1), three = read(file.path(), 3);
  memory_file::require(one.complaint == three.complaint);
  if (!one.complaint.empty() || one.entries.rows > most_rows || one.entries.cols > most_rows) return 0;
  memory_file::require(one.entries.row.to_vector() == three.entries.row.to_vector());
  memory_file::require(one.entries.col.to_vector() == three.entries.col.to_vector());
  to_csr(device::cpu(1), one.entries);
  try {
    read_any_matrix(device::cpu(2), file.path());
    read_matrix_radii(device::cpu(1), file.path());
    if (one.entries.rows * one.entries.cols < most_rows) read_vectors(device::cpu(2), file.path());
  } catch (const error&) {
  }
  return 0;
}
