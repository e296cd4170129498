#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch {
namespace {

std::string place(const std::string& file, std::int64_t line, std::int64_t column) {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  return text;
}

std::string in_units(std::int64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1023.95 && unit < 6; ++unit) value /= 1024;  // never prints 1024.0
  return string_printf(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

}  // namespace

parse_error::parse_error(const std::string& file, std::int64_t line, std::int64_t column,
                         const std::string& message, std::string hint)
    : error(place(file, line, column) + ": " + message, std::move(hint)), line_(line), column_(column) {}

// Nothing asked: how much is not known.
out_of_memory::out_of_memory(const std::string& where, std::int64_t bytes_asked, std::int64_t bytes_free)
    : error("out of memory on " + where + ": " + (bytes_asked > 0 ? in_units(bytes_asked) + " asked, " : "") +
            in_units(bytes_free) + " free"),
      bytes_asked_(bytes_asked),
      bytes_free_(bytes_free) {}

}  // namespace vouch
