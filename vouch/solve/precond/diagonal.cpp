#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/precond/complex_diagonal.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
std::int64_t invert_diagonal_cpu(const device& dev, csr_view<const T> A, T* out) {
  std::int64_t bad = A.rows;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static) \
    reduction(min                                                                                   \
              : bad)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const T d = diagonal_entry(A, i);
    const bool good = can_be_inverted(d);
    out[i] = good ? T(1) / d : d;
    if (!good) bad = std::min(bad, i);
  }
  return bad;
}

template <real T>
std::int64_t invert_diagonal(const device& dev, csr_view<const T> A, T* out) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      const auto none = static_cast<std::uint64_t>(A.rows);
      array<std::uint64_t> bad = array<std::uint64_t>::from(dev, {&none, 1});
      invert_diagonal_cuda(dev, A, out, bad.data());
      return static_cast<std::int64_t>(bad.to_vector().front());
    }
  return invert_diagonal_cpu(dev, A, out);
}

}  // namespace

void throw_bad_diagonal(const std::string& who, std::int64_t row, double entry) {
  std::ostringstream text;
  text << who << ": the diagonal entry of row " << row + 1 << " is " << entry;
  if (entry > 0 && std::isfinite(entry))
    throw value_error(text.str() + ", which is too small to divide by",
                      "multiply the system by a power of two");
  text << ", not a positive number";
  throw value_error(text.str(), "the matrix is not positive definite; rows count from 1");
}

void check_square(const std::string& who, std::int64_t rows, std::int64_t cols) {
  if (rows != cols)
    throw shape_error(who + ": the matrix is " + std::to_string(rows) + " by " + std::to_string(cols) +
                      ", not square");
}

template <real T>
array<T> inverse_diagonal(const device& dev, csr_view<const T> A, const std::string& who) {
  const valid_csr valid(who.c_str(), dev, A);
  check_square(who, A.rows, A.cols);
  array<T> inverse(dev, A.rows);
  const std::int64_t bad = invert_diagonal(dev, A, inverse.data());
  if (bad < A.rows) {
    T entry{};
    copy_bytes(&entry, device::cpu(1), inverse.data() + bad, dev, sizeof entry);
    throw_bad_diagonal(who, bad, static_cast<double>(entry));
  }
  return inverse;
}

template <real T>
void multiply_elements(const device& dev, const T* d, view<const T> r, view<T> z) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return multiply_elements_cuda(dev, d, r, z);
  const T* from = r.data();
  T* to = z.data();
#pragma omp parallel for simd firstprivate(ieee) num_threads(loop_threads(dev, r.size())) schedule(static)
  for (std::int64_t i = 0; i < r.size(); ++i) to[i] = d[i] * from[i];
}

template <real T>
diagonal_range range_of_inverse(const device& dev, const array<T>& inverse) {
  if (inverse.size() == 0) return {};
  const auto entry = [&](std::int64_t row) {
    T value;
    copy_bytes(&value, device::cpu(1), inverse.data() + row, dev, sizeof value);
    return 1 / static_cast<double>(value);
  };
  return {entry(iamax<T>(dev, inverse.all())), entry(iamin<T>(dev, inverse.all()))};
}

template <real T>
diagonal_range range_of_diagonal(const device& dev, csr_view<const T> A) {
  array<T> inverse(dev, A.rows);
  if (invert_diagonal(dev, A, inverse.data()) < A.rows) return {};
  return range_of_inverse(dev, inverse);
}

template diagonal_range range_of_inverse(const device&, const array<float>&);
template diagonal_range range_of_inverse(const device&, const array<double>&);
template diagonal_range range_of_diagonal(const device&, csr_view<const float>);
template diagonal_range range_of_diagonal(const device&, csr_view<const double>);
template array<float> inverse_diagonal(const device&, csr_view<const float>, const std::string&);
template array<double> inverse_diagonal(const device&, csr_view<const double>, const std::string&);
template void multiply_elements(const device&, const float*, view<const float>, view<float>);
template void multiply_elements(const device&, const double*, view<const double>, view<double>);

namespace {

template <real T>
class jacobi final : public preconditioner<T> {
 public:
  explicit jacobi(array<T> inverse) : inverse_(std::move(inverse)) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    multiply_elements(dev, inverse_.data(), r, z);
  }
  std::string name() const override { return "jacobi"; }
  std::int64_t rows() const override { return inverse_.size(); }
  const T* diagonal() const override { return inverse_.data(); }

 private:
  array<T> inverse_;
};

}  // namespace

template <real T>
std::unique_ptr<preconditioner<T>> make_jacobi(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  const valid_csr valid("jacobi", dev, A);
  if (auto complex = complex_jacobi(dev, A)) return complex;
  return std::make_unique<jacobi<T>>(inverse_diagonal(dev, A, "jacobi"));
}

template VOUCH_PUBLIC std::unique_ptr<preconditioner<float>> make_jacobi(const device&, csr_view<const float>);
template VOUCH_PUBLIC std::unique_ptr<preconditioner<double>> make_jacobi(const device&,
                                                                          csr_view<const double>);

}  // namespace vouch
