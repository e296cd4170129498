// vouch/solve/krylov/host_team.hpp -- who carries out the steps of a Krylov method: here the host, pass by pass; private.
#pragma once
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/product_pass.hpp>
#include <vouch/solve/krylov/scalar_vectors.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/vector_update.hpp>

// The steps of a method stand once, in NAME_steps.hpp, as a template over the team, whose vectors are pointers: on the host
// this one, in a kernel that solves a small system by itself chip_team (chip_team.cuh). They are functions of whoever
// compiles them, the host or the GPU.
#if defined(__CUDACC__)
#define VOUCH_TEAM __device__
#else
#define VOUCH_TEAM
#endif

namespace vouch {

/// Inner products of two vectors with themselves and each other.
struct pair_products {
  double uu, uv, vv;
};

/// Vectors of n elements on one device; scalars as those of scalar_vectors. M may be nullptr.
template <real T, class S>
class host_team {
 public:
  using vectors = scalar_vectors<T, S>;
  using recipe = vector_recipe<T, S>;

  host_team(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev), A_(A), M_(M), n_(A.rows()), over_(dev, n_) {}

  bool has_preconditioner() const { return M_ != nullptr; }
  /// z := M r
  void precondition(const T* r, T* z) { M_->apply(dev_, view<const T>(r, n_), view<T>(z, n_)); }

  /// Between this and what takes the recipe nothing else is asked of the team.
  recipe begin() const { return {}; }
  void make(const recipe& r) { over_.make(r); }
  recipe_sums<S> make_and_multiply(const recipe& r) { return over_.make_and_multiply(r); }
  void hash(std::uint64_t stream, T* v) { fill_hashed<T>(dev_, stream, view<T>(v, n_)); }

  operator_sums<S> apply(const product_pass<T>& pass) { return over_.apply(A_, pass); }
  void products(std::span<const T* const> columns, std::initializer_list<const T*> with, S* out) {
    over_.products(columns, with, out);
  }
  S product(const T* u, const T* v) { return over_.product(view<const T>(u, n_), view<const T>(v, n_)); }
  /// Vectors of a run's state; nullptr: one that this run has not.
  void keep(solver_state& state, const char* name, std::initializer_list<T*> all) {
    for (T* const v : all) state.vector(name, dev_, v, v != nullptr ? n_ : 0);
  }
  double norm(const T* v) { return static_cast<double>(nrm2<T>(dev_, view<const T>(v, n_))); }
  pair_products pair(const T* u, const T* v) {
    const T* const both[] = {u, v};
    S products[4];
    over_.products(both, {u, v}, products);
    return {std::real(products[0]), std::real(products[1]), std::real(products[3])};
  }

 private:
  device dev_;
  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  std::int64_t n_;
  vectors over_;
};

}  // namespace vouch
