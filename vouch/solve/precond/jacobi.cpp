#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/solve/precond/scaling.hpp>

namespace vouch {
namespace {

template <real T>
class jacobi final : public preconditioner<T> {
 public:
  explicit jacobi(array<T> inverse) : inverse_(std::move(inverse)) {}
  void apply(const device& dev, view<const T> r, view<T> z) const override {
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
  return std::make_unique<jacobi<T>>(inverse_diagonal(dev, A, "jacobi"));
}

template std::unique_ptr<preconditioner<float>> make_jacobi(const device&, csr_view<const float>);
template std::unique_ptr<preconditioner<double>> make_jacobi(const device&, csr_view<const double>);

}  // namespace vouch
