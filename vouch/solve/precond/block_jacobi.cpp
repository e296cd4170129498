#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/block_jacobi.hpp>
#include <vouch/solve/precond/dense_block.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t usual_block = 3;
constexpr std::int64_t largest_natural_block = 8;

// same[i] == 1: row i has the pattern of row i - 1; same[0] is 0.
template <real T>
std::vector<std::uint8_t> compare_patterns(const device& dev, csr_view<const T> A) {
  array<std::uint8_t> same = array<std::uint8_t>::zeros(dev, A.rows);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      compare_patterns_cuda(dev, A, same.data());
      return same.to_vector();
    }
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static)
  for (std::int64_t i = 1; i < A.rows; ++i) same[i] = same_pattern_as_before(A, i);
  return same.to_vector();
}

// Of the whole groups of b rows, are nine in ten alike inside?
bool groups_are_alike(const std::vector<std::uint8_t>& same, std::size_t b) {
  const std::size_t groups = same.size() / b;
  std::size_t alike = 0;
  for (std::size_t g = 0; g < groups; ++g)
    alike += std::all_of(&same[g * b + 1], &same[g * b] + b, [](std::uint8_t s) { return s == 1; });
  return groups > 0 && 10 * alike >= 9 * groups;
}

template <real T>
std::int64_t invert_blocks_cpu(const device& dev, csr_view<const T> A, std::int64_t b, T* inverse) {
  const std::int64_t blocks = ceil_div(A.rows, b);
  std::int64_t bad = blocks;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static) \
    reduction(min                                                                                   \
              : bad)
  for (std::int64_t k = 0; k < blocks; ++k) {
    double work[largest_block * largest_block];
    if (!invert_block(A, static_cast<int>(b), k, work, 1, inverse)) bad = std::min(bad, k);
  }
  return bad;
}

// The number of the first block without an inverse, or the number of blocks.
template <real T>
std::int64_t invert_blocks(const device& dev, csr_view<const T> A, std::int64_t b, T* inverse) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      const auto none = static_cast<std::uint64_t>(ceil_div(A.rows, b));
      array<std::uint64_t> bad = array<std::uint64_t>::from(dev, {&none, 1});
      invert_blocks_cuda(dev, A, static_cast<int>(b), inverse, bad.data());
      return static_cast<std::int64_t>(bad.to_vector().front());
    }
  return invert_blocks_cpu(dev, A, b, inverse);
}

template <real T>
class block_jacobi final : public preconditioner<T> {
 public:
  block_jacobi(std::int64_t rows, std::int64_t b, array<T> inverse)
      : rows_(rows), b_(b), inverse_(std::move(inverse)) {}

  std::string name() const override {
    return "block-jacobi (" + std::to_string(b_) + " by " + std::to_string(b_) + ")";
  }

  std::int64_t rows() const override { return rows_; }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    if constexpr (built_with_cuda)
      if (dev.is_cuda())
        return apply_blocks_cuda(dev, static_cast<int>(b_), rows_, inverse_.data(), r.data(), z.data());
    const T* from = r.data();
    T* to = z.data();
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, rows_)) schedule(static)
    for (std::int64_t first = 0; first < rows_; first += b_) {
      const std::int64_t size = std::min(b_, rows_ - first);
      for (std::int64_t i = first; i < first + size; ++i) {
        T sum{};
        for (std::int64_t j = 0; j < size; ++j) sum += inverse_[j * rows_ + i] * from[first + j];
        to[i] = sum;
      }
    }
  }

 private:
  std::int64_t rows_, b_;
  array<T> inverse_;  // element (i, first + j) of the blocks' inverse at j * rows_ + i
};

}  // namespace

template <real T>
std::int64_t natural_block(const device& dev, csr_view<const T> A) {
  const valid_csr valid("natural_block", dev, A);
  const std::vector<std::uint8_t> same = compare_patterns(dev, A);
  for (std::int64_t b = largest_natural_block; b > 1; --b)
    if (groups_are_alike(same, static_cast<std::size_t>(b))) return b;
  return usual_block;
}

template <real T>
std::unique_ptr<preconditioner<T>> make_block_jacobi(const device& dev, csr_view<const T> A,
                                                     std::int64_t size) {
  const ieee_environment here;
  if (size < 0 || size > largest_block)
    throw value_error("block-jacobi: a block of " + std::to_string(size) + " rows",
                      "blocks have 1 to " + std::to_string(largest_block) + " rows");
  const valid_csr valid("block-jacobi", dev, A);
  inverse_diagonal(dev, A, "block-jacobi");
  const std::int64_t b = size > 0 ? size : natural_block(dev, A);
  array<T> inverse(dev, A.rows * b);
  const std::int64_t bad = invert_blocks(dev, A, b, inverse.data());
  if (bad < ceil_div(A.rows, b))
    throw value_error("block-jacobi: the block of rows " + std::to_string(bad * b + 1) + " to " +
                          std::to_string(std::min(A.rows, (bad + 1) * b)) + " is not positive definite",
                      "the matrix is not positive definite; rows count from 1");
  return std::make_unique<block_jacobi<T>>(A.rows, b, std::move(inverse));
}

template VOUCH_PUBLIC std::int64_t natural_block(const device&, csr_view<const float>);
template VOUCH_PUBLIC std::int64_t natural_block(const device&, csr_view<const double>);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_block_jacobi(const device&,
                                                                               csr_view<const float>,
                                                                               std::int64_t);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_block_jacobi(const device&,
                                                                                csr_view<const double>,
                                                                                std::int64_t);

}  // namespace vouch
