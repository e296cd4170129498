// tests/npz.hpp -- .npy and .npz files, byte by byte.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace vouch::testing {

/// An .npy file of doubles; shape is the text of a Python tuple.
inline std::string npy_file(const std::string& shape, const std::vector<double>& values, bool fortran = false) {
  std::string header = std::string("{'descr': '<f8', 'fortran_order': ") + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize(118 - 1, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00\x76\x00", 10);
  text += header;
  const std::size_t start = text.size();
  text.resize(start + values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(text.data() + start, values.data(), values.size() * sizeof(double));
  return text;
}

struct zip_member {
  std::string name, content;
  bool deflated = false;
  bool large = false;  // sizes and place in the 64-bit extra field
};

class zip_writer {
 public:
  std::string archive(const std::vector<zip_member>& members, const std::string& remark = "") {
    std::string directory;
    for (const zip_member& m : members) add(m, directory);
    const std::size_t at = bytes_.size();
    bytes_ += directory;
    put(bytes_, 0x06054b50, 4);
    put(bytes_, 0, 4);
    put(bytes_, members.size(), 2);
    put(bytes_, members.size(), 2);
    put(bytes_, directory.size(), 4);
    put(bytes_, at, 4);
    put(bytes_, remark.size(), 2);
    return bytes_ + remark;
  }

 private:
  static void put(std::string& to, std::uint64_t value, int width) {
    for (int k = 0; k < width; ++k) to += static_cast<char>(value >> 8 * k & 255);
  }
  static std::string packed(const zip_member& m) {
    if (!m.deflated) return m.content;
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, m.content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(m.content.data()));
    stream.avail_in = static_cast<uInt>(m.content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }
  void add(const zip_member& m, std::string& directory) {
    const std::string data = packed(m);
    const std::size_t place = bytes_.size();
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(m.content.data()), static_cast<uInt>(m.content.size()));
    std::string extra;
    if (m.large) {
      put(extra, 1, 2);
      put(extra, 24, 2);
      put(extra, m.content.size(), 8);
      put(extra, data.size(), 8);
      put(extra, place, 8);
    }
    const auto common = [&](std::string& to) {
      put(to, m.deflated ? 8 : 0, 2);
      put(to, 0, 4);  // time
      put(to, checksum, 4);
      put(to, m.large ? 0xffffffff : data.size(), 4);
      put(to, m.large ? 0xffffffff : m.content.size(), 4);
      put(to, m.name.size(), 2);
    };
    put(bytes_, 0x04034b50, 4);
    put(bytes_, 45, 2);
    put(bytes_, 0, 2);
    common(bytes_);
    put(bytes_, 4, 2);  // an extra field of its own in front of the data
    bytes_ += m.name;
    put(bytes_, 0x7777, 2);
    put(bytes_, 0, 2);
    bytes_ += data;
    put(directory, 0x02014b50, 4);
    put(directory, 45, 2);
    put(directory, 45, 2);
    put(directory, 0, 2);
    common(directory);
    put(directory, extra.size(), 2);
    put(directory, 0, 2);  // remark
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 4);
    put(directory, m.large ? 0xffffffff : place, 4);
    directory += m.name + extra;
  }
  std::string bytes_;
};

}  // namespace vouch::testing
