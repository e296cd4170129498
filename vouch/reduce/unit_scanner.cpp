#include <algorithm>
#include <limits>

#include <vouch/reduce/set_scan.hpp>

namespace vouch {

const char* name(parser_instructions instructions) {
  static constexpr const char* names[] = {"portable", "avx2", "avx512"};
  return names[static_cast<int>(instructions)];
}

parser_instructions best_instructions(parser_instructions most) {
  using enum parser_instructions;
  if (most == avx512 && has_avx512()) return avx512;
  return most != portable && has_avx2() ? avx2 : portable;
}

unit_scanner::unit_scanner(set_shape shape, accumulator& to, parser_instructions most)
    : shape_(shape), instructions_(best_instructions(most)), values_(to), digits_(shape) {}

void unit_scanner::scan_vectors(set_parser& state, const char* limit) {
  const bool wide = values_.holds_reals();
  if (instructions_ == parser_instructions::avx512)
    (wide ? scan_decimals_avx512 : scan_avx512)(state, limit, values_);
  else
    (wide ? scan_decimals_avx2 : scan_avx2)(state, limit, values_);
}

std::int64_t unit_scanner::scan(const char* begin, const char* end, std::int64_t unit, bool end_of_file) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  constexpr std::ptrdiff_t worth_while = 1024;  // bytes
  const bool vectors = instructions_ != parser_instructions::portable && end - begin > vector_reach;
  values_.begin_unit(unit);
  set_parser state(shape_, begin);
  if (vectors && values_.target().needs().simple()) digits_.scan(state, end, values_.target());
  // Where the vector parser gets nowhere, it is asked again ever more rarely.
  std::int64_t patience = 1;
  while (state.at < end && state.fault == set_fault::none) {
    const char* const before = state.at;
    const char* const limit = vectors ? end - vector_reach : begin;
    if (vectors) scan_vectors(state, limit);
    patience = state.at - before > worth_while ? 1 : std::min(2 * patience, all / 4);
    state.parse(end, values_, vectors && state.at <= limit ? state.matrices + patience : all);
  }
  state.finish(end, end_of_file);
  values_.flush();
  return state.fault == set_fault::none ? state.matrices : -1;
}

}  // namespace vouch
