#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/gmres.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/inner_solver.hpp>

namespace vouch {
namespace {

// min || beta e_1 - H y ||, H of Hessenberg form, one column after another; S is double or a complex number.
template <class S>
class least_squares {
 public:
  least_squares(int columns, double beta) : rows_(static_cast<std::size_t>(columns) + 1), g_{beta} {}

  // h has one element more than there are columns with it. The norm of the residual.
  double add(std::vector<S> h) {
    const std::size_t j = columns_.size();
    for (std::size_t k = 0; k < j; ++k) rotations_[k].apply(h[k], h[k + 1]);
    const double size = std::hypot(std::abs(h[j]), std::abs(h[j + 1]));
    rotations_.push_back(size > 0 ? rotation{h[j] / size, h[j + 1] / size} : rotation{1, 0});
    h[j] = size;
    h.resize(rows_);
    columns_.push_back(std::move(h));
    g_.push_back(0);
    rotations_[j].apply(g_[j], g_[j + 1]);
    return std::abs(g_[j + 1]);
  }

  // y. Columns from the first on that depends on those before it, up to rounding, take no part.
  std::vector<S> solution() const {
    std::size_t used = 0;
    double largest = 0;
    for (; used < columns_.size(); ++used) {
      const double size = std::abs(columns_[used][used]);
      largest = std::max(largest, size);
      if (!(size > std::numeric_limits<double>::epsilon() * largest)) break;
    }
    std::vector<S> y(columns_.size());
    for (std::size_t i = used; i-- > 0;) {
      S sum = g_[i];
      for (std::size_t k = i + 1; k < used; ++k) sum -= columns_[k][i] * y[k];
      y[i] = sum / columns_[i][i];
    }
    return y;
  }

 private:
  struct rotation {
    S c, s;
    void apply(S& a, S& b) const {
      const S above = conjugate(c) * a + conjugate(s) * b;
      b = c * b - s * a;
      a = above;
    }
  };

  std::size_t rows_;
  std::vector<std::vector<S>> columns_;  // of R
  std::vector<rotation> rotations_;
  std::vector<S> g_;
};

// S is double, or a complex number where A is linear for numbers by their parts, and so is M, unless its images are kept.
template <real T, class S>
class gmres_engine final : public inner_solver<T> {
 public:
  gmres_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M,
               const gmres_options& options, bool flexible)
      : dev_(dev),
        A_(A),
        M_(M),
        n_(A.rows()),
        longest_(static_cast<int>(
            std::min(std::int64_t{std::max(options.restart, options.longest_restart)}, n_ / vectors::parts))),
        keeps_images_(flexible && M != nullptr),
        q_(dev, n_),
        over_(dev, n_, 0) {
    make_bases(static_cast<int>(std::min<std::int64_t>(options.restart, n_ / vectors::parts)));
  }

  std::string name() const override {
    return (vectors::is_complex ? "complex numbers, restarted after " : "restarted after ") +
           std::to_string(most_) + " iterations";
  }

  inner_outcome run(T* r_data, T* d_data, const stopping_rule& rule, iteration_log& log) override {
    const view<T> r(r_data, n_), d(d_data, n_);
    zero_bytes(dev_, d_data, static_cast<std::size_t>(n_) * sizeof(T));
    std::int64_t iteration = 0;
    log.resume([&](solver_state& state) { keep(state, iteration); });
    double norm = nrm2<T>(dev_, r);
    for (;;) {
      solver_event event = judge(norm, iteration, rule);
      if (!log.note(iteration, norm, d_data) && event == solver_event::running)
        event = solver_event::interrupted;
      if (event == solver_event::interrupted && log.keeps()) save(log, iteration);
      if (event != solver_event::running) return {event, iteration, norm * norm};
      if (norm * norm < exhausted_squared) return {solver_event::iteration_limit, iteration, norm * norm};
      if (log.save_due()) save(log, iteration);
      const double before = norm;
      const solver_event ended = cycle(r, d, norm, rule, iteration, log);
      norm = nrm2<T>(dev_, r);
      if (ended != solver_event::running) return {ended, iteration, norm * norm};
      if (judge(norm, iteration, rule) != solver_event::running) continue;
      constexpr double little = 0.9, nothing = 0.999;
      if (!(norm < little * before) && lengthen()) continue;
      // Nothing gained, nor will be from here; the loop around this one sees whether the true residual differs.
      if (!(norm < nothing * before)) return {solver_event::running, iteration, norm * norm};
    }
  }

  bool saves() const override { return true; }

 private:
  using vectors = scalar_vectors<T, S>;

  // Of a run as it is between restarts.
  void keep(solver_state& state, std::int64_t& iteration) {
    int most = most_;
    state.integer("iterations of this run", iteration);
    state.integer("cycle", most, longest_, 1);
    state.integer("longest cycle", longest_, longest_, most);
    if (most_ != most) make_bases(most);
  }
  void save(iteration_log& log, std::int64_t iteration) {
    log.save(iteration, [&](solver_state& state) { keep(state, iteration); });
  }

