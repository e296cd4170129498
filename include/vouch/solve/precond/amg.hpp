// vouch/solve/precond/amg.hpp -- algebraic multigrid, on grids by their structure, else by smoothed aggregation.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Vectors whose product with the matrix is small beside its largest eigenvalue: what the coarse levels are for. Those
/// of diffusion are constant, those of elasticity the motions of a rigid body.
struct near_nullspace {
  std::int64_t vectors = 0;    // at least one, at most 12
  std::int64_t unknowns = 0;   // of a node, which are numbered side by side; 0: found in the pattern
  std::vector<double> values;  // one vector after the other
};

/// The motions of a rigid body, as linear elasticity has them: translations and rotations, 3 in the plane and 6 in
/// space.
///
/// Shapes  coordinates of k nodes in `dimension` directions, one direction after the other; vectors of dimension k
///         elements, the unknowns of a node side by side.
/// Memory  coordinates live on the CPU.
/// Result  About the centre of the nodes, no rotation moves a node by more than 1 in a direction; a rotation that
///         moves none is left out.
/// Throws  value_error  a dimension other than 2 and 3, a coordinate that is not finite
///         shape_error  coordinates do not make whole nodes
near_nullspace rigid_body_modes(view<const double> coordinates, int dimension);

/// Who makes a hierarchy: automatic takes the structured one where make_amg says that it serves.
enum class amg_type : int { automatic, smoothed_aggregation, structured };

/// "auto", "sa", "structured"
const char* name(amg_type type);
/// Throws  value_error  another name
amg_type parse_amg_type(std::string_view name);

/// What a hierarchy is made with; the defaults suit diffusion of any kind.
struct amg_options {
  amg_type type = amg_type::automatic;
  double strength = 0.25;  // a_ij is a strong coupling from so much of the largest of row i or j on, the lesser
  double filter = 0.02;    // couplings below so much of the largest of their row do not smooth the prolongator
  int degree = 2;  // of the smoother's polynomial: products with A before and after each coarse correction
  std::int64_t coarsest = 256;  // a level of at most so many rows is solved by a dense inverse
  /// Nothing: one vector for each of a node's unknowns, 1 there and 0 elsewhere, the unknowns found in the pattern.
  std::shared_ptr<const near_nullspace> near{};
};

/// A level of a hierarchy.
struct amg_level {
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  double filter = 0;  // that was taken for the way to the next level; infinite: the prolongator is not smoothed
  std::int64_t unknowns = 1;           // of a node: aggregates are of nodes
  std::array<std::int64_t, 3> grid{};  // points in each direction, of a structured hierarchy
};

/// What a set-up has made.
struct amg_hierarchy {
  amg_type type = amg_type::smoothed_aggregation;  // that was taken
  std::string why_not_structured;                  // where it was not
  std::vector<amg_level> levels;                   // the finest first
  bool coarsest_solved = true;   // by a dense inverse; else it did not coarsen and is smoothed
  std::int64_t bytes = 0;        // that it holds
  std::int64_t cycle_bytes = 0;  // that one cycle moves at least
  double setup_seconds = 0;

  /// Entries of all levels over those of the first; 0 where there are none.
  double operator_complexity() const;
  /// Likewise rows.
  double grid_complexity() const;
};

/// One V-cycle for A z = r.
template <real T>
class amg : public preconditioner<T> {
 public:
  virtual const amg_hierarchy& hierarchy() const = 0;
  /// The aggregates of a level, one number a row; -1: it has no part in the next level. On the CPU.
  ///
  /// Throws  value_error  there is no such level; a structured hierarchy has no aggregates
  virtual std::vector<std::int32_t> aggregates(std::int64_t level) const = 0;
  /// Makes the hierarchy anew for a matrix with the same pattern and other values: the aggregates stay, or the
  /// directions in which a structured one coarsens. Where the new values do not suit that any more, smoothed
  /// aggregation takes its place.
  ///
  /// Memory  A lives where the first one did.
  /// Throws  shape_error, value_error  as make_amg; another number of rows or entries. The hierarchy is then as before.
  virtual void refill(csr_view<const T> A) = 0;
};

