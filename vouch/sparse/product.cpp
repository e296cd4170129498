#include <vouch/sparse/product.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/trusted.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// Sums by column, found by hashing: open addresses, at most half of them in use.
class row_sums {
 public:
  // Ready for a row with up to so many columns.
  void begin(std::int64_t columns) {
    const auto size = std::bit_ceil(static_cast<std::uint64_t>(2 * columns + 1));
    if (size > keys_.size()) {
      keys_.assign(size, free);
      sums_.resize(size);
    }
    mask_ = size - 1;
    used_.clear();
  }

  template <class T>
  void add(std::int32_t col, T a, T b) {
    std::uint64_t at = (static_cast<std::uint64_t>(col) * 0x9e3779b97f4a7c15u >> 32) & mask_;
    while (keys_[at] != col && keys_[at] != free) at = (at + 1) & mask_;
    if (keys_[at] == free) {
      keys_[at] = col;
      sums_[at] = 0;
      used_.push_back(static_cast<std::uint64_t>(col) << 32 | at);
    }
    sums_[at] = detail::plus_product(sums_[at], a, b);
  }

  // The row by ascending column; leaves the table empty.
  template <class T>
  void end(std::vector<std::int32_t>& col, std::vector<T>& val) {
    std::sort(used_.begin(), used_.end());
    for (const std::uint64_t entry : used_) {
      const std::uint64_t at = entry & 0xffffffffu;
      col.push_back(static_cast<std::int32_t>(entry >> 32));
      val.push_back(static_cast<T>(sums_[at]));
      keys_[at] = free;
    }
  }

 private:
  static constexpr std::int32_t free = -1;
  std::vector<std::int32_t> keys_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> used_;  // column, place
  std::uint64_t mask_ = 0;
};

// What a thread has made of some consecutive rows.
template <class T>
struct piece {
  std::vector<std::int32_t> col;
  std::vector<T> val;
};

template <class T>
void multiply_row(csr_view<const T> A, csr_view<const T> B, std::int64_t i, row_sums& sums, piece<T>& to) {
  std::int64_t products = 0;
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    products += B.row_ptr[A.col[k] + 1] - B.row_ptr[A.col[k]];
  sums.begin(std::min(products, B.cols));
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    for (std::int64_t e = B.row_ptr[A.col[k]]; e < B.row_ptr[A.col[k] + 1]; ++e)
      sums.add(B.col[e], A.val[k], B.val[e]);
  sums.end(to.col, to.val);
}

constexpr std::int64_t piece_rows = 1024;

template <real T>
csr<T> multiply_cpu(const device& dev, csr_view<const T> A, csr_view<const T> B) {
  csr<T> C{A.rows, B.cols, array<std::int64_t>(dev, A.rows + 1), {}, {}};
  const std::int64_t count = ceil_div(A.rows, piece_rows);
  std::vector<piece<T>> pieces(static_cast<std::size_t>(count));
  const int threads = loop_threads(dev, A.nonzeros);
  const cancellation_probe stop;
  C.row_ptr[0] = 0;
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    row_sums sums;
#pragma omp for schedule(dynamic)
    for (std::int64_t p = 0; p < count; ++p) {
      if (stop.requested()) continue;
      piece<T>& own = pieces[static_cast<std::size_t>(p)];
      constexpr std::size_t usual = 16 * piece_rows;  // entries; more are made room for as they come
      own.col.reserve(usual);
      own.val.reserve(usual);
      for (std::int64_t i = p * piece_rows; i < std::min(A.rows, (p + 1) * piece_rows); ++i) {
        const std::size_t before = own.col.size();
        multiply_row(A, B, i, sums, own);
        C.row_ptr[i + 1] = static_cast<std::int64_t>(own.col.size() - before);
      }
    }
  }
  stop.check();
  std::partial_sum(C.row_ptr.begin(), C.row_ptr.end(), C.row_ptr.begin());
  C.col = array<std::int32_t>(dev, C.row_ptr[A.rows]);
  C.val = array<T>(dev, C.row_ptr[A.rows]);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
  for (std::int64_t p = 0; p < count; ++p) {
    const piece<T> own = std::move(pieces[static_cast<std::size_t>(p)]);
    std::copy(own.col.begin(), own.col.end(), C.col.data() + C.row_ptr[p * piece_rows]);
    std::copy(own.val.begin(), own.val.end(), C.val.data() + C.row_ptr[p * piece_rows]);
  }
  return C;
}

}  // namespace

namespace detail {

template <real T>
csr<T> multiply_trusted(const device& dev, csr_view<const T> A, csr_view<const T> B) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_cuda(dev, A, B);
  return multiply_cpu(dev, A, B);
}

}  // namespace detail

template <real T>
csr<T> multiply(const device& dev, csr_view<const T> A, csr_view<const T> B) {
  const ieee_environment here;
  if (A.cols != B.rows)
    throw shape_error("multiply: A has " + std::to_string(A.cols) + " columns and B " + std::to_string(B.rows) +
                      " rows");
  const valid_csr valid_A("multiply", dev, A), valid_B("multiply", dev, B);
  return detail::multiply_trusted(dev, A, B);
}

#define VOUCH_INSTANTIATE(T)                                                                     \
  template csr<T> detail::multiply_trusted(const device&, csr_view<const T>, csr_view<const T>); \
  template csr<T> multiply(const device&, csr_view<const T>, csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
