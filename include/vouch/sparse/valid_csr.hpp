// vouch/sparse/valid_csr.hpp -- that a matrix in CSR is one before anything reads where it points.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Where entries are said to be.
struct csr_pattern {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;

  bool operator==(const csr_pattern&) const = default;
};

/// Looks through the pattern of a matrix, and vouches for it as long as it lives: what the same thread does
/// meanwhile with this pattern, unchanged, in any precision, does not look again. Every operation of the
/// library that takes a csr_view has one; around many calls with one matrix it saves all looks but the first.
///
/// Memory  A lives on dev. Arrays are read as far as rows and nonzeros say, and no farther.
/// Result  row_ptr goes from 0 to nonzeros and never back; the columns of a row ascend within 0 to cols - 1,
///         each at most once. Values may be anything.
/// Cost    Reads 4 bytes an entry and 8 a row: a quarter to a third of a product with a vector. Waits for the
///         device.
/// Throws  shape_error  a negative size
///         value_error  anything else; the text names routine, row and entry, from 0
class valid_csr {
 public:
  template <class T>
  valid_csr(const char* routine, const device& dev, const csr_view<T>& A)
      : valid_csr(routine, dev, {A.rows, A.cols, A.nonzeros, A.row_ptr, A.col}, A.val != nullptr) {}
  template <real T>
  valid_csr(const char* routine, const device& dev, const csr<T>& A) : valid_csr(routine, dev, A.all()) {}
  ~valid_csr();
  valid_csr(const valid_csr&) = delete;
  valid_csr& operator=(const valid_csr&) = delete;

 private:
  valid_csr(const char* routine, const device& dev, const csr_pattern& A, bool has_values);
  bool is_known() const;

  csr_pattern pattern_;
  valid_csr* outer_;
};

}  // namespace vouch
