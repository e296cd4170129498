#include "command.hpp"

namespace vouch::cli {

std::span<const command> commands() {
  static constexpr command all[] = {
      {"solve", "solve A x = b and say how good x is", cmd_solve},
      {"devices", "list the CPU and the GPUs that vouch can use", cmd_devices},
  };
  return all;
}

}  // namespace vouch::cli