/// M is one V-cycle, of a structured hierarchy or one by smoothed aggregation.
///
/// Structured: A is symmetric and couples the neighbours on a box of points in two or three directions, up to
/// 9 or 27 a row, which are numbered line by line, at least three to a line and three lines to a plane; coefficients may
/// vary, couplings may be missing. Interpolation is that of the operator (black-box multigrid), every other point is left
/// out in those directions whose mean coupling is at least a quarter of the strongest, coarse matrices are P^T A P, with
/// up to 27 diagonals, smoothers as below. It is taken where three steps of conjugate gradients with it, on hashed
/// numbers, reduce the residual by a factor of 64 or more; jumps of coefficients from cell to cell may fail that.
///
/// By smoothed aggregation: A is scaled to a unit diagonal, aggregates are the neighbourhoods of a maximal independent set of
/// distance two whose order is hashed, T prolongates the near-nullspace, P = (I - 4/(3 b) D_F^-1 F) T with F the
/// filtered matrix and b a bound of the eigenvalues, coarse matrices are P^T A P, smoothers are Chebyshev polynomials
/// of the fourth kind with optimal weights. Where P^T A P had more than 0.6 times the entries of A the filter is raised
/// to 0.05, to 0.25, and at last P is left as it is, T.
///
/// Where rows come in groups of 2 to 6 with the same pattern, or near says so, a group is a node: nodes are aggregated
/// by the Frobenius norms of their blocks, an aggregate has an unknown for each vector of the near-nullspace, none for
/// those that depend on others there, and F is A.
///
/// Where A is not symmetric, couplings are the means of |a_ij| and |a_ji|, the restriction is made of A^T as the
/// prolongator of A, smoothers are as many sweeps of Jacobi, damped by 4/3 over the largest row sum. It suits
/// convection and diffusion, and is linear: for GMRES, BiCGStab and IDR.
///
/// Where A is the real form of a complex matrix (vouch/solve/complex.hpp) that is not Hermitian, and near says nothing, all
/// this is done to a real matrix of n/2 rows, and M is its V-cycle for the real and for the imaginary parts: off the
/// diagonal -|a_ij|, or |a_ij| where a_ij points as the mean of a_ii and a_jj does, rows with the sum |sum_j a_ij|, and
/// on the diagonal at least |a_ii|. The levels are those of that matrix.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; the hierarchy is in single precision, sums of its set-up in double.
/// Memory  A lives on dev and is not needed afterwards. The hierarchy: for grids about 25 bytes an entry of A;
///         in set-up as much again.
/// Result  apply() takes r as solvers have it, of a norm near 1; beyond some 1e30 times as much single precision ends.
///         Symmetric positive definite for a symmetric positive definite A. The same bits on every run; the aggregates,
///         or the coarse matrices of a structured hierarchy to the last bit, are the same on a CPU, for any number
///         of threads, and on a GPU.
/// Cost    Set-up: some 110 products of entries a row of a 7-point grid, structured as many without a look for their
///         places, and three cycles. apply(): 2 degree products with each level.
/// Throws  shape_error  A is not square
///         value_error  a diagonal entry that is not positive, an entry that is not finite (the text names the row); a
///                      coarse matrix that is not positive; options out of range; a near-nullspace with a vector
///                      that is zero or not finite, or with more vectors than 12; a structured hierarchy was asked for
///                      and does not serve (the text says why)
///         shape_error  a near-nullspace of another number of rows; rows that do not make whole nodes
/// Source  Dendy, J. Comput. Phys. 48 (1982); Vanek, Mandel, Brezina, Computing 56 (1996); Bell, Dalton, Olson,
///         SIAM J. Sci. Comput. 34 (2012); Kelley, Rajamanickam, IEEE HPEC (2022); Lottes, Numer. Linear Algebra Appl. 30 (2023); for shifts the other way round:
///         Laird, Giles, report NA-02/12, Oxford (2002).
template <real T>
std::unique_ptr<amg<T>> make_amg(const device& dev, csr_view<const T> A, const amg_options& options = {});

}  // namespace vouch
