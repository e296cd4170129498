#include <vouch/io/npz.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/npy_parts.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

constexpr std::size_t end_record_size = 22, end64_locator_size = 20, end64_record_size = 56;
constexpr std::size_t entry_size = 46, local_size = 30, longest_remark = 65535;
constexpr std::uint64_t in_zip64 = 0xffffffff;
constexpr std::uint64_t best_deflation = 1032;  // bytes that one compressed byte can stand for

// What the central directory says of a member.
struct member {
  std::string name;
  std::uint64_t method = 0, flags = 0, checksum = 0, packed = 0, size = 0, local_header = 0;
};

class archive {
 public:
  archive(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  std::vector<member> members() const {
    const std::uint64_t end = find_end();
    std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
    if (count == 0xffff || at == in_zip64) {
      if (end < end64_locator_size || number(end - end64_locator_size, 4) != 0x07064b50) broken();
      const std::uint64_t record = number(end - end64_locator_size + 8, 8);
      piece(record, end64_record_size);
      if (number(record, 4) != 0x06064b50) broken();
      count = number(record + 32, 8);
      at = number(record + 48, 8);
    }
    if (count > bytes_.size() / entry_size) broken();
    std::vector<member> all;
    for (std::uint64_t k = 0; k < count; ++k) all.push_back(take_entry(at));
    return all;
  }

  /// The member's bytes as they are in the archive.
  std::string_view packed(const member& m) const {
    piece(m.local_header, local_size);
    if (number(m.local_header, 4) != 0x04034b50) broken();
    const std::uint64_t before = local_size + number(m.local_header + 26, 2) + number(m.local_header + 28, 2);
    piece(m.local_header, before);
    return piece(m.local_header + before, m.packed);
  }

 private:
  [[noreturn]] void broken() const {
    throw parse_error(path_, 0, 0, "the zip archive is broken", "it may be truncated");
  }
  std::string_view piece(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) broken();
    return bytes_.substr(at, size);
  }
  // Little-endian.
  std::uint64_t number(std::uint64_t at, unsigned width) const {
    const std::string_view bytes = piece(at, width);
    std::uint64_t value = 0;
    for (unsigned k = width; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[k]);
    return value;
  }
  // The record at the archive's end stands before a remark of unknown length.
  std::uint64_t find_end() const {
    if (bytes_.size() < end_record_size) broken();
    const std::uint64_t last = bytes_.size() - end_record_size;
    for (std::uint64_t back = 0; back <= std::min<std::uint64_t>(last, longest_remark); ++back)
      if (number(last - back, 4) == 0x06054b50 && number(last - back + 20, 2) == back) return last - back;
    broken();
  }
  member take_entry(std::uint64_t& at) const {
    piece(at, entry_size);
    if (number(at, 4) != 0x02014b50) broken();
    member m;
    m.flags = number(at + 8, 2);
    m.method = number(at + 10, 2);
    m.checksum = number(at + 16, 4);
    m.packed = number(at + 20, 4);
    m.size = number(at + 24, 4);
    m.local_header = number(at + 42, 4);
    const std::uint64_t name_size = number(at + 28, 2), extra_size = number(at + 30, 2);
    m.name = piece(at + entry_size, name_size);
    take_large_numbers(piece(at + entry_size + name_size, extra_size), at + entry_size + name_size, m);
    at += entry_size + name_size + extra_size + number(at + 32, 2);
    return m;
  }
  // Numbers that do not fit into 32 bits stand in an extra field, in this order.
  void take_large_numbers(std::string_view extra, std::uint64_t start, member& m) const {
    for (std::uint64_t at = start, end = start + extra.size(); end - at >= 4;) {
      const std::uint64_t kind = number(at, 2), size = number(at + 2, 2);
      at += 4;
      if (size > end - at) broken();
      if (kind == 1) {
        std::uint64_t next = at;
        for (std::uint64_t* value : {&m.size, &m.packed, &m.local_header}) {
          if (*value != in_zip64) continue;
          if (next + 8 > at + size) broken();
          *value = number(next, 8);
          next += 8;
        }
      }
      at += size;
    }
  }

  const std::string& path_;
  std::string_view bytes_;
};

