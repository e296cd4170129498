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
#include <vouch/solve/loop/complex_vectors.hpp>
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
    before_last_ = g_.back();
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

  // The same with h in place of the last column.
  double replace(std::vector<S> h) {
    columns_.pop_back();
    rotations_.pop_back();
    g_.pop_back();
    g_.back() = before_last_;
    return add(std::move(h));
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
  S before_last_{};  // the last but one of g_ without the last column
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
        over_(dev, n_) {
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
  using recipe = vector_recipe<T, S>;

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
    hessenberg_.clear();
    recipe start;
    over_.make(start.make(basis_[0]).add(1 / norm, r));
    bool wanted = true;
    int used = 0;
    const std::int64_t first = iteration;
    while (wanted && used < most_) {
      A_.apply(dev_, precondition(basis_[used], used), basis_[used + 1]);
      const bool grows = extend(used, problem);
      const double residual = problem.add(hessenberg_.back());
      ++used;
      ++iteration;
      const bool goes_on = judge(residual, iteration, rule) == solver_event::running && grows;
      if (!goes_on) break;
      if (used < most_) wanted = log.note(iteration, residual);
      if (used < most_ && wanted && !settled_) settle(used - 1, 1 / left_);
    }
    // What a shorter cycle ends in is on no way of a longer one: r and d are still those before it.
    if (!wanted && log.keeps()) save(log, first);
    combine(problem.solution());
    const view<const T> step = keeps_images_ ? q_.all() : precondition(q_, 0);
    recipe moved;
    over_.make(moved.make(d).add(1, d).add(1, step));
    A_.apply(dev_, step, basis_[0]);  // the basis is done with
    recipe reduced;
    over_.make(reduced.make(r).add(1, r).add(-1, basis_[0]));
    return wanted ? solver_event::running : solver_event::interrupted;
  }

  // Takes what vectors 0 to j of the basis have of the next one, w = A M v_j, out of it, and a second time one step later,
  // together with what w's own successor has: vector j is still as the first time left it, u_j near norm 1. All inner
  // products of both come from one pass. Column j of H goes behind the others, and the one before it gets what the
  // second time found. False: there is nothing but rounding left of w.
  bool extend(int j, least_squares<S>& problem) {
    const auto size = static_cast<std::size_t>(j);
    std::vector<const T*> columns;
    for (int i = 0; i <= j + 1; ++i) columns.push_back(basis_.at(i));
    std::vector<S> products(2 * columns.size());
    over_.products(columns, {basis_.at(j), basis_.at(j + 1)}, products.data());
    along_u_.assign(size, 0);
    along_w_.assign(size + 1, 0);
    double square_of_u = std::real(products[2 * size]), square_of_w = std::real(products[2 * size + 3]);
    const double length = std::sqrt(square_of_w);
    S product = products[2 * size + 1];
    for (std::size_t i = 0; i < size; ++i) {
      along_u_[i] = products[2 * i];
      along_w_[i] = products[2 * i + 1];
      square_of_u -= std::norm(along_u_[i]);
      product -= conjugate(along_u_[i]) * along_w_[i];
    }
    size_of_u_ = std::sqrt(square_of_u);
    settled_ = false;
    along_w_[size] = product / size_of_u_;
    if (j > 0) {
      std::vector<S>& before = hessenberg_.back();
      for (std::size_t i = 0; i < size; ++i) before[i] += before[size] * along_u_[i];
      before[size] *= size_of_u_;
      problem.replace(before);
    }
    std::vector<S> h = along_w_;
    for (const S& part : along_w_) square_of_w -= std::norm(part);
    left_ = std::sqrt(square_of_w);
    bool grows = true;
    // Where little is left, Pythagoras has lost it.
    constexpr double unit = std::numeric_limits<T>::epsilon();
    if (!(left_ > std::sqrt(1000 * unit) * length) && std::isfinite(length)) {
      settle(j, 1);
      std::vector<S> again(size + 1);
      over_.products({columns.data(), size + 1}, {basis_.at(j + 1)}, again.data());
      recipe made;
      made.make(basis_[j + 1]).add(1, basis_[j + 1]);
      for (std::size_t i = 0; i <= size; ++i) {
        made.add(-again[i], columns[i]);
        h[i] += again[i];
      }
      left_ = std::sqrt(over_.make_and_multiply(made).square);
      grows = left_ > unit * length && std::isfinite(left_);
      if (grows) scal<T>(dev_, static_cast<T>(1 / left_), basis_[j + 1]);
    }
    h.push_back(left_);
    // A M v_j of A M u_j, where M is one map; else M u_j is what is kept.
    if (!keeps_images_) {
      for (std::size_t k = 0; k < size; ++k)
        for (std::size_t i = 0; i < hessenberg_[k].size(); ++i) h[i] -= hessenberg_[k][i] * along_u_[k];
      for (S& entry : h) entry /= size_of_u_;
    }
    hessenberg_.push_back(std::move(h));
    return grows;
  }

  // v_j := (u_j - V V* u_j) / its norm, and vector j + 1 := factor times what the basis leaves of w.
  void settle(int j, double factor) {
    const double inverse = 1 / size_of_u_;
    const auto size = static_cast<std::size_t>(j);
    const S along = along_w_[size] * inverse;
    recipe settled;
    settled.make(basis_[j]).add(inverse, basis_[j]);
    for (std::size_t i = 0; i < size; ++i) settled.add(-along_u_[i] * inverse, columns_of(basis_, i));
    settled.make(basis_[j + 1]).add(factor, basis_[j + 1]).add(-along * factor, basis_[j]);
    for (std::size_t i = 0; i < size; ++i)
      settled.add((along * along_u_[i] - along_w_[i]) * factor, columns_of(basis_, i));
    over_.make(settled);
    settled_ = true;
  }

  // q := V y, or M V y; the last vector of V may be u_j.
  void combine(std::vector<S> y) {
    vector_set<T>& from = keeps_images_ ? images_ : basis_;
    if (!keeps_images_ && !settled_) {
      y.back() /= size_of_u_;
      for (std::size_t i = 0; i + 1 < y.size(); ++i) y[i] -= along_u_[i] * y.back();
    }
    recipe combined;
    combined.make(q_);
    for (std::size_t i = 0; i < y.size(); ++i) combined.add(y[i], columns_of(from, i));
    over_.make(combined);
  }

  // For cycles of so many iterations.
  void make_bases(int most) {
    vector_set<T> basis(dev_, n_, most + 1), images(dev_, n_, M_ == nullptr ? 0 : keeps_images_ ? most : 1);
    basis_ = std::move(basis);
    images_ = std::move(images);
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

  // M v, where v is the j-th vector of the basis: kept where M may change.
  view<const T> precondition(view<const T> v, int j) {
    if (M_ == nullptr) return v;
    const view<T> image = images_[keeps_images_ ? j : 0];
    M_->apply(dev_, v, image);
    return image;
  }

  static view<const T> columns_of(vector_set<T>& set, std::size_t j) {
    return set[static_cast<std::int64_t>(j)];
  }

  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  int longest_;
  int most_ = 0;
  bool keeps_images_;
  vector_set<T> basis_, images_;  // images: M times the basis, or times its last vector
  array<T> q_;
  vectors over_;
  std::vector<std::vector<S>> hessenberg_;  // by columns, each of one element more than the one before
  // Of the last vector u of the basis and of w behind it: along those before u, and w along v as well; the norm of what
  // they leave of u, and of w. settled_: u has become v by now.
  std::vector<S> along_u_, along_w_;
  double size_of_u_ = 1, left_ = 1;
  bool settled_ = false;
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
