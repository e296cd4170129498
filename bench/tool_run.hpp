// bench/tool_run.hpp -- the tool in processes of its own, by mpirun where there are several.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "scratch_folder.hpp"

namespace vouch::bench {

class tool_run {
 public:
  /// The tool is that beside this program.
  explicit tool_run(const scratch_folder& folder);

  /// Why the tool cannot be started by mpirun; "" where it can.
  std::string missing_ranks() const;
  /// The tool with these arguments, quoted for a shell, one thread a rank.
  ///
  /// Result  What it has printed as JSON, {} where it prints none.
  /// Throws  value_error  it ended with a code above 1; the text has the first line that it said
  nlohmann::json run(const std::string& arguments, int ranks = 1) const;

 private:
  std::string tool_, said_;
};

}  // namespace vouch::bench
