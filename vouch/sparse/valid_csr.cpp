#include <vouch/sparse/valid_csr.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/sparse/valid_row.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t chunk = 1024;  // rows whose columns stay in the cache between two looks

thread_local valid_csr* innermost = nullptr;

bool is_valid(const csr_pattern& A, std::int64_t i) {
  if (!has_valid_offsets(A, i)) return false;
  const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
  bool valid = true;
  for (std::int64_t k = begin; k < end; ++k) valid = valid && has_valid_column(A, begin, k);
  return valid;
}

// Offsets 0 to `count` do not descend.
VOUCH_SIMD_CLONES bool ascend(const std::int64_t* offset, std::int64_t count) {
  std::int64_t descents = 0;
  for (std::int64_t i = 0; i < count; ++i) descents += offset[i + 1] < offset[i];
  return descents == 0;
}

// How many of `count` columns do not exceed the one before; `largest` becomes the largest, negative ones being
// larger than all others.
VOUCH_SIMD_CLONES std::int32_t count_descents(const std::int32_t* col, std::int32_t count,
                                              std::uint32_t& largest) {
  std::int32_t descents = 0;
  std::uint32_t most = static_cast<std::uint32_t>(col[0]);
  for (std::int32_t k = 1; k < count; ++k) {
    descents += col[k] <= col[k - 1];
    most = std::max(most, static_cast<std::uint32_t>(col[k]));
  }
  largest = most;
  return descents;
}

// Whether rows begin to end - 1 are valid. All columns are looked at in one run, which vectors do: they may
// descend where a row begins and nowhere else.
bool are_valid(const csr_pattern& A, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = A.row_ptr[begin], last = A.row_ptr[end];
  if (!has_valid_offsets(A, begin) || !has_valid_offsets(A, end - 1) || !ascend(A.row_ptr + begin, end - begin))
    return false;
  if (first == last) return true;
  std::int64_t descents = 0;
  for (std::int64_t k = first; k < last;) {
    constexpr std::int64_t run = std::int64_t{1} << 20;
    const std::int64_t count = std::min(run, last - k);
    std::uint32_t largest;
    descents += count_descents(A.col + k, static_cast<std::int32_t>(count), largest);
    if (std::int64_t{largest} >= A.cols) return false;
    k += count;
    if (k < last) descents += A.col[k] <= A.col[k - 1];
  }
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t k = A.row_ptr[i];
    if (k > first && k < A.row_ptr[i + 1]) descents -= A.col[k] <= A.col[k - 1];
  }
  return descents == 0;
}

std::int64_t first_invalid_row(const device& dev, const csr_pattern& A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return first_invalid_row_cuda(dev, A);
  const std::int64_t chunks = ceil_div(A.rows, chunk);
  std::int64_t first = A.rows;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) \
    reduction(min                                                                       \
              : first) if (chunks > 8)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk, end = std::min(A.rows, begin + chunk);
    if (are_valid(A, begin, end)) continue;
    std::int64_t i = begin;
    while (i + 1 < end && is_valid(A, i)) ++i;
    first = std::min(first, i);
  }
  return first;
}

std::string text(std::int64_t number) { return std::to_string(number); }

[[noreturn]] void refuse(const char* routine, const std::string& what, const char* hint) {
  throw value_error(std::string(routine) + ": " + what, hint);
}

template <class T>
std::vector<T> fetched(const device& dev, const T* from, std::int64_t count) {
  std::vector<T> here(static_cast<std::size_t>(count));
  copy_bytes(here.data(), device::cpu(1), from, dev, here.size() * sizeof(T));
  return here;
}

constexpr const char* wanted = "row_ptr goes from 0 to the number of entries and never back";

[[noreturn]] void refuse_start(const char* routine, std::int64_t offset) {
  refuse(routine, "row_ptr[0] is " + text(offset) + ", not 0", wanted);
}

