// cli/batch_source.hpp -- what vouch solve --batch does with each kind of file.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/result.hpp>

#include "solve_request.hpp"

namespace vouch::cli {

class batch_source {
 public:
  virtual ~batch_source() = default;
  /// For the log: "2 tridiagonal systems".
  virtual std::string title() const = 0;
  /// How right-hand sides and solutions lie, and whether they are a table with a row for each system.
  virtual batch_shape shape() const = 0;
  virtual bool table() const = 0;
  /// As if each system had its own matrix.
  virtual std::int64_t nonzeros() const = 0;
  virtual bool symmetric() const = 0;
  /// Whether x is of use although systems were missed.
  virtual bool keeps_others() const = 0;

  /// The solutions; with a proof where one is asked for and `proves`.
  virtual solve_result solve(view<double> x, bool proves) = 0;
  /// Seconds spent on looking at the matrices, by now.
  virtual double setup_seconds() const = 0;
};

/// Reads the file of the request.
///
/// Throws  what the readers throw; usage_error  a method that does not solve such systems
std::unique_ptr<batch_source> open_batch(const solve_request& request, const device& cpu);

}  // namespace vouch::cli
