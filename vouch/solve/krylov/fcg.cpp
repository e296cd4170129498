#include <vouch/solve/krylov/fcg.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
class fcg_engine final : public inner_solver<T> {
 public:
  fcg_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M, int most)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        most_(static_cast<std::size_t>(most)),
        z_(dev, M == nullptr ? 0 : n_),
        over_(dev, n_) {}

  std::string name() const override { return std::to_string(most_) + " directions"; }

  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), d(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, r), d_data);
    kept_ = 0;
    deferred_step_ = 0;
    const auto state = [this](solver_state& s) { keep(s); };
    if (!iterations.resumes(state) && iterations.goes_on()) precondition(r, iterations);
    while (iterations.goes_on_from(state)) step(r, d, iterations);
    settle(d);
    return iterations.outcome();
  }
  bool saves() const override { return true; }

 private:
  struct direction {
    array<T> p, image;     // A p
    double curvature = 0;  // p' A p
  };

  using recipe = vector_recipe<T, double>;

  void keep(solver_state& state) {
    state.vector("preconditioned residual", dev_, z_.data(), z_.size());
    state.number("step that the solution waits for", deferred_step_);
    auto taken = static_cast<std::int64_t>(kept_);
    state.integer("directions taken", taken);
    kept_ = static_cast<std::size_t>(taken);
    const std::size_t known = std::min(kept_, most_);
    while (directions_.size() < known) add_direction();
    for (std::size_t k = 0; k < known; ++k) {
      state.vector("direction", dev_, directions_[k].p.data(), n_);
      state.vector("its image", dev_, directions_[k].image.data(), n_);
      state.number("its curvature", directions_[k].curvature);
    }
  }
  void add_direction() { directions_.push_back({array<T>(dev_, n_), array<T>(dev_, n_)}); }

  // One along z, made A-orthogonal to the directions that are kept; it takes the place of the oldest. The solution takes
  // the last step in the same pass.
  void step(view<T> r, view<T> d, krylov_run& iterations) {
    const view<const T> z = M_ == nullptr ? view<const T>(r) : z_.all();
    const std::size_t known = std::min(kept_, most_);
    std::vector<const T*> images;
    for (std::size_t k = kept_ - known; k < kept_; ++k) images.push_back(directions_[k % most_].image.data());
    std::vector<double> along(known);
    over_.products(images, {z.data()}, along.data());
    if (directions_.size() < most_ && kept_ == directions_.size()) add_direction();
    recipe combined;
    combined.make(directions_[kept_ % most_].p).add(1, z);
    for (std::size_t k = 0; k < known; ++k) {
      const direction& before = directions_[(kept_ - known + k) % most_];
      combined.add(-along[k] / before.curvature, before.p);
    }
    if (deferred_step_ != 0) combined.make(d).add(1, d).add(deferred_step_, directions_[(kept_ - 1) % most_].p);
    over_.make(combined);
    deferred_step_ = 0;
    direction& now = directions_[kept_++ % most_];
    const operator_sums<double> image =
        over_.apply(A_, {.x = now.p.data(), .y = now.image.data(), .u = now.p.data(), .v = r.data()});
    now.curvature = image.uy;
    if (!(now.curvature > 0))
      return iterations.end(now.curvature < 0    ? solver_event::negative_curvature
                            : now.curvature == 0 ? solver_event::zero_curvature
                                                 : solver_event::diverged);
    deferred_step_ = image.uv / now.curvature;
    recipe moved;
    const double square =
        over_.make_and_multiply(moved.make(r).add(1, r).add(-deferred_step_, now.image)).square;
    if (iterations.shows()) settle(d);
    iterations.step(std::sqrt(square));
    iterations.halved();
    if (iterations.goes_on()) precondition(r, iterations);
  }
  // The step of d that was deferred.
  void settle(view<T> d) {
    if (deferred_step_ == 0) return;
    recipe moved;
    over_.make(moved.make(d).add(1, d).add(deferred_step_, directions_[(kept_ - 1) % most_].p));
    deferred_step_ = 0;
  }

  // z_ := M r; ends the run where M shows that it is not positive definite.
  void precondition(view<const T> r, krylov_run& iterations) {
    if (M_ == nullptr) return;
    M_->apply(dev_, r, z_);
    const T* const both[] = {r.data(), z_.data()};
    double products[2];  // with z
    over_.products(both, {z_.data()}, products);
    const double norms = iterations.norm() * std::sqrt(products[1]);
    if (products[0] < 0 && !is_rounding<T>(products[0], norms))
      iterations.end(solver_event::indefinite_preconditioner);
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  std::size_t most_;
  array<T> z_;
  scalar_vectors<T, double> over_;
  std::vector<direction> directions_;  // a ring
  std::size_t kept_ = 0;               // in this run
  double deferred_step_ = 0;           // of the last direction to the solution
};

template <real T>
engine_maker<T> maker(const device& dev, const fcg_options& options) {
  if (options.directions < 1 || options.directions > 100)
    throw value_error("flexible conjugate gradients keep 1 to 100 directions, not " +
                      std::to_string(options.directions));
  return [&dev, most = options.directions](const linear_operator<T>& A, const preconditioner<T>* M, bool) {
    return std::make_unique<fcg_engine<T>>(dev, A, M, most);
  };
}

template <real T>
constexpr krylov_method method{
    .name = "fcg", .title = "flexible conjugate gradients", .allowed_growth = growth_of_gradients<T>};

}  // namespace

template <real T>
solve_report fcg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x, const fcg_options& options,
                 const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid("fcg", dev, A);
  if (!options.matrix_checked && A.rows == A.cols) check_spd(dev, A);
  return solve_by_krylov<T>(method<T>, dev, A, b, x, options, M, maker<T>(dev, options));
}

template <real T>
solve_report fcg(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                 const fcg_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(method<T>, dev, A, b, x, options, M, maker<T>(dev, options));
}

#define VOUCH_FCG(T)                                                                                       \
  template VOUCH_PUBLIC solve_report fcg(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                         const fcg_options&, const preconditioner<T>*);                    \
  template VOUCH_PUBLIC solve_report fcg(const device&, const linear_operator<T>&, view<const T>, view<T>, \
                                         const fcg_options&, const preconditioner<T>*);
VOUCH_FCG(float)
VOUCH_FCG(double)
#undef VOUCH_FCG

}  // namespace vouch
