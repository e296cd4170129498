// tests/fuzz/vectors_check.hpp -- what must hold for any file of vectors.
#pragma once
#include <cstring>
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch::fuzz {

struct vectors_outcome {
  vectors values;
  std::string complaint;
};

inline vectors_outcome read_vectors_of(const std::string& path, int threads) {
  vectors_outcome result;
  try {
    result.values = read_vectors(device::cpu(threads), path);
  } catch (const parse_error& e) {
    result.complaint = e.what();
  }
  return result;
}

inline void require_same(const vectors& a, const vectors& b) {
  memory_file::require(a.rows == b.rows && a.cols == b.cols && a.values.size() == b.values.size());
  const auto bytes = static_cast<std::size_t>(a.values.size()) * sizeof(double);
  memory_file::require(bytes == 0 || std::memcmp(a.values.data(), b.values.data(), bytes) == 0);
}

/// Read or refused by one parse_error, alike for any number of threads; written and read again without a
/// change.
inline void check_vectors(const std::uint8_t* data, std::size_t size) {
  const memory_file file(data, size);
  const vectors_outcome one = read_vectors_of(file.path(), 1);
  const vectors_outcome three = read_vectors_of(file.path(), 3);
  memory_file::require(one.complaint == three.complaint);
  if (!one.complaint.empty()) return;
  require_same(one.values, three.values);
  if (one.values.values.size() == 0) return;  // text cannot tell the shapes of nothing apart
  const memory_file copy(nullptr, 0);
  write_vectors(copy.path(), one.values.values, one.values.rows, one.values.cols);
  require_same(one.values, read_vectors_of(copy.path(), 1).values);
}

}  // namespace vouch::fuzz
