#include <vouch/solve/direct/sparse_lu.hpp>

#include <memory>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/direct/factored_solve.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
class sparse_factors final : public factorisation<T> {
 public:
  explicit sparse_factors(const lu_factors<T>& factors) : factors_(factors) {}
  std::int64_t failed() const override { return factors_.failed; }
  bool orders_rows() const override { return true; }
  void solve(T* x) override { factors_.solve(x); }
  double inverse_norm() override { return factors_.inverse_norm; }
  std::string backend() const override { return "own"; }
  std::string name() const override {
    return "1 thread, " + std::to_string(factors_.entries()) + " entries in the factors";
  }

 private:
  const lu_factors<T>& factors_;
};

template <real T>
void check_request(const device& dev, csr_view<const T> A, std::int64_t b, std::int64_t x,
                   const stopping_criterion& goal) {
  if (dev.is_cuda())
    throw value_error("sparse factorisations run on the CPU", "take --device cpu, or device::cpu()");
  if (A.rows != A.cols) throw shape_error("sparse_lu: the matrix is not square");
  check_direct_request(A.rows, b, x, goal);
}

template <real T>
solve_report solve_with(const stopwatch& setup, const device& dev, csr_view<const T> A,
                        const lu_factors<T>& factors, view<const T> b, view<T> x,
                        const stopping_criterion& goal) {
  const auto residuals = [&](const T* hi, const T* lo, T* r) {
    return residual<T>(dev, A, b, {hi, A.rows}, lo, {r, A.rows});
  };
  return factored_solve<T>(
      {dev, A.rows, residuals}, "sparse-lu", setup,
      [&] { return std::make_unique<sparse_factors<T>>(factors); }, x, goal);
}

}  // namespace

template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, const lu_factors<T>& factors, view<const T> b,
                       view<T> x, const stopping_criterion& goal) {
  const ieee_environment here;
  const stopwatch setup;
  check_request(dev, A, b.size(), x.size(), goal);
  const valid_csr valid("sparse_lu", dev, A);
  if (factors.rows != A.rows) throw shape_error("sparse_lu: the factors are those of another matrix");
  return solve_with(setup, dev, A, factors, b, x, goal);
}

template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                       const stopping_criterion& goal) {
  const ieee_environment here;
  const stopwatch setup;
  check_request(dev, A, b.size(), x.size(), goal);
  const valid_csr valid("sparse_lu", dev, A);
  const lu_factors<T> factors = factorise<T>(dev, A);
  return solve_with(setup, dev, A, factors, b, x, goal);
}

#define VOUCH_INSTANTIATE(T)                                                                             \
  template VOUCH_PUBLIC solve_report sparse_lu(const device&, csr_view<const T>, const lu_factors<T>&,   \
                                               view<const T>, view<T>, const stopping_criterion&);       \
  template VOUCH_PUBLIC solve_report sparse_lu(const device&, csr_view<const T>, view<const T>, view<T>, \
                                               const stopping_criterion&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
