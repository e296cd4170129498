#include <vouch/solve/precond/complex_diagonal.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch {
namespace {

template <real T>
class diagonal_numbers final : public preconditioner<T> {
 public:
  explicit diagonal_numbers(array<T> inverse) : inverse_(std::move(inverse)) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    multiply_numbers<T>(dev, inverse_.data(), r.data(), z.data(), inverse_.size());
  }
  std::string name() const override { return "jacobi"; }
  std::int64_t rows() const override { return inverse_.size(); }

 private:
  array<T> inverse_;
};

// The first number without an inverse, or their number.
template <real T>
std::int64_t invert_numbers(const device& dev, csr_view<const T> A, T* out) {
  const std::int64_t numbers = A.rows / 2;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      const auto none = static_cast<std::uint64_t>(numbers);
      array<std::uint64_t> bad = array<std::uint64_t>::from(dev, {&none, 1});
      invert_numbers_cuda(dev, A, out, bad.data());
      return static_cast<std::int64_t>(bad.to_vector().front());
    }
  std::int64_t bad = numbers;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static) \
    reduction(min                                                                                   \
              : bad)
  for (std::int64_t i = 0; i < numbers; ++i)
    if (!invert_number(A, i, out)) bad = std::min(bad, i);
  return bad;
}

template <real T>
bool is_real(const device& dev, const array<T>& numbers) {
  const view<const T> imaginary(numbers.data() + 1, numbers.size() / 2, 2);
  T largest;
  copy_bytes(&largest, device::cpu(1), imaginary.data() + 2 * iamax<T>(dev, imaginary), dev, sizeof largest);
  return largest == 0;
}

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> complex_jacobi(const device& dev, csr_view<const T> A) {
  if (A.rows == 0 || A.rows != A.cols || !detail::holds_complex_numbers(dev, A)) return nullptr;
  array<T> inverse(dev, A.rows);
  const std::int64_t bad = invert_numbers<T>(dev, A, inverse.data());
  if (is_real<T>(dev, inverse)) return nullptr;
  if (bad < A.rows / 2) {
    T entry[2];
    copy_bytes(entry, device::cpu(1), inverse.data() + 2 * bad, dev, sizeof entry);
    throw value_error(string_printf("jacobi: the diagonal entry of row %lld is %g%+gi, and has no inverse",
                                    static_cast<long long>(bad + 1), static_cast<double>(entry[0]),
                                    static_cast<double>(entry[1])),
                      "rows count from 1");
  }
  return std::make_unique<diagonal_numbers<T>>(std::move(inverse));
}

template std::unique_ptr<preconditioner<float>> complex_jacobi(const device&, csr_view<const float>);
template std::unique_ptr<preconditioner<double>> complex_jacobi(const device&, csr_view<const double>);

}  // namespace vouch