  // One restart: d += M V y, r -= A M V y, M applied to each vector of V as it was then. Ends early
  // where the recurrence says that all is done.
  solver_event cycle(view<T> r, view<T> d, double norm, const stopping_rule& rule, std::int64_t& iteration,
                     iteration_log& log) {
    least_squares<S> problem(most_, norm);
    copy<T, T>(dev_, r, column(0));
    scal<T>(dev_, static_cast<T>(1 / norm), column(0));
    bool wanted = true;
    int used = 0;
    const std::int64_t first = iteration;
    while (wanted && used < most_) {
      const view<T> next = column(used + 1);
      A_.apply(dev_, precondition(column(used), used), next);
      const double length = nrm2<T>(dev_, next);
      std::vector<S> h = orthogonalise(used + 1);
      const double left = nrm2<T>(dev_, next);
      h.push_back(left);
      ++used;
      const double residual = problem.add(std::move(h));
      ++iteration;
      // What is left may be rounding alone: the space is invariant.
      const bool grows = left > std::numeric_limits<T>::epsilon() * length && std::isfinite(left);
      if (grows) scal<T>(dev_, static_cast<T>(1 / left), next);
      const bool goes_on = judge(residual, iteration, rule) == solver_event::running && grows;
      if (goes_on && used < most_) wanted = log.note(iteration, residual);
      if (!goes_on) break;
    }
    // What a shorter cycle ends in is on no way of a longer one: r and d are still those before it.
    if (!wanted && log.keeps()) save(log, first);
    combine(problem.solution());
    const view<const T> step = keeps_images_ ? q_.all() : precondition(q_, 0);
    axpy<T, T>(dev_, T{1}, step, d);
    copy<T, T>(dev_, step, column(0));  // the basis is done with
    A_.apply(dev_, column(0), q_);
    axpy<T, T>(dev_, T{-1}, q_, r);
    return wanted ? solver_event::running : solver_event::interrupted;
  }

  // q := V y, or M V y.
  void combine(const std::vector<S>& y) {
    over_.set_weights(y.data(), std::ssize(y));
    over_.combine(part(keeps_images_ ? images_ : basis_, static_cast<int>(y.size())), 1, 0, q_);
  }

  // For cycles of so many iterations.
  void make_bases(int most) {
    matrix<T> basis(dev_, n_, most + 1), images(dev_, n_, M_ == nullptr ? 0 : keeps_images_ ? most : 1);
    vectors over(dev_, n_, most);
    basis_ = std::move(basis);
    images_ = std::move(images);
    over_ = std::move(over);
    most_ = most;
  }

  // Twice as long cycles; false where they are not allowed, or there is no memory for them.
  bool lengthen() {
    if (most_ == longest_) return false;
    try {
      make_bases(std::min(2 * most_, longest_));
    } catch (const out_of_memory&) {
      longest_ = most_;
      return false;
    }
    return true;
  }

  // Takes what the first `used` vectors have of the next one out of it, twice.
  std::vector<S> orthogonalise(int used) {
    std::vector<S> h(static_cast<std::size_t>(used));
    for (int pass = 0; pass < 2; ++pass) over_.take_out(part(basis_, used), column(used), h.data());
    return h;
  }

  // M v, where v is the j-th vector of the basis: kept where M may change.
  view<const T> precondition(view<const T> v, int j) {
    if (M_ == nullptr) return v;
    const view<T> image(images_.data() + (keeps_images_ ? j * n_ : 0), n_);
    M_->apply(dev_, v, image);
    return image;
  }

  view<T> column(int j) { return {basis_.data() + j * n_, n_}; }
  matrix_view<const T> part(const matrix<T>& of, int columns) const {
    return {of.data(), n_, columns, std::max<std::int64_t>(1, n_)};
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int longest_;
  int most_ = 0;
  bool keeps_images_;
  matrix<T> basis_, images_;  // images: M times the basis, or times its last vector
  array<T> q_;
  vectors over_;
};

template <real T>
engine_maker<T> maker(const device& dev, const gmres_options& options, bool flexible) {
  if (options.restart < 1)
    throw value_error("GMRES begins anew after at least 1 iteration, not " + std::to_string(options.restart));
  return by_scalars<T>(
      [&dev, options, flexible]<class S>(const linear_operator<T>& A, const preconditioner<T>* M, S) {
        return std::make_unique<gmres_engine<T, S>>(dev, A, M, options, flexible);
      });
}

constexpr krylov_method plain{
    .name = "gmres", .title = "GMRES", .complex = complex_scalars::with_linear_preconditioners};
constexpr krylov_method flexible{.name = "fgmres", .title = "FGMRES", .complex = complex_scalars::always};

}  // namespace

template <real T>
solve_report gmres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                   const gmres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(plain, dev, A, b, x, options, M, maker<T>(dev, options, false));
}

template <real T>
solve_report gmres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                   const gmres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(plain, dev, A, b, x, options, M, maker<T>(dev, options, false));
}

template <real T>
solve_report fgmres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const gmres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(flexible, dev, A, b, x, options, M, maker<T>(dev, options, true));
}

template <real T>
solve_report fgmres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                    const gmres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  return solve_by_krylov<T>(flexible, dev, A, b, x, options, M, maker<T>(dev, options, true));
}

#define VOUCH_GMRES(T, name)                                                                                \
  template VOUCH_PUBLIC solve_report name(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                          const gmres_options&, const preconditioner<T>*);                  \
  template VOUCH_PUBLIC solve_report name(const device&, const linear_operator<T>&, view<const T>, view<T>, \
                                          const gmres_options&, const preconditioner<T>*);
VOUCH_GMRES(float, gmres)
VOUCH_GMRES(double, gmres)
VOUCH_GMRES(float, fgmres)
VOUCH_GMRES(double, fgmres)
#undef VOUCH_GMRES

}  // namespace vouch
