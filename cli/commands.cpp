#include "command.hpp"

namespace vouch::cli {

std::span<const command> commands() {
  static constexpr command all[] = {
      {"solve", "solve A x = b and say how good x is", cmd_solve},
      {"verify", "prove how good a solution is that came from anywhere", cmd_verify},
      {"price", "options by formula, exercise boundary or finite differences", cmd_price},
      {"info", "facts of a matrix and a picture of its pattern", cmd_info},
      {"gen", "write a model problem", cmd_gen},
      {"convert", "rewrite a matrix or vectors in another format or order", cmd_convert},
      {"reduce", "reduce sets of small matrices element by element", cmd_reduce},
      {"classify", "the pattern of fingerprints: arch, loop, whorl", cmd_classify},
      {"bench", "measure, and compare with published figures, peers and the hardware", cmd_bench},
      {"devices", "list the CPU and the GPUs that vouch can use", cmd_devices},
  };
  return all;
}

}  // namespace vouch::cli
