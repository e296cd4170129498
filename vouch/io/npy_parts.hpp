// vouch/io/npy_parts.hpp -- .npy files in memory and members of .npz archives, before elements become doubles, and the
// header of what is written; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/read_as.hpp>
#include <vouch/text/mapped_file.hpp>

namespace vouch {

/// As NumPy names it: f a float, i an integer, u one without sign, b a truth, S and U text; its bytes; the wrong
/// way round.
struct npy_element {
  char kind = 'f';
  int bytes = 8;
  bool big_endian = false;
};

/// An .npy file in memory.
struct npy_bytes {
  std::string name;  // what errors call it
  npy_element type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::string_view elements;  // as many as the shape says

  std::int64_t size() const { return std::ssize(elements) / type.bytes; }
};

/// Throws  parse_error  the header is broken, or the bytes are not as many as it says
npy_bytes look_at_npy(const std::string& name, std::string_view bytes);

/// The elements as doubles, in the order of the file, or their radii.
///
/// Throws  parse_error  text; a NaN or an infinity
array<double> npy_doubles(const device& cpu, const npy_bytes& from, read_as what);

/// What stands before the elements of an .npy file: magic, version and header. type is NumPy's name, as "<f8".
std::string npy_header_text(const char* type, std::span<const std::int64_t> shape, bool by_columns);

/// Calls use(at) where at(k) is element k of integers; those beyond int64 come out negative.
///
/// Throws  parse_error  the elements are no integers
template <class Use>
void with_integers(const npy_bytes& from, const Use& use) {
  const auto as = [&]<class T>(T) {
    use([&from](std::int64_t k) {
      T element;
      char* const bytes = reinterpret_cast<char*>(&element);
      std::memcpy(bytes, from.elements.data() + static_cast<std::size_t>(k) * sizeof(T), sizeof(T));
      if (from.type.big_endian) std::reverse(bytes, bytes + sizeof(T));
      return static_cast<std::int64_t>(element);
    });
  };
  const bool is_signed = from.type.kind == 'i';
  if (!is_signed && from.type.kind != 'u') throw parse_error(from.name, 0, 0, "indices must be integers");
  if (from.type.bytes == 1) is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
  if (from.type.bytes == 2) is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
  if (from.type.bytes == 4) is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
  if (from.type.bytes == 8) is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
}

/// A member of an archive.
struct npz_member {
  std::string name;                  // without .npy
  std::string label;                 // what errors call it
  std::string_view stored;           // its bytes in the archive
  std::unique_ptr<char[]> unpacked;  // where it is deflated
  std::uint64_t size = 0;

  std::string_view bytes() const { return unpacked ? std::string_view(unpacked.get(), size) : stored; }
};

/// The members of an .npz archive that lies mapped.
class npz_archive {
 public:
  explicit npz_archive(const input_file& file);
  ~npz_archive();
  npz_archive(const npz_archive&) = delete;
  npz_archive& operator=(const npz_archive&) = delete;

  bool has(std::string_view name) const;
  /// The members of these names, all where there are none; several threads unpack several of them.
  std::vector<npz_member> unpack(std::span<const std::string_view> names, int threads) const;

 private:
  struct directory;
  std::string path_;
  mapped_file mapped_;
  std::unique_ptr<directory> directory_;
};

}  // namespace vouch
