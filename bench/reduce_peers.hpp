// bench/reduce_peers.hpp -- other ways to reduce a set of 3 by 3 matrices by the minimum, in the same run.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace vouch::bench {

struct reduce_peer {
  std::string name;
  // The nine minima and the seconds that it took, the start of another program not counted; nothing where that
  // program is missing.
  struct answer {
    double seconds = 0;
    std::vector<double> minimum;
  };
  std::optional<answer> (*run)(const std::string& path);
};

/// A plain stream reader, std::from_chars over the mapped text, awk, NumPy.
const std::vector<reduce_peer>& reduce_peers();

}  // namespace vouch::bench
