#include <vouch/solve/distributed/row_solver.hpp>

#include <vouch/distributed/communicator.hpp>

namespace vouch {

void rank_team::together(const std::function<void()>& work) { agree(ranks_, work); }

std::vector<std::int64_t> rank_team::gather(std::int64_t mine) { return vouch::gather(ranks_, mine); }

void rank_team::share(std::string& text) {
  auto size = static_cast<std::int64_t>(text.size());
  ranks_.broadcast(&size, sizeof size, 0);
  text.resize(static_cast<std::size_t>(size));
  ranks_.broadcast(text.data(), size, 0);
}

}  // namespace vouch
