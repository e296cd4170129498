// vouch/reduce/block_scan.hpp -- matrix sets by vector instructions, 64 bytes at a time: what integers and
// decimals, AVX-512 and AVX2 share; private.
//
// Included by one of the *_block.hpp alone, which defines VOUCH_SCAN_TARGET, the instructions that these
// functions are compiled for. Everything is local to the source file, for there are several such instruction
// sets.
#pragma once
#include <immintrin.h>

#include <vouch/reduce/set_scan.hpp>

namespace vouch {
namespace {

using mask = std::uint64_t;

constexpr std::uint64_t most_numbers = 32;  // in 64 bytes

// Which of the next numbers are the last of a group of `size`, and the place in the group behind them.
class group_counter {
 public:
  group_counter(std::int64_t size, std::int64_t place) : size_(size), place_(place) {
    if (size > static_cast<std::int64_t>(most_numbers)) return;
    for (std::int64_t k = size - 1; k < 64; k += size) lasts_ |= mask{1} << k;
    for (std::int64_t k = 0; k < size + 32; ++k) rest_[k] = static_cast<std::uint8_t>(k % size);
    small_ = true;
  }
  mask lasts() const {
    if (small_) return lasts_ >> place_;
    const std::int64_t gap = size_ - 1 - place_;
    return gap < 64 ? mask{1} << gap : 0;
  }
  void advance(std::int64_t numbers) {
    place_ += numbers;
    if (small_)
      place_ = rest_[place_];
    else if (place_ >= size_)
      place_ -= size_;
  }
  std::int64_t place() const { return place_; }

 private:
  std::int64_t size_;
  std::int64_t place_;
  bool small_ = false;
  mask lasts_ = 0;
  std::uint8_t rest_[2 * most_numbers + 1] = {};
};

// The kinds of 64 bytes, a bit each.
struct byte_kinds {
  mask digit, point, sign, minus, star, blank, feed, carriage;
};

// The first byte outside `among` at or behind each start: carries run through the bytes of `among`.
inline mask first_outside(mask starts, mask among) { return (starts + among) & ~among; }

struct number_places {
  mask ends = 0;    // last digits, or points
  mask starts = 0;  // first ones
  mask digits = 0;
  mask points = 0;
  int count = 0;
  mask negative = 0;  // bit k: of number k
  mask pointed = 0;   // bit k: number k has a point
};

// Takes 64 bytes at a time from the start of a number or separator: the numbers in it that are followed by
// another number or a separator in it. The rest comes with the next 64 bytes. Convert::text holds and
// classifies them; Convert::block(text, places, values) passes the numbers on, or refuses them.
//
// All rules are checked by masks. Behind each number comes a line's end where, and only where, a row is full,
// and a separator where, and only where, the matrix is: the number's followers, compressed to a bit for each
// number, must equal the pattern of the shape. Bound by the shuffles of the conversion, not by memory.
template <class Convert>
VOUCH_SCAN_TARGET void scan_blocks(set_parser& state, const char* limit, value_buffer& values) {
  const char* p = state.at;
  const bool fresh = state.tokens == state.elements();  // the next separator begins a matrix
  if (p > limit || (fresh ? *p != '*' : *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '*'))
    return;
  group_counter in_row(state.shape.cols, state.tokens % state.shape.cols);
  group_counter in_matrix(state.elements(), fresh ? 0 : state.tokens);
  std::int64_t taken = 0;
  while (p <= limit) {
    const typename Convert::text text(p);
    const byte_kinds kind = text.template classify<Convert::points>();
    const mask word = kind.digit | kind.point;
    const mask white = kind.blank | kind.feed | kind.carriage;
    const mask in_line = kind.blank | kind.carriage;
    const mask all_ends = word & ~(word >> 1) & ~(mask{1} << 63);
    const mask item_after = first_outside(all_ends << 1, white);
    if (item_after == 0) break;
    const int size = 63 - static_cast<int>(_lzcnt_u64(item_after));
    const mask keep = (mask{1} << size) - 1;

    number_places n;
    n.digits = kind.digit & keep;
    n.points = kind.point & keep;
    n.ends = all_ends & keep;
    n.starts = word & keep & ~(word << 1);
    n.count = static_cast<int>(_mm_popcnt_u64(n.ends));
    const mask after = first_outside(n.ends << 1, in_line);

    // No bytes but those known, white behind each number, a digit or point behind each sign, LF behind each CR.
    mask wrong = keep & ~(word | kind.sign | kind.star | white);
    wrong |= (n.ends << 1) & ~white;
    wrong |= ((kind.sign & keep) << 1) & ~word;
    wrong |= ((kind.carriage & keep) << 1) & ~kind.feed;
    // Three asterisks each, alone on their line, behind a full matrix or at the start.
    const mask stars = kind.star & keep;
    const mask star_starts = stars & ~(stars << 1);
    wrong |= stars ^ (star_starts | (star_starts << 1) | (star_starts << 2));
    wrong |= star_starts & ~(item_after | 1);
    wrong |= first_outside(star_starts << 3, in_line) & ~kind.feed;
    if (Convert::points) {
      // One point a number, and not alone.
      const mask behind = first_outside(n.points << 1, kind.digit);
      wrong |= behind & kind.point;
      wrong |= n.points & n.starts & n.ends;
      n.pointed = _pext_u64(behind, n.ends << 1);
    }
    const mask numbers = (mask{1} << n.count) - 1;
    wrong |= _pext_u64(kind.feed, after) ^ (in_row.lasts() & numbers);
    wrong |= _pext_u64(kind.star, item_after) ^ (in_matrix.lasts() & numbers);
    n.negative = _pext_u64(kind.minus << 1, n.starts);
    if (wrong != 0 || !Convert::block(text, n, values)) break;
    taken += n.count;
    in_row.advance(n.count);
    in_matrix.advance(n.count);
    p += size;
  }
  if (taken == 0) return;
  const std::int64_t before = fresh ? 0 : state.tokens;
  state.at = p;
  state.matrices += (before + taken) / state.elements();
  state.tokens = in_matrix.place() == 0 ? state.elements() : in_matrix.place();
}

}  // namespace
}  // namespace vouch
