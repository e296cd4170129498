#include <vouch/solve/precond/amg/complex_amg.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/precond/complex_rows.hpp>
#include <vouch/solve/precond/triangular_pair.hpp>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch::multigrid {
namespace {

using complex = std::complex<double>;

template <real T>
std::vector<complex> directions_of_diagonal(csr_view<const T> A) {
  std::vector<complex> directions(static_cast<std::size_t>(A.rows / 2));
  for (std::int64_t i = 0; i < A.rows / 2; ++i) {
    const complex d(entry_at(A, 2 * i, 2 * i), entry_at(A, 2 * i + 1, 2 * i));
    directions[static_cast<std::size_t>(i)] = d == 0.0 ? 0.0 : d / std::abs(d);
  }
  return directions;
}

// The real matrix, on the CPU, whose diagonal is always stored.
template <real T>
csr<T> moduli_with_row_sums(const device& cpu, csr_view<const T> A) {
  const std::int64_t n = A.rows / 2;
  const std::vector<complex> direction = directions_of_diagonal(A);
  csr<T> B{n, n, array<std::int64_t>(cpu, n + 1), {}, {}};
  B.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t count = 1;
    for_numbers_of_row(A, i, [&](std::int64_t j, const complex&) { count += j != i; });
    B.row_ptr[i + 1] = B.row_ptr[i] + count;
  }
  B.col = array<std::int32_t>(cpu, B.row_ptr[n]);
  B.val = array<T>(cpu, B.row_ptr[n]);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, A.nonzeros)) schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t to = B.row_ptr[i], diagonal = -1;
    complex sum{};
    double others = 0, own = 0;
    const auto put = [&](std::int64_t j, double value) {
      B.col[to] = static_cast<std::int32_t>(j);
      B.val[to++] = static_cast<T>(value);
    };
    const auto put_diagonal_before = [&](std::int64_t j) {
      if (diagonal >= 0 || j < i) return;
      diagonal = to;
      put(i, 0);
    };
    for_numbers_of_row(A, i, [&](std::int64_t j, const complex& a) {
      sum += a;
      put_diagonal_before(j);
      if (j == i) {
        own = std::abs(a);
        return;
      }
      const complex mean = direction[static_cast<std::size_t>(i)] + direction[static_cast<std::size_t>(j)];
      const double value = (a * std::conj(mean)).real() > 0 ? std::abs(a) : -std::abs(a);
      others += value;
      put(j, value);
    });
    put_diagonal_before(n);
    B.val[diagonal] = static_cast<T>(std::max(own, std::abs(sum) - others));
  }
  return B;
}

template <real T>
csr<T> real_matrix_for(const device& dev, csr_view<const T> A) {
  const host_matrix<T> host(dev, A);
  csr<T> B = moduli_with_row_sums<T>(host.cpu(), host.all());
  return dev.is_cuda() ? copy<T>(dev, host.cpu(), B.all()) : std::move(B);
}

template <real T>
class for_both_parts final : public amg<T> {
 public:
  for_both_parts(const device& dev, csr_view<const T> A, const amg_options& options)
      : dev_(dev), part_(dev, A.rows / 2), image_(dev, A.rows / 2) {
    const csr<T> B = real_matrix_for<T>(dev, A);
    of_moduli_ = make_amg<T>(dev, B.all(), options);
  }

  std::string name() const override {
    const std::string name = of_moduli_->name();
    const std::size_t bracket = name.find('(');
    return name.substr(0, bracket + 1) + "moduli, " + name.substr(bracket + 1);
  }
  std::int64_t rows() const override { return 2 * of_moduli_->rows(); }
  const amg_hierarchy& hierarchy() const override { return of_moduli_->hierarchy(); }
  std::vector<std::int32_t> aggregates(std::int64_t level) const override {
    return of_moduli_->aggregates(level);
  }
  void refill(csr_view<const T> A) override {
    const ieee_environment here;
    if (A.rows != rows() || A.cols != rows() || !detail::holds_complex_numbers(dev_, A))
      throw shape_error("amg: the new matrix is not complex with as many rows as the one before");
    const valid_csr valid("amg", dev_, A);
    const csr<T> B = real_matrix_for<T>(dev_, A);
    of_moduli_->refill(B.all());
  }

  void apply(const device& dev, view<const T> r, view<T> z) const override {
    const ieee_environment here;
    this->require_lengths(r, z);
    const std::int64_t n = part_.size();
    for (const std::int64_t part : {0, 1}) {
      if (n == 0) return;
      copy<T, T>(dev, view<const T>(r.data() + part, n, 2), part_);
      of_moduli_->apply(dev, part_, image_);
      copy<T, T>(dev, image_, view<T>(z.data() + part, n, 2));
    }
  }

 private:
  device dev_;
  std::unique_ptr<amg<T>> of_moduli_;
  mutable array<T> part_, image_;
};

}  // namespace

template <real T>
bool is_complex_not_hermitian(const device& dev, csr_view<const T> A) {
  if (A.rows == 0 || A.rows != A.cols || !detail::holds_complex_numbers(dev, A)) return false;
  const host_matrix<T> host(dev, A);
  const csr_view<const T> B = host.all();
  bool hermitian = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(host.cpu(), A.nonzeros)) schedule(static) \
    reduction(&& : hermitian)
  for (std::int64_t i = 0; i < B.rows; i += 2)
    for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1] && hermitian; ++k)
      hermitian = B.val[k] == entry_at(B, B.col[k], i);
  return !hermitian;
}

template <real T>
bool has_aligned_numbers(const device& cpu, csr_view<const T> A) {
  const ieee_environment here;
  constexpr double cosine = 0.7, slightly = 1e-3;
  std::int64_t bad = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, A.nonzeros)) schedule(static) \
    reduction(+ : bad)
  for (std::int64_t i = 0; i < A.rows / 2; ++i) {
    complex sum{}, diagonal{};
    double others = 0;
    for_numbers_of_row(A, i, [&](std::int64_t j, const complex& a) {
      sum += a;
      if (j == i)
        diagonal = a;
      else
        others += std::abs(a);
    });
    const bool cancels = std::abs(diagonal) < cosine * others;
    const bool against = (sum * std::conj(diagonal)).real() < -slightly * std::norm(diagonal);
    bad += cancels || against ? 1 : 0;
  }
  return 20 * bad <= A.rows / 2;
}

template <real T>
std::unique_ptr<amg<T>> make_complex_amg(const device& dev, csr_view<const T> A, const amg_options& options) {
  return std::make_unique<for_both_parts<T>>(dev, A, options);
}

#define VOUCH_COMPLEX_AMG(T)                                                \
  template bool has_aligned_numbers(const device&, csr_view<const T>);      \
  template bool is_complex_not_hermitian(const device&, csr_view<const T>); \
  template std::unique_ptr<amg<T>> make_complex_amg(const device&, csr_view<const T>, const amg_options&);
VOUCH_COMPLEX_AMG(float)
VOUCH_COMPLEX_AMG(double)
#undef VOUCH_COMPLEX_AMG

}  // namespace vouch::multigrid
