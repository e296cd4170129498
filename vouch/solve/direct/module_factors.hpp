// vouch/solve/direct/module_factors.hpp -- sparse matrices factorised by modules; private.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/solve/direct/backends/backend.h>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/direct/complex_form.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/fill.hpp>

namespace vouch {

/// Smaller matrices are factorised before a library has ordered them.
constexpr std::int64_t least_nonzeros_of_modules = std::int64_t{1} << 14;

/// The modules that make factors of a kind (VOUCH_FACTORS_...), the best first: all that `auto` may take, or the one
/// asked for. complex: of complex matrices.
///
/// Throws  value_error  there is no such back end, it is not installed or makes no such factors
std::vector<const vouch_backend*> backends_for(int kind, const std::string& asked, bool complex = false);

/// Whether there is a file of a module that `auto` takes for a kind of factors, opening none; or whether the one that was
/// asked for makes them.
bool is_backend_there(int kind, const std::string& asked = "auto");

/// What factors of a kind cost by the analysis of the first module that `auto` takes for it; nothing where there is
/// none, or it does not say.
std::optional<elimination_cost> predict_factors(int kind, csr_view<const double> A);

/// Why there is no module for a kind of factors, and which package has one; for errors.
std::string missing_backends(int kind);

/// What a module made of a matrix; serves any number of right-hand sides. The real form of a complex matrix is factorised
/// as complex numbers where the module has them.
class module_factors {
 public:
  /// Orders A, and factorises it. complex_symmetric: A, which is not symmetric, is the real form of a symmetric matrix, of
  /// which L D L^T is made; of a Hermitian one it is made of the real form.
  ///
  /// Memory  Those of the module; A is not needed afterwards.
  /// Throws  out_of_memory  the module ran out of it, or predicts that it would
  ///         value_error  NaN or infinity in A, or the module takes no such matrix
  module_factors(const vouch_backend& backend, int kind, csr_view<const double> A,
                 bool complex_symmetric = false);

  /// Factorises a matrix of the same pattern in the order that was found, unless one of the two is complex.
  ///
  /// Throws  as the constructor
  void factorise(csr_view<const double> A);

  /// 0, or the pivot (from 1) at which it ended.
  std::int64_t failed() const { return failed_; }
  bool needs_definite() const { return kind_ == VOUCH_FACTORS_CHOLESKY; }
  /// Of LDL^T and Cholesky, where the module says it.
  std::optional<inertia> signs() const;
  /// Likewise, of QR too.
  std::optional<std::int64_t> rank() const;

  /// Solves for columns one after another in b and x, then refines them, as sparse_lu() with own factors; `method`
  /// names them. Not on several threads at once.
  std::vector<solve_report> solve(const device& dev, const char* method, csr_view<const double> A,
                                  std::int64_t columns, view<const double> b, view<double> x,
                                  const stopping_criterion& goal);
  /// The same for QR of a matrix that is not square: the least ||b - Ax||_2, where A has more columns than rows the
  /// shortest x of those. The report's problem says which; a matrix without full rank that has more rows has other
  /// solutions, and a warning says so.
  std::vector<solve_report> solve_least_squares(const device& dev, csr_view<const double> A,
                                                std::int64_t columns, view<const double> b, view<double> x,
                                                const stopping_criterion& goal);

 private:
  class factors;
  class least_squares_engine;
  std::optional<number_matrix<double>> complex_form(csr_view<const double> A) const;
  void make(csr_view<const double> A, const std::optional<number_matrix<double>>& form);
  void factorise(const vouch_backend_matrix& matrix);
  void judge_length(const device& dev, csr_view<const double> transposed, view<double> x,
                    const stopping_criterion& goal, solve_report& report);
  void require_room() const;
  void take_status(int status);  // throws or sets failed_ unless it is done
  void apply(double* x, bool transposed, std::int64_t columns);
  void apply(const double* b, double* x, bool transposed, std::int64_t columns);

  const vouch_backend* backend_;
  int kind_;
  std::unique_ptr<void, void (*)(void*)> made_;
  std::int64_t rows_ = 0, failed_ = 0;
  bool as_complex_;  // where it is
  bool complex_ = false;
  vouch_backend_result found_{};
  std::vector<double> rhs_;
  std::optional<double> inverse_norm_;
  std::string name_;
};

}  // namespace vouch
