// vouch/solve/distributed/row_solver.hpp -- systems whose rows stand on several ranks, solved with the same bits on any
// number of them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/solve/precond/make.hpp>

namespace VOUCH_PUBLIC vouch {

enum class row_method { cg, jacobi };

struct row_solve_options : stopping_criterion {
  row_method method = row_method::cg;
  preconditioner_choice preconditioner{};  // of cg: none, jacobi or chebyshev
  bool matrix_checked = false;             // cg: the caller knows A symmetric with a positive diagonal
  operand_names names{};                   // in messages
};

/// Solves A x = b from the given x. All ranks call it with the same options.
///
/// Shapes  b and x have A.rows() elements: this rank's.
/// Memory  About 10 vectors.
/// Result  The numerical contract of docs/contract.md, as cg() and jacobi(). x, its history and the report but for seconds
///         are the same on every rank and, bit by bit, for any number of ranks and threads. A request to end that one
///         rank hears ends the iteration on all of them. Within a checkpoint_scope it is saved, by a rank_team.
/// Cost    An iteration: one exchange with neighbours, and one reduction of 5 numbers a node of block_sums; with
///         chebyshev two reductions and as many more exchanges as its degree.
/// Throws  value_error, on every rank  A not symmetric or its diagonal not positive (cg), a zero diagonal entry (jacobi), a
///                      preconditioner that is not offered, NaN or infinity in A, b or x, a checkpoint of another
///                      system, of other options or of no ranks
///         shape_error  b or x of another length
/// Source  As cg(); sums: a binary tree over blocks of 1,024 rows.
solve_report solve_rows(const device& cpu, const row_matrix& A, view<const double> b, view<double> x,
                        const row_solve_options& options = {});

/// Ranks that save what solve_rows() does, in one file, from which any number of ranks goes on to the same bits.
///
///   vouch::rank_team team(ranks);
///   vouch::checkpoint kept("solve.checkpoint", 300, {}, &team);
///   const vouch::checkpoint_scope saves(kept);
///   vouch::solve_rows(cpu, A, b, x);
///
/// Memory  ranks outlives it.
class rank_team final : public checkpoint_team {
 public:
  explicit rank_team(communicator& ranks) : ranks_(ranks) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  void together(const std::function<void()>& work) override { agree(ranks_, work); }
  std::vector<std::int64_t> gather(std::int64_t mine) override { return vouch::gather(ranks_, mine); }
  void share(std::string& text) override { vouch::share(ranks_, text, 0); }

 private:
  communicator& ranks_;
};

}  // namespace vouch
