// Books of options: the first line is the header. What a line is accepted for is finite and not negative where
// it may not be; what is refused has a message.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/price/book/book_lines.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using vouch::fuzz::memory_file;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto next_line = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  try {
    const vouch::book_header header = vouch::parse_book_header("book", next_line(), 1, {});
    vouch::book_line read;
    while (!text.empty()) {
      vouch::book_failure failure;
      const std::string_view line = next_line();
      std::string printed;
      if (!vouch::parse_book_line(header, line, read, failure)) {
        vouch::print_book_failure(printed, header, {}, line, failure);
        memory_file::require(!failure.message.empty());
        continue;
      }
      const vouch::plain_option& o = read.option.option;
      for (const double x : {o.spot, o.strike, o.volatility, o.expiry, o.cash, o.rebate})
        memory_file::require(std::isfinite(x) && x >= 0);
      memory_file::require(std::isfinite(o.rate) && std::isfinite(o.dividend));
    }
  } catch (const vouch::parse_error&) {
  }
  return 0;
}
