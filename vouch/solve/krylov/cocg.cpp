#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/cocg.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/krylov/tried_preconditioner.hpp>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// As near to it as T has it and its inverse.
template <real T>
T power_of_two(int exponent) {
  constexpr int most = sizeof(T) == 4 ? 120 : 1000;
  return std::ldexp(T{1}, std::clamp(exponent, -most, most));
}

template <real T>
class cocg_engine final : public inner_solver<T> {
 public:
  cocg_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        p_(dev, n_),
        q_(dev, n_),
        z_(dev, M == nullptr ? 0 : n_),
        over_(dev, n_),
        best_(dev, n_) {}

  std::string name() const override { return "complex numbers"; }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(n_) * sizeof(T));
    power_ = 1;
    complex_product of_r = precondition(r);
    double start = std::sqrt(of_r.first);
    krylov_run iterations(rule, log, n_, start, d);
    best_.begin(iterations);
    const auto state = [&](solver_state& s) { keep(s, of_r, start); };
    if (!iterations.resumes(state) && iterations.goes_on()) copy<T, T>(dev_, z(r), p_);
    while (iterations.goes_on_from(state)) {
      complex_product of_p = multiply_direction();
      if (iterations.count() == 0 && balance(of_p)) {
        of_r = precondition(r);
        copy<T, T>(dev_, z(r), p_);
        of_p = multiply_direction();
      }
      if (vanishes(of_r) || vanishes(of_p)) {
        iterations.end(iterations.norm() <= 0.5 * start ? solver_event::running : solver_event::breakdown);
        break;
      }
      const std::complex<double> along = of_r.product / of_p.product, before = of_r.product;
      of_r = reduce(r, along);
      recipe moved;
      moved.make(d).add(1, d).add(along, p_);
      moved.make(p_).add(1, z(r)).add(of_r.product / before, p_);
      over_.make(moved);
      iterations.step(std::sqrt(of_r.first));
      best_.offer(iterations, {d, n_});
    }
    best_.choose(iterations, {d, n_});
    return iterations.outcome();
  }
  bool saves() const override { return true; }

 private:
  using recipe = vector_recipe<T, std::complex<double>>;

  void keep(solver_state& state, complex_product& of_r, double& start) {
    state.vector("direction of COCG", dev_, p_.data(), n_);
    best_.keep(state);
    double numbers[] = {of_r.product.real(), of_r.product.imag(), of_r.first, of_r.second, start, power_};
    state.numbers("numbers of COCG", numbers, 6);
    of_r = {{numbers[0], numbers[1]}, numbers[2], numbers[3]};
    start = numbers[4];
    power_ = static_cast<T>(numbers[5]);
  }
  // q := A p, and p^T q.
  complex_product multiply_direction() {
    const auto sums =
        over_.apply(A_, {.x = p_.data(), .y = q_.data(), .u = p_.data(), .v = p_.data(), .transposed = true});
    return {sums.uy, sums.vv, sums.yy};
  }
  // r := r - along q, and r^T z.
  complex_product reduce(T* r, std::complex<double> along) {
    recipe reduced;
    reduced.make(r).add(1, r).add(-along, q_);
    if (M_ != nullptr || power_ != 1) {
      over_.make(reduced);
      return precondition(r);
    }
    const auto sums = over_.make_and_multiply(reduced.multiply_by_itself());
    return {sums.product[0], sums.square, sums.square};
  }
  // Where squares of p or q leave the range of T, power_ brings p as far above 1 as q = A p below it, or the other way
  // about: no iterate changes. False, and nothing done, elsewhere.
  bool balance(const complex_product& of_p) {
    constexpr double far = sizeof(T) == 4 ? 0x1p60 : 0x1p500;
    const auto is_moderate = [](double square) { return square >= 1 / far && square <= far; };
    if (is_moderate(of_p.first) && is_moderate(of_p.second)) return false;
    power_ = power_of_two<T>(-(exponent_of<T>(dev_, p_) + exponent_of<T>(dev_, q_)) / 2);
    return power_ != 1;
  }
  // z := M r times power_, and r^T z.
  complex_product precondition(const T* r) {
    if (M_ == nullptr && power_ != 1) copy<T, T>(dev_, {r, n_}, kept_z());
    if (M_ != nullptr) M_->apply(dev_, {r, n_}, z_);
    if (power_ != 1) scal<T>(dev_, power_, z_);
    return multiply_complex<T>(dev_, r, z(r).data(), n_);
  }
  array<T>& kept_z() {
    if (z_.size() < n_) z_ = array<T>(dev_, n_);
    return z_;
  }
  view<const T> z(const T* r) const { return M_ == nullptr && power_ == 1 ? view<const T>(r, n_) : z_.all(); }
  static bool vanishes(const complex_product& of) {
    return is_rounding<T>(std::abs(of.product), std::sqrt(of.first) * std::sqrt(of.second));
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  array<T> p_, q_, z_;
  T power_ = 1;
  scalar_vectors<T, std::complex<double>> over_;
  best_iterate<T> best_;
};

constexpr krylov_method method{.name = "cocg", .title = "COCG", .allowed_growth = 1e8};

// Of two hashed vectors: u^T M v and v^T M u differ by rounding, of hierarchies in single precision too. Either is about
// the product of the norms over the root of their length.
template <real T>
bool is_complex_symmetric(const device& dev, const preconditioner<T>& M, std::int64_t n) {
  array<T> u(dev, n), v(dev, n), image(dev, n);
  fill_hashed<T>(dev, own_stream + 1, u);
  fill_hashed<T>(dev, own_stream + 2, v);
  M.apply(dev, v, image);
  const T near_one = power_of_two<T>(-exponent_of<T>(dev, image));
  scal<T>(dev, near_one, image);
  const complex_product one = multiply_complex<T>(dev, u.data(), image.data(), n);
  M.apply(dev, u, image);
  scal<T>(dev, near_one, image);
  const complex_product other = multiply_complex<T>(dev, v.data(), image.data(), n);
  const double much = std::sqrt(std::numeric_limits<float>::epsilon() / static_cast<double>(n));
  return std::abs(one.product - other.product) <= much * std::sqrt(one.first) * std::sqrt(one.second);
}

}  // namespace

template <real T>
solve_report cocg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const cocg_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid(method.name, dev, A);
  if (!options.matrix_checked && A.rows == A.cols && A.nonzeros > 0) {
    const structure_facts facts = structure<T>(dev, A);
    if (!facts.complex_symmetric)
      throw value_error("COCG needs the real form of a complex symmetric matrix, and this is none");
  }
  check_preconditioner(M, A.rows);
  if (M != nullptr && A.rows > 0 && !(is_complex_linear(dev, *M, A.rows) && has(*M, trait::symmetric, [&] {
                                        return is_complex_symmetric(dev, *M, A.rows);
                                      })))
    throw value_error(
        "COCG: the preconditioner has to be complex symmetric as the matrix is, and " + M->name() + " is not",
        "--method gmres takes it");
  return solve_by_krylov<T>(method, dev, A, b, x, options, M,
                            [&dev](const linear_operator<T>& action, const preconditioner<T>* by, bool) {
                              return std::make_unique<cocg_engine<T>>(dev, action, by);
                            });
}

template VOUCH_PUBLIC solve_report cocg(const device&, csr_view<const float>, view<const float>, view<float>,
                                        const cocg_options&, const preconditioner<float>*);
template VOUCH_PUBLIC solve_report cocg(const device&, csr_view<const double>, view<const double>, view<double>,
                                        const cocg_options&, const preconditioner<double>*);

}  // namespace vouch
