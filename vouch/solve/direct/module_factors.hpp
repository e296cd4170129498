// vouch/solve/direct/module_factors.hpp -- sparse matrices factorised by modules; private.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

struct vouch_backend;

namespace vouch {

/// The module of that name, nullptr where it is not there.
const vouch_backend* find_backend(const std::string& name);

/// Whether it takes symmetric positive definite matrices alone.
bool needs_definite(const vouch_backend& backend);

/// Throws value_error where there is no such back end, or it is not installed.
void require_backend(const std::string& name);

/// What a module made of a matrix; serves any number of right-hand sides.
class module_factors {
 public:
  /// Memory  Those of the module; A is not needed afterwards.
  /// Throws  out_of_memory; value_error  NaN or infinity in A, or the module takes no such matrix
  module_factors(const vouch_backend& backend, csr_view<const double> A);
  ~module_factors();
  module_factors(module_factors&& other) noexcept;
  module_factors& operator=(module_factors&&) = delete;

  /// 0, or the pivot (from 1) at which it ended.
  std::int64_t failed() const { return failed_; }
  bool needs_definite() const { return vouch::needs_definite(*backend_); }
  const std::string& name() const { return name_; }

  /// As sparse_lu() with own factors; not on several threads at once.
  solve_report solve(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                     const stopping_criterion& goal);

 private:
  class factors;

  const vouch_backend* backend_;
  void* made_ = nullptr;
  std::int64_t rows_ = 0, failed_ = 0;
  double entries_ = 0;
  std::optional<double> inverse_norm_;
  std::string name_;
};

}  // namespace vouch