// The whole of a deflated member; nothing where it is broken or of another length.
std::unique_ptr<char[]> inflated(std::string_view packed, std::uint64_t size) {
  if (size / best_deflation > packed.size()) return nullptr;
  auto bytes = std::make_unique_for_overwrite<char[]>(size);
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) throw out_of_memory("the host", 1 << 15, 0);
  constexpr std::uint64_t most = std::numeric_limits<uInt>::max();
  std::uint64_t taken = 0, given = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.get() + given);
    const auto in = static_cast<uInt>(std::min(packed.size() - taken, most)),
               out = static_cast<uInt>(std::min(size - given, most));
    stream.avail_in = in;
    stream.avail_out = out;
    code = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += out - stream.avail_out;
    if (in == stream.avail_in && out == stream.avail_out) break;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || given != size) bytes.reset();
  return bytes;
}

std::uint64_t checksum_of(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

// The name of the array in it: numpy adds an ending.
std::string_view array_name(const member& m) {
  const std::string_view name = m.name;
  return name.substr(0, name.ends_with(".npy") ? name.size() - 4 : name.size());
}

// Throws where the member is broken, or packed in a way that is not read.
npz_member unpack_member(const std::string& file, const archive& zip, const member& m) {
  npz_member result{std::string(array_name(m)), file + "(" + m.name + ")", zip.packed(m), {}, m.size};
  const auto refuse = [&](const char* what, const char* hint) {
    throw parse_error(result.label, 0, 0, what, hint);
  };
  if (m.flags & 1) refuse("the member is encrypted", "numpy.savez writes what can be read");
  if (m.method != 0 && m.method != 8)
    refuse("the member is compressed by a method that is not supported",
           "stored and deflated members are read");
  const bool deflated = m.method == 8;
  if (deflated) result.unpacked = inflated(result.stored, m.size);
  const bool whole = deflated ? result.unpacked != nullptr : result.stored.size() == m.size;
  if (!whole || checksum_of(result.bytes()) != m.checksum)
    refuse("the member is broken: its bytes do not fit its checksum", "the archive may be damaged");
  return result;
}

const input_file& mappable(const input_file& file) {
  if (!file.random_access())
    throw parse_error(file.path(), 0, 0,
                      "an .npz archive must be a file of its own, neither a pipe nor compressed");
  if (file.most_bytes() < static_cast<std::int64_t>(end_record_size))  // an empty file cannot be mapped
    throw parse_error(file.path(), 0, 0, "the zip archive is broken", "it may be truncated");
  return file;
}

}  // namespace

struct npz_archive::directory {
  archive zip;
  std::vector<member> members;
};

npz_archive::npz_archive(const input_file& file) : path_(file.path()), mapped_(mappable(file)) {
  const archive zip(path_, {mapped_.begin(), static_cast<std::size_t>(mapped_.end() - mapped_.begin())});
  directory_ = std::make_unique<directory>(directory{zip, zip.members()});
}

npz_archive::~npz_archive() = default;

bool npz_archive::has(std::string_view name) const {
  return std::any_of(directory_->members.begin(), directory_->members.end(),
                     [&](const member& m) { return array_name(m) == name; });
}

std::vector<npz_member> npz_archive::unpack(std::span<const std::string_view> names, int threads) const {
  std::vector<const member*> wanted;
  for (const member& m : directory_->members)
    if (names.empty() || std::find(names.begin(), names.end(), array_name(m)) != names.end())
      wanted.push_back(&m);
  std::vector<npz_member> all(wanted.size());
  std::vector<std::exception_ptr> failures(wanted.size());
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(dynamic, 1)
  for (std::size_t k = 0; k < wanted.size(); ++k) try {
      all[k] = unpack_member(path_, directory_->zip, *wanted[k]);
    } catch (...) {
      failures[k] = std::current_exception();
    }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return all;
}

bool is_zip(std::string_view start) {
  return start.starts_with("PK\3\4") || start.starts_with("PK\5\6");  // the second: of no members
}

std::vector<npz_array> read_npz(const std::string& path, std::span<const std::string_view> names) {
  const ieee_environment here;
  const npz_archive zip{input_file(path)};
  std::vector<npz_array> arrays;
  for (const npz_member& m : zip.unpack(names, 1)) arrays.push_back({m.name, parse_npy(m.label, m.bytes())});
  return arrays;
}

}  // namespace vouch
