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
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>

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
        over_(dev, n_) {
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
    if (!iterations.resumes(state)) begin(r);
    while (iterations.goes_on_from(state)) {
      if (!cycle(r, d, iterations)) {
        if (!(iterations.norm() <= 0.5 * broke_at)) {
          iterations.end(solver_event::breakdown);
          break;
        }
        broke_at = iterations.norm();
        make_shadows();
        begin(r);
      }
      best_.offer(iterations, d);
    }
    best_.choose(iterations, d);
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  using vectors = scalar_vectors<T, S>;
  using recipe = vector_recipe<T, S>;
  using numbers = std::array<S, most>;

  void keep(solver_state& state, double& broke_at) {
    for (vector_set<T>* const set : {&shadows_, &images_, &steps_})
      for (int k = 0; k < s_; ++k) state.vector("vector of IDR", dev_, set->at(k), n_);
    best_.keep(state);
    for (numbers& row : products_)
      state.numbers("products of IDR", reinterpret_cast<double*>(row.data()), most * vectors::parts);
    state.numbers("residual along the shadows", reinterpret_cast<double*>(of_residual_.data()),
                  most * vectors::parts);
    S scalars[] = {omega_, broke_at};
    state.numbers("numbers of IDR", reinterpret_cast<double*>(scalars), 2 * vectors::parts);
    omega_ = scalars[0], broke_at = std::real(scalars[1]);
    state.seed("seed", seed_);
  }

  // Hashed columns, made orthonormal twice over.
  void make_shadows() {
    for (int k = 0; k < s_; ++k) {
      const view<T> p = shadows_[k];
      fill_hashed<T>(dev_, own_stream + ++seed_, p);
      for (int pass = 0; pass < 2; ++pass) {
        numbers along{};
        along_shadows(0, k, p, along);
        recipe made;
        made.make(p).add(1, p);
        for (int i = 0; i < k; ++i) made.add(-along[i], shadows_[i]);
        const double size = std::sqrt(over_.make_and_multiply(made).square);
        scal<T>(dev_, static_cast<T>(1 / size), p);
      }
    }
  }

  void begin(view<const T> r) {
    for (vector_set<T>* const set : {&images_, &steps_})
      for (int k = 0; k < s_; ++k) zero_bytes(dev_, set->at(k), static_cast<std::size_t>(n_) * sizeof(T));
    for (int i = 0; i < s_; ++i)
      for (int j = 0; j < s_; ++j) products_[i][j] = i == j ? 1 : 0;
    omega_ = 1;
    along_shadows(0, s_, r, of_residual_);
  }

  // s steps within the space of this dimension, and one into the next. False: there is nothing but rounding to divide
  // by; d and r belong together then as well.
  bool cycle(view<T> r, view<T> d, krylov_run& iterations) {
    numbers& f = of_residual_;
    for (int k = 0; k < s_; ++k) {
      expand(k, f, r);
      const double size = make_biorthogonal(k);
      if (is_rounding<T>(std::abs(products_[k][k]), size)) return false;
      const S beta = f[k] / products_[k][k];
      recipe moved;
      moved.make(r).add(1, r).add(-beta, images_[k]).make(d).add(1, d).add(beta, steps_[k]);
      iterations.step(std::sqrt(over_.make_and_multiply(moved).square));
      if (!iterations.goes_on()) return true;
      for (int i = k + 1; i < s_; ++i) f[i] -= beta * products_[i][k];
    }
    if (M_ != nullptr) M_->apply(dev_, r, t_);
    const view<const T> direction = M_ != nullptr ? t_.all() : view<const T>(r);
    const operator_sums<S> image = over_.apply(A_, {.x = direction.data(), .y = v_.data(), .u = r.data()});
    const double size = std::sqrt(image.yy);
    const S product = conjugate(image.uy);
    if (!(size > 0)) return false;
    constexpr double least_cosine = 0.7;
    const S cosine = product / size / iterations.norm();
    omega_ = std::max(std::abs(cosine), least_cosine) * direction_of(cosine) * (iterations.norm() / size);
    recipe moved;
    moved.make(r).add(1, r).add(-omega_, v_).make(d).add(1, d).add(omega_, direction);
    iterations.step(std::sqrt(make_along_shadows(moved, 0, r, f)));
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
    // What M takes becomes omega times the new step, but for the former ones.
    recipe expanded;
    const S factor = M_ == nullptr ? omega_ : 1;
    expanded.make(M_ == nullptr ? steps_.at(k) : v_.data()).add(factor, r);
    for (int i = k; i < s_; ++i) expanded.add(-factor * c[i], images_[i]);
    const auto add_steps = [&](recipe& to) {
      for (int i = k; i < s_; ++i) to.add(c[i], steps_[i]);
    };
    if (M_ == nullptr) add_steps(expanded);
    over_.make(expanded);
    if (M_ != nullptr) {
      M_->apply(dev_, v_, t_);
      recipe preconditioned;
      add_steps(preconditioned.make(steps_[k]).add(omega_, t_));
      over_.make(preconditioned);
    }
    A_.apply(dev_, steps_[k], images_[k]);
  }

  // The parts of the k-th image along the first k shadows taken out of it, and of its step; what is left along the others
  // is in products_. The norm of the image.
  double make_biorthogonal(int k) {
    numbers along{};
    if (k == 0) {
      const double square = along_shadows(0, s_, images_[0], along);
      for (int i = 0; i < s_; ++i) products_[i][0] = along[i];
      return std::sqrt(square);
    }
    along_shadows(0, k, images_[k], along);
    recipe made;
    made.make(images_[k]).add(1, images_[k]);
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < i; ++j) along[i] -= products_[i][j] * along[j];
      along[i] /= products_[i][i];
      made.add(-along[i], images_[i]);
    }
    made.make(steps_[k]).add(1, steps_[k]);
    for (int i = 0; i < k; ++i) made.add(-along[i], steps_[i]);
    numbers left{};
    const double square = make_along_shadows(made, k, images_[k], left);
    for (int i = k; i < s_; ++i) products_[i][k] = left[i];
    return std::sqrt(square);
  }

  // Inner products of v with the shadows from the first-th on, and the square of its norm.
  double along_shadows(int first, int last, view<const T> v, numbers& all) {
    std::array<const T*, most + 1> with{};
    std::array<S, most + 1> products{};
    for (int i = first; i < last; ++i) with[i - first] = shadows_.at(i);
    with[last - first] = v.data();
    over_.products({with.data(), static_cast<std::size_t>(last - first + 1)}, {v.data()}, products.data());
    std::copy_n(products.begin(), last - first, all.begin() + first);
    return std::real(products[last - first]);
  }
  // The same of v, the first vector that the recipe makes, and all shadows from the first-th on.
  double make_along_shadows(recipe& made, int first, view<const T> v, numbers& all) {
    constexpr int most_probes = combination<T>::most_probes;
    const int probed = std::min(s_, first + most_probes);
    for (int i = first; i < probed; ++i) made.multiply(shadows_[i]);
    const recipe_sums<S> sums = over_.make_and_multiply(made);
    std::copy_n(sums.product.begin(), probed - first, all.begin() + first);
    if (probed < s_) along_shadows(probed, s_, v, all);
    return sums.square;
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int s_;
  vector_set<T> shadows_, images_, steps_;  // P, G = A U, and U, whose columns are steps of x
  array<T> v_, t_;
  best_iterate<T> best_;
  vectors over_;
  std::array<numbers, most> products_{};  // P' G, lower triangular
  numbers of_residual_{};                 // P' r
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
