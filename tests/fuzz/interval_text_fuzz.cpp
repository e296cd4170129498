// Intervals as text: what is read prints outward and reads back; floats enclose doubles; nothing else is thrown
// than the two errors of the contract, on one line.
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/interval/relations.hpp>
#include <vouch/interval/text.hpp>

namespace {

using namespace vouch;
using fuzz::memory_file;

void check_interval(const std::string& text) {
  const auto x = parse_interval<double>(text);
  memory_file::require(parse_interval<double>(exact_interval_text(x)) == x);
  for (const int digits : {1, 5, 17})
    memory_file::require(subset(x, parse_interval<double>(interval_text(x, digits))));
  const auto single = parse_interval<float>(text);
  memory_file::require(subset(x, interval<double>(single)));
  // Without a decoration the decorated form reads the same.
  memory_file::require(parse_decorated_interval<double>(text).bare() == x);
}

template <class Check>
void one_line_errors(Check check) {
  try {
    check();
  } catch (const value_error& e) {
    memory_file::require(std::string(e.what()).find('\n') == std::string::npos);
  } catch (const parse_error& e) {
    memory_file::require(std::string(e.what()).find('\n') == std::string::npos && e.column() > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  one_line_errors([&] { check_interval(text); });
  one_line_errors([&] {
    const auto x = parse_decorated_interval<double>(text);
    const auto back = parse_decorated_interval<double>(exact_interval_text(x));
    memory_file::require(back.bare() == x.bare() && back.decoration_part() == x.decoration_part());
  });
  return 0;
}
