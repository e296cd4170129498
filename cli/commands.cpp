#include "command.hpp"

namespace vouch::cli {

std::span<const command> commands() {
  static constexpr command all[] = {
      {"devices", "list the CPU and the GPUs that vouch can use", cmd_devices},
  };
  return all;
}

}  // namespace vouch::cli
