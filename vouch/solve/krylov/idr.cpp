#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/idr.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>

namespace vouch {
namespace {

constexpr int most = 16;  // of s

// S is double, or a complex number where A and M are linear for numbers by their parts.
template <real T, class S>
class idr_engine final : public inner_solver<T> {
 public:
  idr_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M, int s)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        s_(static_cast<int>(std::min<std::int64_t>(s, n_ / vectors::parts))),
        shadows_(dev, n_, s_),
        images_(dev, n_, s_),
        steps_(dev, n_, s_),
        v_(dev, n_),
        t_(dev, n_),
        best_(dev, n_),
        over_(dev, n_, s_) {
    make_shadows();
  }

  std::string name() const override {
    return (vectors::is_complex ? "complex numbers, s = " : "s = ") + std::to_string(s_);
  }

  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), d(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, r), d_data);
    best_.begin(iterations);
    double broke_at = std::numeric_limits<double>::infinity();
    const auto state = [&](solver_state& s) { keep(s, broke_at); };
    if (!iterations.resumes(state)) begin();
    while (iterations.goes_on_from(state)) {
      if (!cycle(r, d, iterations)) {
        if (!(iterations.norm() <= 0.5 * broke_at)) {
          iterations.end(solver_event::breakdown);
          break;
        }
        broke_at = iterations.norm();
        make_shadows();
        begin();
      }
      best_.offer(iterations, d);
    }
    best_.choose(iterations, d);
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  using vectors = scalar_vectors<T, S>;
  using numbers = std::array<S, most>;

  void keep(solver_state& state, double& broke_at) {
    for (matrix<T>* const m : {&shadows_, &images_, &steps_})
      state.vector("vectors of IDR", dev_, m->data(), n_ * s_);
    best_.keep(state);
    for (numbers& row : products_)
      state.numbers("products of IDR", reinterpret_cast<double*>(row.data()), most * vectors::parts);
    S scalars[] = {omega_, broke_at};
    state.numbers("numbers of IDR", reinterpret_cast<double*>(scalars), 2 * vectors::parts);
    omega_ = scalars[0], broke_at = std::real(scalars[1]);
    state.seed("seed", seed_);
  }

  // Hashed columns, made orthonormal twice over.
  void make_shadows() {
    for (int k = 0; k < s_; ++k) {
      const view<T> p = column(shadows_, k);
      fill_hashed<T>(dev_, own_stream + ++seed_, p);
      for (int pass = 0; pass < 2; ++pass) {
        numbers along{};
        if (k > 0) over_.take_out(block(shadows_, 0, k), p, along.data());
        scal<T>(dev_, static_cast<T>(1 / static_cast<double>(nrm2<T>(dev_, p))), p);
      }
    }
  }

  void begin() {
    for (matrix<T>* const m : {&images_, &steps_})
      zero_bytes(dev_, m->data(), static_cast<std::size_t>(n_ * s_) * sizeof(T));
    for (int i = 0; i < s_; ++i)
      for (int j = 0; j < s_; ++j) products_[i][j] = i == j ? 1 : 0;
    omega_ = 1;
  }

  // s steps within the space of this dimension, and one into the next. False: there is nothing but rounding to divide
  // by; d and r belong together then as well.
  bool cycle(view<T> r, view<T> d, krylov_run& iterations) {
    numbers f = along_shadows(0, r);
    for (int k = 0; k < s_; ++k) {
      expand(k, f, r);
      for (int i = 0; i < k; ++i) {
        const S along = over_.product(column(shadows_, i), column(images_, k)) / products_[i][i];
        over_.add(-along, column(images_, i), column(images_, k));
        over_.add(-along, column(steps_, i), column(steps_, k));
      }
      const numbers of_image = along_shadows(k, column(images_, k));
      for (int i = k; i < s_; ++i) products_[i][k] = of_image[i];
      if (is_rounding<T>(std::abs(products_[k][k]), nrm2<T>(dev_, column(images_, k)))) return false;
      const S beta = f[k] / products_[k][k];
      over_.add(-beta, column(images_, k), r);
      over_.add(beta, column(steps_, k), d);
      iterations.step(nrm2<T>(dev_, r));
      if (!iterations.goes_on()) return true;
      for (int i = k + 1; i < s_; ++i) f[i] -= beta * products_[i][k];
    }
    precondition(r, t_);
    A_.apply(dev_, t_, v_);
    const double size = nrm2<T>(dev_, v_);
    const S product = over_.product(v_, r);
    if (!(size > 0)) return false;
    constexpr double least_cosine = 0.7;
    const S cosine = product / size / iterations.norm();
    omega_ = std::max(std::abs(cosine), least_cosine) * direction_of(cosine) * (iterations.norm() / size);
    over_.add(-omega_, v_, r);
    over_.add(omega_, t_, d);
    iterations.step(nrm2<T>(dev_, r));
    return true;
  }

  // A new step and its image, the residual's part along the shadows from the k-th on taken out.
  void expand(int k, const numbers& f, view<const T> r) {
    numbers c{};
    for (int i = k; i < s_; ++i) {
      S sum = f[i];
      for (int j = k; j < i; ++j) sum -= products_[i][j] * c[j];
      c[i] = sum / products_[i][i];
    }
    over_.set_weights(c.data() + k, s_ - k);
    copy<T, T>(dev_, r, v_);
    over_.combine(block(images_, k, s_ - k), -1, 1, v_);
    precondition(v_, t_);
    over_.combine(block(steps_, k, s_ - k), 1, omega_, t_);
    copy<T, T>(dev_, t_, column(steps_, k));
    A_.apply(dev_, t_, column(images_, k));
  }

  // Inner products with the shadows from the first-th on.
  numbers along_shadows(int first, view<const T> v) {
    numbers all{};
    over_.products(block(shadows_, first, s_ - first), v, all.data() + first);
    return all;
  }

  void precondition(view<const T> from, view<T> to) {
    if (M_ == nullptr)
      copy<T, T>(dev_, from, to);
    else
      M_->apply(dev_, from, to);
  }

  view<T> column(matrix<T>& m, std::int64_t j) { return {m.data() + j * n_, n_}; }
  matrix_view<const T> block(const matrix<T>& m, std::int64_t first, std::int64_t count) const {
    return {m.data() + first * n_, n_, count, std::max<std::int64_t>(1, n_)};
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int s_;
  matrix<T> shadows_, images_, steps_;  // P, G = A U, and U, whose columns are steps of x
  array<T> v_, t_;
  best_iterate<T> best_;
  vectors over_;
  std::array<numbers, most> products_{};  // P' G, lower triangular
  std::uint64_t seed_ = 0;
  S omega_ = 1;
};

