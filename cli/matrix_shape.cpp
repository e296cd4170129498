#include "matrix_shape.hpp"

#include <fmt/format.h>

#include "command_line.hpp"
#include "usage.hpp"

namespace vouch::cli {

set_shape parse_shape(std::string_view option, std::string_view text) {
  constexpr std::int64_t most = 1 << 15;
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string_view::npos)
    throw usage_error(fmt::format("option {}: '{}' is no shape", option, text), "rows x columns, like 3x3");
  return {parse_count(option, text.substr(0, cross), 1, most),
          parse_count(option, text.substr(cross + 1), 1, most)};
}

}  // namespace vouch::cli
