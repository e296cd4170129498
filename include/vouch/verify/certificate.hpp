// vouch/verify/certificate.hpp -- a proof that a matrix is nonsingular, kept to bound errors with.
#pragma once
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/verify/fingerprint.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

/// Made once for a matrix, used for any number of right-hand sides. It remembers what it proved: for which
/// matrix, and within which radius of it.
class certificate {
 public:
  virtual ~certificate() = default;

  /// The matrix that was proved nonsingular, with all others within a relative radius of its entries.
  const matrix_fingerprint& proved_matrix() const { return matrix_; }
  double proved_radius() const { return matrix_radius_; }

  /// Refuses to speak for what was not proved. The radius of the right-hand side is no concern of a proof.
  ///
  /// Throws  value_error  another matrix, or a radius above proved_radius() or that is no radius; what the
  ///                      proof refers to was changed since
  void require_covers(const char* routine, const matrix_fingerprint& matrix, const uncertainty& within) const;

  /// As reported: "h-matrix".
  virtual std::string method() const = 0;

  /// radius := componentwise at least |A^-1 s| for every s in r: with r around b - A x, a bound of x's error.
  ///
  /// Shapes  As many elements as the matrix has rows; so for all that follow.
  /// Memory  r and radius live on the certificate's device, are contiguous and do not overlap.
  /// Result  Proved; an overflow or an unbounded r gives infinite or NaN bounds, which prove nothing.
  /// Throws  shape_error  another number of elements
  virtual void bound(view<const interval<double>> r, view<double> radius) = 0;

  /// The same plus |lo| in one pass, and the largest radius, where there is a way; lo is nullptr, meaning zero,
  /// or has as many elements.
  virtual std::optional<double> bound_widened(view<const interval<double>> /*r*/, const double* /*lo*/,
                                              view<double> /*radius*/) {
    return std::nullopt;
  }

  /// d := an approximation of A^-1 s: nothing is proved of it. False where there is none.
  virtual bool correct(view<const double> s, view<double> d) = 0;

  /// The same to a few digits at most, where that is cheaper.
  virtual bool correct_roughly(view<const double> s, view<double> d) { return correct(s, d); }

  /// Whether correct() costs about as much as bound(), and makes bounds sharper for so little.
  virtual bool corrects_cheaply() const { return false; }

  /// d := so much of A^-1 s, about, s the midpoint of r, as so many passes in single precision find, which
  /// makes a bound of the rest much sharper. False where there is nothing of the kind.
  virtual bool smooth(view<const interval<double>> /*r*/, int /*steps*/, view<double> /*d*/) { return false; }
  /// How often smooth(), each time of what is left, pays.
  virtual int smoothing_rounds() const { return 1; }

  /// The matrix in a form that is read faster than the one that was given, or nullptr.
  virtual const detail::matrix_rows* rows() const { return nullptr; }

  /// About ||A^-1||_inf, from the proof: an upper bound for H-matrices.
  virtual double inverse_norm() const = 0;

 protected:
  certificate(const matrix_fingerprint& matrix, const uncertainty& within)
      : matrix_(matrix), matrix_radius_(within.matrix) {}

  /// Throws  shape_error  a vector has not as many elements as the matrix has rows
  void require_lengths(const char* routine, std::int64_t given, std::int64_t result) const;

 private:
  /// That of the matrix which bounds are made with, as it is now, where that is somebody else's.
  virtual matrix_fingerprint referred_matrix() const { return matrix_; }

  matrix_fingerprint matrix_;
  double matrix_radius_;
};

}  // namespace vouch
