#include "command.hpp"

namespace vouch::cli {

std::span<const command> commands() {
  static constexpr command all[] = {
      {"bench", "measure, and compare with published figures, peers and the hardware", cmd_bench},
      {"devices", "list the CPU and the GPUs that vouch can use", cmd_devices},
  };
  return all;
}

}  // namespace vouch::cli