template <real T>
engine_maker<T> maker(const device& dev, const idr_options& options) {
  if (options.s < 1 || options.s > most)
    throw value_error("IDR(s): s is " + std::to_string(options.s) + ", not 1 to " + std::to_string(most));
  return by_scalars<T>(
      [&dev, s = options.s]<class S>(const linear_operator<T>& A, const preconditioner<T>* M, S) {
        return std::make_unique<idr_engine<T, S>>(dev, A, M, s);
      });
}

constexpr krylov_method method{.name = "idr",
                               .title = "IDR(s)",
                               .allowed_growth = 1e8,
                               .complex = complex_scalars::with_linear_preconditioners};

}  // namespace

template <real T>
solve_report idr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x, const idr_options& options,
                 const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev, options));
}

template <real T>
solve_report idr(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                 const idr_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev, options));
}

#define VOUCH_IDR(T)                                                                                       \
  template VOUCH_PUBLIC solve_report idr(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                         const idr_options&, const preconditioner<T>*);                    \
  template VOUCH_PUBLIC solve_report idr(const device&, const linear_operator<T>&, view<const T>, view<T>, \
                                         const idr_options&, const preconditioner<T>*);
VOUCH_IDR(float)
VOUCH_IDR(double)
#undef VOUCH_IDR

}  // namespace vouch
