#include <vouch/sparse/product.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
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

// Sums by column. Where there is a place for every column they are found there, else by hashing: open addresses, at
// most half of them in use.
class row_sums {
 public:
  // With places for so many columns; 0: hashed.
  explicit row_sums(std::int64_t places) : is_hashed_(places == 0) {
    keys_.assign(static_cast<std::size_t>(places), nobody);
    sums_.resize(keys_.size());
  }

  // Ready for a row with up to so many columns.
  void begin(std::int64_t columns) {
    if (!is_hashed_) return;
    const auto size = std::bit_ceil(static_cast<std::uint64_t>(2 * columns + 1));
    if (size > keys_.size()) {
      keys_.assign(size, nobody);
      sums_.resize(size);
    }
    mask_ = size - 1;
  }

  // The sum of a column, zero where it is new.
  double& of(std::int32_t col) {
    auto at = static_cast<std::uint64_t>(col);
    if (is_hashed_) {
      at = (at * 0x9e3779b97f4a7c15u >> 32) & mask_;
      while (keys_[at] != col && keys_[at] != nobody) at = (at + 1) & mask_;
    }
    if (keys_[at] == nobody) {
      keys_[at] = col;
      sums_[at] = 0;
      used_.push_back(static_cast<std::uint64_t>(col) << 32 | at);
    }
    return sums_[at];
  }

  std::int64_t columns() const { return static_cast<std::int64_t>(used_.size()); }

  // The row by ascending column.
  template <class T>
  void write(std::int32_t* col, T* val) {
    std::sort(used_.begin(), used_.end());
    for (std::size_t k = 0; k < used_.size(); ++k) {
      col[k] = static_cast<std::int32_t>(used_[k] >> 32);
      val[k] = static_cast<T>(sums_[used_[k] & 0xffffffffu]);
    }
  }

  // Leaves the table empty.
  void end() {
    for (const std::uint64_t entry : used_) keys_[entry & 0xffffffffu] = nobody;
    used_.clear();
  }

 private:
  static constexpr std::int32_t nobody = -1;
  bool is_hashed_;
  std::vector<std::int32_t> keys_;
  std::vector<double> sums_;
  std::vector<std::uint64_t> used_;  // column, place
  std::uint64_t mask_ = 0;
};

// visit(column, a, b) for the products of row i in their order.
template <class T, class Visit>
void for_products(csr_view<const T> A, csr_view<const T> B, std::int64_t i, const Visit& visit) {
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    for (std::int64_t e = B.row_ptr[A.col[k]]; e < B.row_ptr[A.col[k] + 1]; ++e)
      visit(B.col[e], A.val[k], B.val[e]);
}

template <class T>
std::int64_t most_columns(csr_view<const T> A, csr_view<const T> B, std::int64_t i) {
  std::int64_t products = 0;
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    products += B.row_ptr[A.col[k] + 1] - B.row_ptr[A.col[k]];
  return std::min(products, B.cols);
}

// work(sums, i) for every row of A times B, each thread with sums of its own. All columns have places where these take
// no more than the matrices do.
template <class T, class Work>
void for_rows(const device& dev, csr_view<const T> A, csr_view<const T> B, const Work& work) {
  const int threads = loop_threads(dev, A.nonzeros);
  const std::int64_t rows = A.rows, places = B.cols <= (A.nonzeros + B.nonzeros) / threads ? B.cols : 0;
  const cancellation_probe stop;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
#pragma omp parallel firstprivate(ieee) num_threads(threads)
  {
    std::optional<row_sums> sums;
#pragma omp for schedule(dynamic, 1024)
    for (std::int64_t i = 0; i < rows; ++i) {
      if (stop.requested() || failed.load(std::memory_order_relaxed)) continue;
      try {
        if (!sums) sums.emplace(places);
        work(*sums, i);
      } catch (...) {  // no memory
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  stop.check();
}

// Counts the columns of every row, then sums: what is made needs no other place meanwhile.
template <real T>
csr<T> multiply_cpu(const device& dev, csr_view<const T> A, csr_view<const T> B) {
  csr<T> C{A.rows, B.cols, array<std::int64_t>(dev, A.rows + 1), {}, {}};
  C.row_ptr[0] = 0;
  for_rows(dev, A, B, [&](row_sums& sums, std::int64_t i) {
    sums.begin(most_columns(A, B, i));
    for_products(A, B, i, [&](std::int32_t col, T, T) { sums.of(col); });
    C.row_ptr[i + 1] = sums.columns();
    sums.end();
  });
  std::partial_sum(C.row_ptr.begin(), C.row_ptr.end(), C.row_ptr.begin());
  C.col = array<std::int32_t>(dev, C.row_ptr[A.rows]);
  C.val = array<T>(dev, C.row_ptr[A.rows]);
  for_rows(dev, A, B, [&](row_sums& sums, std::int64_t i) {
    sums.begin(C.row_ptr[i + 1] - C.row_ptr[i]);
    for_products(A, B, i, [&](std::int32_t col, T a, T b) {
      double& sum = sums.of(col);
      sum = detail::plus_product(sum, a, b);
    });
    sums.write(C.col.data() + C.row_ptr[i], C.val.data() + C.row_ptr[i]);
    sums.end();
  });
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
  template VOUCH_PUBLIC csr<T> multiply(const device&, csr_view<const T>, csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
