#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/image_formats.hpp>

namespace vouch::fingerprint {
namespace {

enum marker : int {
  start_of_image = 0xffa0,
  end_of_image = 0xffa1,
  start_of_frame = 0xffa2,
  start_of_block = 0xffa3,
  transform_table = 0xffa4,
  quantization_table = 0xffa5,
  huffman_table = 0xffa6,
  comment = 0xffa8
};

class byte_reader {
 public:
  byte_reader(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  int byte() {
    if (at_ == bytes_.size()) fail("the data end early");
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  int two() {
    const int high = byte();
    return high << 8 | byte();
  }
  std::uint32_t four() {
    const auto high = static_cast<std::uint32_t>(two());
    return high << 16 | static_cast<std::uint32_t>(two());
  }
  /// A number divided by ten as often as the byte in front of it says.
  float scaled(bool wide) {
    const int scale = byte();
    auto value = static_cast<float>(wide ? four() : static_cast<std::uint32_t>(two()));
    for (int i = 0; i < scale; ++i) value /= 10;
    return value;
  }
  /// The bytes of a segment behind its length.
  byte_reader segment() {
    const int length = two() - 2;
    if (length < 0 || static_cast<std::size_t>(length) > bytes_.size() - at_)
      fail("a segment ends beyond the data");
    byte_reader inner(name_, bytes_.substr(0, at_ + static_cast<std::size_t>(length)));
    inner.at_ = at_;
    at_ = inner.bytes_.size();
    return inner;
  }
  std::string_view rest() const { return bytes_.substr(at_); }
  void skip(std::size_t bytes) { at_ += bytes; }
  bool at_end() const { return at_ == bytes_.size(); }
  void require_end() const {
    if (!at_end()) fail("a segment is longer than what it holds");
  }
  [[noreturn]] void fail(const char* message) const {
    throw parse_error(name_, 0, 0, std::string(message) + ", at byte " + std::to_string(at_));
  }

 private:
  std::string name_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

constexpr int most_taps = 31;  // of a filter
constexpr int reach = most_taps / 2;

// Coefficients of a symmetric filter from its middle on.
struct half_filter {
  int taps = 0;
  std::array<float, reach + 1> at{};
};

// Synthesis filters: the analysis filter of the other band with alternating signs.
struct filters {
  half_filter low, high;
};

filters read_filters(byte_reader segment) {
  const int low_taps = segment.byte(), high_taps = segment.byte();
  if (low_taps % 2 == 0 || high_taps % 2 == 0) segment.fail("filters of even length are not supported");
  if (low_taps > most_taps || high_taps > most_taps) segment.fail("a filter is longer than any in use");
  const auto read = [&](int taps) {
    half_filter f{taps, {}};
    for (int i = 0; i <= taps / 2; ++i) {
      const bool negative = segment.byte() != 0;
      const float magnitude = segment.scaled(true);
      f.at[static_cast<std::size_t>(i)] = negative != (i % 2 != 0) ? -magnitude : magnitude;
    }
    return f;
  };
  // The file gives the length of the low-pass analysis filter first: what it makes is the high-pass synthesis filter.
  filters both;
  both.high = read(low_taps);
  both.low = read(high_taps);
  segment.require_end();
  return both;
}

constexpr int subbands = 60;  // that are coded; the four of highest frequencies are not

struct quantization {
  float centre = 0;
  std::array<float, 64> width{}, zero_width{};
};

quantization read_quantization(byte_reader segment) {
  quantization q;
  q.centre = segment.scaled(false);
  for (std::size_t i = 0; i < q.width.size(); ++i) {
    q.width[i] = segment.scaled(false);
    q.zero_width[i] = segment.scaled(false);
  }
  segment.require_end();
  return q;
}

// Codes of up to 16 bits. Short ones are looked up at once, others compared length by length.
class huffman_codes {
 public:
  struct symbol {
    int value = -1;  // -1: no code begins so
    int bits = 0;
  };

  huffman_codes() = default;
  explicit huffman_codes(byte_reader& segment) {
    std::array<int, longest + 1> count{};
    int total = 0;
    for (int length = 1; length <= longest; ++length)
      total += count[static_cast<std::size_t>(length)] = segment.byte();
    if (total == 0 || total > 256) segment.fail("a Huffman table with no codes, or with more than 256");
    for (int i = 0; i < total; ++i) values_.push_back(static_cast<std::uint8_t>(segment.byte()));
    int code = 0, index = 0;
    for (int length = 1; length <= longest; ++length) {
      const auto at = static_cast<std::size_t>(length);
      code <<= 1;
      first_code_[at] = code;
      first_index_[at] = index;
      code += count[at];
      index += count[at];
      end_code_[at] = code;
      if (code > 1 << length) segment.fail("a Huffman table has more codes than fit");
    }
    for (int start = 0; start < 1 << looked_up; ++start)
      table_[static_cast<std::size_t>(start)] = search(start << (longest - looked_up), looked_up);
  }

  bool defined() const { return !values_.empty(); }
  /// The code that 16 bits begin with.
  symbol decode(int bits) const {
    const symbol s = table_[static_cast<std::size_t>(bits >> (longest - looked_up))];
    return s.value >= 0 ? s : search(bits, longest);
  }

 private:
  static constexpr int longest = 16, looked_up = 10;

  symbol search(int bits, int most_length) const {
    for (int length = 1; length <= most_length; ++length) {
      const auto at = static_cast<std::size_t>(length);
      const int code = bits >> (longest - length);
      if (code < end_code_[at] && code >= first_code_[at])
        return {values_[static_cast<std::size_t>(first_index_[at] + code - first_code_[at])], length};
    }
    return {};
  }

  std::vector<std::uint8_t> values_;
  std::array<int, longest + 1> first_code_{}, first_index_{}, end_code_{};
  std::array<symbol, 1 << looked_up> table_{};
};

// Bits of a block, to its end at a marker; ones behind it, which begin no code.
class bit_reader {
 public:
  explicit bit_reader(std::string_view bytes) : bytes_(bytes) {}

  int peek16() {
    fill();
    return static_cast<int>((buffer_ >> 48) & 0xffff);
  }
  bool has(int bits) const { return available_ >= bits; }
  void drop(int bits) {
    buffer_ = buffer_ << bits | ((std::uint64_t{1} << bits) - 1);
    available_ -= bits;
  }
  int take(int bits) {
    const int value = peek16() >> (16 - bits);
    drop(bits);
    return value;
  }
  /// Where the marker is, once all bits were taken.
  std::size_t bytes_used() const { return at_; }

 private:
  void fill() {
    while (available_ <= 48 && at_ < bytes_.size()) {
      const auto next = static_cast<unsigned char>(bytes_[at_]);
      if (next == 0xff && (at_ + 1 == bytes_.size() || bytes_[at_ + 1] != 0)) return;
      const int place = 56 - available_;
      buffer_ = (buffer_ & ~(std::uint64_t{0xff} << place)) | std::uint64_t{next} << place;
      available_ += 8;
      at_ += next == 0xff ? 2 : 1;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t buffer_ = ~std::uint64_t{0};
  int available_ = 0;
};

// A rectangle of the transformed image that is the whole of four, by its frequencies; in x or y the higher half stands
// first where it is reversed.
struct band {
  int x = 0, y = 0, width = 0, height = 0;
  bool reversed_x = false, reversed_y = false;

  int low_columns() const { return (width + 1) / 2; }
  int low_rows() const { return (height + 1) / 2; }
};

std::array<band, 4> quarters(const band& b) {
  const int left = b.reversed_x ? b.width - b.low_columns() : b.low_columns();
  const int top = b.reversed_y ? b.height - b.low_rows() : b.low_rows();
  return {{{b.x, b.y, left, top, false, false},
           {b.x + left, b.y, b.width - left, top, true, false},
           {b.x, b.y + top, left, b.height - top, false, true},
           {b.x + left, b.y + top, b.width - left, b.height - top, true, true}}};
}

struct decomposition {
  std::vector<band> coded;        // the 60 subbands in their order in the file
  std::vector<band> synthesized;  // each from its quarters, in this order
};

decomposition decompose(int width, int height) {
  decomposition d;
  const auto code = [&](const auto& bands, std::size_t first = 0) {
    d.coded.insert(d.coded.end(), bands.begin() + static_cast<std::ptrdiff_t>(first), bands.end());
  };
  const band whole{0, 0, width, height};
  const auto half = quarters(whole), quarter = quarters(half[0]), eighth = quarters(quarter[0]);
  const auto sixteenth = quarters(eighth[0]);
  code(quarters(sixteenth[0]));
  code(sixteenth, 1);
  for (std::size_t i = 1; i < 4; ++i) code(quarters(eighth[i]));
  for (std::size_t i = 1; i < 3; ++i)
    for (const band& b : quarters(quarter[i])) code(quarters(b));
  code(quarter, 3);
  code(quarters(half[1]));
  code(quarters(half[2]));
  d.synthesized = {sixteenth[0], eighth[0], eighth[1], eighth[2], eighth[3], quarter[0]};
  for (std::size_t i = 1; i < 3; ++i) {
    for (const band& b : quarters(quarter[i])) d.synthesized.push_back(b);
    d.synthesized.push_back(quarter[i]);
  }
  d.synthesized.insert(d.synthesized.end(), {half[0], half[1], half[2], whole});
  return d;
}

struct frame {
  int width = 0, height = 0;
  float shift = 0, scale = 0;
};

frame read_frame(byte_reader segment) {
  constexpr int least_side = 64, most_pixels = 1 << 25;
  frame f;
  segment.two();  // black and white
  f.height = segment.two();
  f.width = segment.two();
  f.shift = segment.scaled(false);
  f.scale = segment.scaled(false);
  segment.byte();  // encoder
  segment.two();   // software
  segment.require_end();
  if (f.width < least_side || f.height < least_side) segment.fail("fewer than 64 pixels a side");
  if (f.width > most_pixels_a_side || f.height > most_pixels_a_side || f.width > most_pixels / f.height)
    segment.fail("more pixels than any print has");
  return f;
}

// What the tables between blocks define.
struct tables {
  std::optional<filters> transform;
  std::optional<quantization> steps;
  std::array<huffman_codes, 8> codes;

  void read(int which, byte_reader& file) {
    byte_reader segment = file.segment();
    switch (which) {
      case comment:
        return;
      case transform_table:
        if (transform) segment.fail("a second transform table");
        transform = read_filters(segment);
        return;
      case quantization_table:
        if (steps) segment.fail("a second quantization table");
        steps = read_quantization(segment);
        return;
      case huffman_table:
        do {
          const int id = segment.byte();
          if (id >= static_cast<int>(codes.size())) segment.fail("a Huffman table with a number above 7");
          codes[static_cast<std::size_t>(id)] = huffman_codes(segment);
        } while (!segment.at_end());
        return;
      default:
        file.fail("a marker that does not belong here");
    }
  }
};

// Quantised values of all subbands, one after the other.
class coefficients {
 public:
  coefficients(const byte_reader& file, std::size_t count, std::vector<std::int32_t>& values)
      : file_(&file), values_(values) {
    values_.assign(count, 0);
  }

  void read_block(const huffman_codes& codes, bit_reader& bits) {
    for (;;) {
      const int ahead = bits.peek16();
      const huffman_codes::symbol s = codes.decode(ahead);
      if (s.value < 0 || !bits.has(s.bits)) {
        if (bits.has(8)) file_->fail("bits that are no code");
        return;
      }
      bits.drop(s.bits);
      append(s.value, bits);
    }
  }
  bool full() const { return at_ == values_.size(); }

 private:
  // Symbols: 1..100 zeros, 101..106 escapes, 107..254 values from -73 to 74.
  void append(int symbol, bit_reader& bits) {
    if (symbol >= 1 && symbol <= 100) return zeros(symbol);
    if (symbol >= 107 && symbol <= 254) return value(symbol - 180);
    if (symbol < 101 || symbol > 106) file_->fail("a symbol that has no meaning");
    const bool is_long = symbol == 103 || symbol == 104 || symbol == 106;
    const int argument = bits.take(is_long ? 16 : 8);
    if (!bits.has(0)) file_->fail("a block ends within a number");
    if (symbol >= 105) return zeros(argument);
    value(symbol == 101 || symbol == 103 ? argument : -argument);
  }
  void zeros(int count) {
    if (static_cast<std::size_t>(count) > values_.size() - at_) file_->fail("more coefficients than pixels");
    at_ += static_cast<std::size_t>(count);
  }
  void value(int v) {
    if (at_ == values_.size()) file_->fail("more coefficients than pixels");
    values_[at_++] = v;
  }

  const byte_reader* file_;
  std::vector<std::int32_t>& values_;
  std::size_t at_ = 0;
};

using plane = std::vector<float>;

void dequantize(const quantization& q, const decomposition& d, int width, const std::int32_t* from,
                plane& image) {
  for (std::size_t k = 0; k < subbands; ++k) {
    const band& b = d.coded[k];
    if (q.width[k] == 0) continue;
    const float step = q.width[k], half_zero = q.zero_width[k] / 2;
    for (int y = b.y; y < b.y + b.height; ++y)
      for (int x = b.x; x < b.x + b.width; ++x) {
        const auto v = static_cast<float>(*from++);
        image[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
            v > 0   ? step * (v - q.centre) + half_zero
            : v < 0 ? step * (v + q.centre) - half_zero
                    : 0.0F;
      }
  }
}

// Positions outside 0..n-1 are mirrored about the first and the last.
int mirrored(int i, int n) {
  const int period = 2 * (n - 1);
  i = std::abs(i) % period;
  return i < n ? i : period - i;
}

// sum[x] += factor * (a[x] + b[x])
VOUCH_SIMD_INLINE void add_scaled(const float* a, const float* b, float factor, int n, float* sum) {
  for (int x = 0; x < n; ++x) sum[x] += factor * (a[x] + b[x]);
}

// The columns of a band out of their low and high halves: row y is a sum of low rows an even and high ones an odd
// number of rows away.
VOUCH_SIMD_CLONES void synthesize_columns(const band& b, const filters& f, const float* image, int stride,
                                          float* synthesized) {
  const int low_rows = b.low_rows(), high_rows = b.height - low_rows;
  const float* first = image + static_cast<std::ptrdiff_t>(b.y) * stride + b.x;
  const float* low = b.reversed_y ? first + static_cast<std::ptrdiff_t>(high_rows) * stride : first;
  const float* high = b.reversed_y ? first : first + static_cast<std::ptrdiff_t>(low_rows) * stride;
  const auto row = [&](int y) {
    const int at = mirrored(y, b.height);
    return (at % 2 == 0 ? low : high) + static_cast<std::ptrdiff_t>(at / 2) * stride;
  };
  for (int y = 0; y < b.height; ++y) {
    float* sum = synthesized + static_cast<std::ptrdiff_t>(y) * b.width;
    std::memset(sum, 0, static_cast<std::size_t>(b.width) * sizeof(float));
    for (int away = 0; away <= reach; ++away) {
      const half_filter& h = (y + away) % 2 == 0 ? f.low : f.high;
      if (away > h.taps / 2) continue;
      const float factor = away == 0 ? 0.5F * h.at[0] : h.at[static_cast<std::size_t>(away)];
      add_scaled(row(y - away), row(y + away), factor, b.width, sum);
    }
  }
}

// The same of one row, whose halves lie in `low` and `high` with mirrored elements around them.
VOUCH_SIMD_CLONES void synthesize_row(const filters& f, const float* low, const float* high, int width,
                                      float* even, float* odd, float* synthesized) {
  const int pairs = (width + 1) / 2;
  std::memset(even, 0, static_cast<std::size_t>(pairs) * sizeof(float));
  std::memset(odd, 0, static_cast<std::size_t>(pairs) * sizeof(float));
  for (int away = 0; away <= reach; ++away) {
    // At 2 i the elements 2 i - away and 2 i + away, at 2 i + 1 those around it.
    const bool whole = away % 2 == 0;
    const half_filter &for_even = whole ? f.low : f.high, &for_odd = whole ? f.high : f.low;
    const auto at = static_cast<std::size_t>(away);
    const float half = away == 0 ? 0.5F : 1.0F;
    const float* of_even = whole ? low : high;
    const float* of_odd = whole ? high : low;
    const int before = (away + 1) / 2, behind = away / 2;
    if (away <= for_even.taps / 2)
      add_scaled(of_even - before, of_even + behind, half * for_even.at[at], pairs, even);
    if (away <= for_odd.taps / 2)
      add_scaled(of_odd - behind, of_odd + before, half * for_odd.at[at], pairs, odd);
  }
  for (int i = 0; i < width / 2; ++i) {
    synthesized[2 * i] = even[i];
    synthesized[2 * i + 1] = odd[i];
  }
  if (width % 2 != 0) synthesized[width - 1] = even[pairs - 1];
}

// target[i] for i from -reach to count + reach: element 2 i + parity of the mirrored row.
void spread_half(const float* low, const float* high, int width, int parity, int count, float* target) {
  const auto element = [&](int i) {
    const int at = mirrored(2 * i + parity, width);
    return at % 2 == 0 ? low[at / 2] : high[at / 2];
  };
  const float* own = parity == 0 ? low : high;
  const int owned = parity == 0 ? (width + 1) / 2 : width / 2;
  for (int i = -reach; i < 0; ++i) target[i] = element(i);
  std::memcpy(target, own, static_cast<std::size_t>(owned) * sizeof(float));
  for (int i = owned; i < count + reach; ++i) target[i] = element(i);
}

// A band out of its quarters.
void synthesize(const band& b, const filters& f, plane& image, int stride, plane& synthesized, plane& row) {
  synthesize_columns(b, f, image.data(), stride, synthesized.data());
  const int low_columns = b.low_columns(), high_columns = b.width - low_columns;
  const std::size_t pairs = static_cast<std::size_t>(low_columns);
  float* low = row.data() + reach;
  float* high = low + pairs + 2 * reach;
  float* even = high + pairs + reach;
  float* odd = even + pairs;
  for (int y = 0; y < b.height; ++y) {
    const float* first = synthesized.data() + static_cast<std::ptrdiff_t>(y) * b.width;
    const float* low_half = b.reversed_x ? first + high_columns : first;
    const float* high_half = b.reversed_x ? first : first + low_columns;
    spread_half(low_half, high_half, b.width, 0, low_columns, low);
    spread_half(low_half, high_half, b.width, 1, low_columns, high);
    synthesize_row(f, low, high, b.width, even, odd,
                   image.data() + static_cast<std::ptrdiff_t>(b.y + y) * stride + b.x);
  }
}

VOUCH_SIMD_CLONES void to_levels(const float* image, std::size_t count, float scale, float shift,
                                 std::uint8_t* levels) {
  for (std::size_t i = 0; i < count; ++i) {
    const float level = image[i] * scale + shift + 0.5F;
    levels[i] = static_cast<std::uint8_t>(static_cast<int>(level > 0 ? (level < 255 ? level : 255.0F) : 0.0F));
  }
}

const huffman_codes& codes_of_block(byte_reader& file, const tables& all) {
  byte_reader header = file.segment();
  const int id = header.byte();
  header.require_end();
  if (id >= static_cast<int>(all.codes.size()) || !all.codes[static_cast<std::size_t>(id)].defined())
    file.fail("a block names a Huffman table that is not there");
  return all.codes[static_cast<std::size_t>(id)];
}

std::size_t coded_values(const decomposition& d, const quantization& steps) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < subbands; ++k)
    if (steps.width[k] != 0)
      count += static_cast<std::size_t>(d.coded[k].width) * static_cast<std::size_t>(d.coded[k].height);
  return count;
}

void read_coefficients(byte_reader& file, tables& all, const decomposition& d,
                       std::vector<std::int32_t>& all_values) {
  std::optional<coefficients> values;
  for (int next = file.two(); next != end_of_image; next = file.two()) {
    if (next != start_of_block) {
      all.read(next, file);
      continue;
    }
    if (!all.transform || !all.steps) file.fail("a block comes before the tables it needs");
    const huffman_codes& codes = codes_of_block(file, all);
    if (!values) values.emplace(file, coded_values(d, *all.steps), all_values);
    bit_reader bits(file.rest());
    values->read_block(codes, bits);
    file.skip(bits.bytes_used());
  }
  if (!values || !values->full()) file.fail("fewer coefficients than pixels");
}

}  // namespace

bool is_wsq(std::string_view start) { return start.starts_with("\xff\xa0"); }

void parse_wsq(const std::string& name, std::string_view bytes, wsq_scratch& scratch, grey_image& image) {
  const ieee_environment here;
  byte_reader file(name, bytes);
  if (file.two() != start_of_image) file.fail("no start of an image");
  tables all;
  int next = file.two();
  for (; next != start_of_frame; next = file.two()) all.read(next, file);
  const frame f = read_frame(file.segment());
  const decomposition d = decompose(f.width, f.height);
  read_coefficients(file, all, d, scratch.coefficients);
  if (!file.at_end()) file.fail("something follows the end of the image");
  const std::size_t count = static_cast<std::size_t>(f.width) * static_cast<std::size_t>(f.height);
  scratch.image.assign(count, 0);
  scratch.synthesized.resize(count);
  scratch.row.resize(static_cast<std::size_t>(4 * ((f.width + 1) / 2 + 2 * reach)));
  dequantize(*all.steps, d, f.width, scratch.coefficients.data(), scratch.image);
  for (const band& b : d.synthesized)
    synthesize(b, *all.transform, scratch.image, f.width, scratch.synthesized, scratch.row);
  image.width = f.width;
  image.height = f.height;
  image.pixels.resize(count);
  to_levels(scratch.image.data(), count, f.scale, f.shift, image.pixels.data());
}

}  // namespace vouch::fingerprint
