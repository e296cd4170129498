#include <memory>
#include <string>
#include <type_traits>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/bicgstab_steps.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/resident_engines.hpp>

namespace vouch {
namespace {

constexpr int most = 8;  // of l

// S is double, or a complex number where A and M are linear for numbers by their parts.
template <real T, class S>
class bicgstab_engine final : public inner_solver<T> {
 public:
  bicgstab_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M, int l)
      : dev_(dev),
        n_(A.rows()),
        l_(l),
        team_(dev, A, M),
        residuals_(dev, n_, l + 1),
        directions_(dev, n_, l + 1),
        others_(dev, n_, M == nullptr ? 2 : 3) {}

  std::string name() const override {
    return (team::vectors::is_complex ? "complex numbers, l = " : "l = ") + std::to_string(l_);
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    T* const z = team_.has_preconditioner() ? others_.at(2) : nullptr;
    for (T* const zero : {d, z})
      if (zero != nullptr) zero_bytes(dev_, zero, static_cast<std::size_t>(n_) * sizeof(T));
    copy<T, T>(dev_, {r, n_}, residuals_[0]);
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, {r, n_}), z == nullptr ? d : z);
    bicgstab_steps<T, S, most, team> steps(
        team_, {residuals_.at(0), directions_.at(0), residuals_.stride(), others_.at(0), z, d, others_.at(1)},
        known_, l_);
    steps.run(iterations);
    known_ = steps.known();
    copy<T, T>(dev_, residuals_[0], {r, n_});
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  using team = host_team<T, S>;

  device dev_;
  std::int64_t n_;
  int l_;
  team team_;
  vector_set<T> residuals_, directions_, others_;
  bicgstab_facts known_;
};

// stored: where the matrix is; nullptr where it is given by its action.
template <real T>
engine_maker<T> maker(const device& dev, const bicgstab_options& options, const csr_view<const T>* stored) {
  if (options.l < 1 || options.l > most)
    throw value_error("BiCGStab(l): l is " + std::to_string(options.l) + ", not 1 to " + std::to_string(most));
  return by_scalars<T>([&dev, l = options.l, stored]<class S>(const linear_operator<T>& A,
                                                              const preconditioner<T>* M,
                                                              S) -> std::unique_ptr<inner_solver<T>> {
    if (std::is_same_v<S, double> && stored != nullptr)
      if (auto engine = try_resident<T>(
              dev, M, [&](const T* minv) { return bicgstab_resident_cuda<T>(dev, *stored, minv, l); }))
        return engine;
    return std::make_unique<bicgstab_engine<T, S>>(dev, A, M, l);
  });
}

krylov_method method(const bicgstab_options& options) {
  return {.name = "bicgstab",
          .title = "BiCGStab",
          .allowed_growth = 1e8,
          .powers = options.l,
          .complex = complex_scalars::with_linear_preconditioners};
}

}  // namespace

template <real T>
solve_report bicgstab(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                      const bicgstab_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const engine_maker<T> make = maker<T>(dev, options, &A);
  return solve_by_krylov<T>(method(options), dev, A, b, x, options, M, make);
}

template <real T>
solve_report bicgstab(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                      const bicgstab_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const engine_maker<T> make = maker<T>(dev, options, nullptr);
  return solve_by_krylov<T>(method(options), dev, A, b, x, options, M, make);
}

#define VOUCH_BICGSTAB(T)                                                                               \
  template VOUCH_PUBLIC solve_report bicgstab(const device&, csr_view<const T>, view<const T>, view<T>, \
                                              const bicgstab_options&, const preconditioner<T>*);       \
  template VOUCH_PUBLIC solve_report bicgstab(const device&, const linear_operator<T>&, view<const T>,  \
                                              view<T>, const bicgstab_options&, const preconditioner<T>*);
VOUCH_BICGSTAB(float)
VOUCH_BICGSTAB(double)
#undef VOUCH_BICGSTAB

}  // namespace vouch