// Says what is wrong with row i.
[[noreturn]] void refuse_row(const char* routine, const device& dev, csr_pattern A, std::int64_t i) {
  const std::vector<std::int64_t> offsets = fetched(dev, A.row_ptr + i, 2);
  const std::int64_t begin = offsets[0], end = offsets[1];
  if (i == 0 && begin != 0) refuse_start(routine, begin);
  if (end < begin)
    refuse(routine, "row " + text(i) + " ends at entry " + text(end) + ", before it begins at " + text(begin),
           wanted);
  if (end > A.nonzeros || (i + 1 == A.rows && end != A.nonzeros))
    refuse(
        routine,
        "row " + text(i) + " ends at entry " + text(end) + ", but there are " + text(A.nonzeros) + " entries",
        wanted);
  const std::vector<std::int32_t> columns = fetched(dev, A.col + begin, end - begin);
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int32_t column = columns[static_cast<std::size_t>(k - begin)];
    const std::string entry = "entry " + text(k) + " of row " + text(i) + " is in column " + text(column);
    if (column < 0 || column >= A.cols)
      refuse(routine, entry + ", the matrix has " + text(A.cols) + " columns", "columns count from 0");
    if (k == begin) continue;
    const std::int32_t before = columns[static_cast<std::size_t>(k - begin - 1)];
    constexpr const char* sort =
        "to_csr() of vouch/sparse/coo.hpp sorts entries and adds up those of one place";
    if (column == before) refuse(routine, entry + ", as the one before", sort);
    if (column < before) refuse(routine, entry + ", behind one in column " + text(before), sort);
  }
  refuse(routine, "row " + text(i) + " changed while it was looked at", "");
}

void check_sizes(const char* routine, const csr_pattern& A, bool has_values) {
  const auto refuse_shape = [&](const std::string& what) {
    throw shape_error(std::string(routine) + ": " + what);
  };
  if (A.rows < 0 || A.cols < 0) refuse_shape("the matrix is " + text(A.rows) + " by " + text(A.cols));
  if (A.nonzeros < 0) refuse_shape("the matrix has " + text(A.nonzeros) + " entries");
  if (A.row_ptr == nullptr) refuse(routine, "row_ptr is null", "it has one element more than there are rows");
  if (A.nonzeros > 0 && (A.col == nullptr || !has_values))
    refuse(routine, std::string(A.col == nullptr ? "col" : "val") + " is null",
           "it has an element for each entry");
  if (A.rows == 0 && A.nonzeros > 0) refuse(routine, text(A.nonzeros) + " entries in no row", "");
  // So that forged counts are not followed into the columns.
  if (A.nonzeros > 0 && (A.nonzeros - 1) / A.rows >= A.cols)
    refuse(routine, text(A.nonzeros) + " entries in a matrix of " + text(A.rows) + " by " + text(A.cols),
           "every row has each column at most once");
}

}  // namespace

valid_csr::valid_csr(const char* routine, const device& dev, const csr_pattern& A, bool has_values)
    : pattern_(A), outer_(innermost) {
  check_sizes(routine, A, has_values);
  if (!is_known()) {
    if (A.rows == 0)
      if (const std::int64_t start = fetched(dev, A.row_ptr, 1).front(); start != 0)
        refuse_start(routine, start);
    const std::int64_t row = first_invalid_row(dev, A);
    if (row < A.rows) refuse_row(routine, dev, A, row);
  }
  innermost = this;
}

// Where it stands: one in a container may end before those made after it.
valid_csr::~valid_csr() {
  for (valid_csr** link = &innermost; *link != nullptr; link = &(*link)->outer_)
    if (*link == this) {
      *link = outer_;
      return;
    }
}

bool valid_csr::is_known() const {
  for (const valid_csr* known = outer_; known != nullptr; known = known->outer_)
    if (known->pattern_ == pattern_) return true;
  return false;
}

}  // namespace vouch
