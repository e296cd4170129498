// vouch/solve/distributed/row_checkpoint.hpp -- checkpoints of systems whose rows stand on several ranks.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/solve/loop/checkpoint.hpp>

namespace VOUCH_PUBLIC vouch {

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
  void together(const std::function<void()>& work) override;
  std::vector<std::int64_t> gather(std::int64_t mine) override;
  void share(std::string& text) override;

 private:
  communicator& ranks_;
};

}  // namespace vouch
