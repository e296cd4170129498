#include <algorithm>
#include <limits>

#include <vouch/reduce/set_scan.hpp>

namespace vouch {

unit_scanner::unit_scanner(set_shape shape, accumulator& to, bool portable)
    : shape_(shape), portable_(portable), values_(to), digits_(shape) {}

const char* unit_scanner::method(bool portable) { return has_avx512() && !portable ? "avx512" : "portable"; }

std::int64_t unit_scanner::scan(const char* begin, const char* end, std::int64_t unit, bool end_of_file) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  constexpr std::ptrdiff_t vector_bytes = 64;
  values_.begin_unit(unit);
  set_parser state(shape_, begin);
  if (!portable_ && values_.target().needs().simple()) digits_.scan(state, end, values_.target());
  const char* const limit = end - vector_bytes;
  // Where the vector parser gets nowhere, it is asked again ever more rarely.
  std::int64_t patience = 1;
  while (state.at < end && state.fault == set_fault::none) {
    const char* const before = state.at;
    const bool vectors = has_avx512() && !portable_;
    if (vectors) (values_.holds_reals() ? scan_decimals_avx512 : scan_avx512)(state, limit, values_);
    patience = state.at - before > 16 * vector_bytes ? 1 : std::min(2 * patience, all / 4);
    state.parse(end, values_, vectors && state.at <= limit ? state.matrices + patience : all);
  }
  state.finish(end, end_of_file);
  values_.flush();
  return state.fault == set_fault::none ? state.matrices : -1;
}

}  // namespace vouch
