// Any bytes are read or refused by one parse_error, alike for any number of threads, and what was read is
// written and read again without a change.
#include <cmath>
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>

namespace {

using namespace vouch;
using fuzz::memory_file;

// Memory for so many rows is no matter of parsing.
constexpr std::int64_t most_rows = 100000;

struct outcome {
  csr<double> A;
  symmetry stored_as = symmetry::general;
  std::string complaint;
};

outcome read(const std::string& path, int threads) {
  outcome result;
  try {
    matrix_market_header header;
    result.A = read_csr(device::cpu(threads), path, &header);
    result.stored_as = header.stored_as;
  } catch (const parse_error& e) {
    result.complaint = e.what();
  }
  return result;
}

bool too_large(const std::string& path) {
  try {
    const matrix_market_header header = read_matrix_market_header(path);
    return header.rows > most_rows || header.entries > most_rows * 10;
  } catch (const parse_error&) {
    return false;
  }
}

void require_same(const csr<double>& A, const csr<double>& B) {
  memory_file::require(A.rows == B.rows && A.cols == B.cols);
  memory_file::require(A.row_ptr.to_vector() == B.row_ptr.to_vector());
  memory_file::require(A.col.to_vector() == B.col.to_vector());
  memory_file::require(A.nonzeros() == B.nonzeros());
  for (std::int64_t k = 0; k < A.nonzeros(); ++k)
    memory_file::require(A.val[k] == B.val[k] || (std::isnan(A.val[k]) && std::isnan(B.val[k])));
}

void require_round_trip(const outcome& read_once) {
  for (const double v : read_once.A.val)
    if (!std::isfinite(v)) return;  // a sum of duplicates
  const memory_file copy(nullptr, 0);
  write_matrix_market(copy.path(), read_once.A, read_once.stored_as);
  require_same(read_once.A, read(copy.path(), 1).A);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const memory_file file(data, size);
  if (too_large(file.path())) return 0;
  const outcome one = read(file.path(), 1);
  const outcome three = read(file.path(), 3);
  memory_file::require(one.complaint == three.complaint);
  if (!one.complaint.empty()) return 0;
  require_same(one.A, three.A);
  require_round_trip(one);
  if (size > fuzz::memory_pipe::most_bytes) return 0;
  fuzz::memory_pipe pipe(data, size);
  require_same(one.A, read(pipe.path(), 2).A);
  return 0;
}
