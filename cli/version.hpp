// cli/version.hpp -- what --version prints: this build and what it finds on the machine.
#pragma once
#include <string>

namespace vouch::cli {

/// A line for each fact, or one JSON object. No GPU is touched: its name comes from the driver's files.
std::string version_text(bool json);

}  // namespace vouch::cli
