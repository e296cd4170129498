#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/npy_parts.hpp>
#include <vouch/io/scipy_npz.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

constexpr std::uint64_t in_zip64 = 0xffffffff;  // stands for a number that an extra field has

// Numbers of a zip archive: little-endian.
class zip_record {
 public:
  zip_record& add(std::uint64_t value, int width) {
    for (int k = 0; k < width; ++k) text_ += static_cast<char>(value >> 8 * k & 0xff);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Members that are stored as they are.
class zip_writer {
 public:
  explicit zip_writer(atomic_file& file) : file_(file) {}

  /// A member whose bytes stand in pieces.
  void add(const std::string& name, std::initializer_list<std::string_view> pieces) {
    member m{name, 0, 0, at_};
    for (const std::string_view piece : pieces) {
      m.size += piece.size();
      if (!piece.empty())  // zlib begins anew where there is no pointer
        m.checksum = crc32_z(m.checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    }
    write(local_header(m));
    for (const std::string_view piece : pieces) write(piece);
    members_.push_back(m);
  }

  void finish() {
    const std::uint64_t start = at_;
    for (const member& m : members_) write(directory_entry(m));
    const std::uint64_t size = at_ - start, count = members_.size();
    if (start >= in_zip64) {
      const std::uint64_t end = at_;
      write(zip_record().add(0x06064b50, 4).add(44, 8).add(45, 2).add(45, 2).add(0, 8).text());
      write(zip_record().add(count, 8).add(count, 8).add(size, 8).add(start, 8).text());
      write(zip_record().add(0x07064b50, 4).add(0, 4).add(end, 8).add(1, 4).text());
    }
    zip_record end;
    end.add(0x06054b50, 4).add(0, 4).add(count, 2).add(count, 2).add(size, 4);
    write(end.add(std::min(start, in_zip64), 4).add(0, 2).text());
  }

 private:
  struct member {
    std::string name;
    std::uint64_t size, checksum, start;
  };

  void write(std::string_view bytes) {
    file_.write(bytes);
    at_ += bytes.size();
  }
  // What both headers of a member have: flags, stored, the first of January 1980, checksum, sizes, length of the name.
  static void add_facts(const member& m, zip_record& to) {
    const std::uint64_t size = std::min(m.size, in_zip64);
    to.add(0, 2).add(0, 2).add(0, 2).add(0x21, 2).add(m.checksum, 4).add(size, 4).add(size, 4);
    to.add(m.name.size(), 2);
  }
  static std::uint64_t version(const member& m) { return std::max(m.size, m.start) >= in_zip64 ? 45 : 20; }
  static zip_record extra_field(const member& m, bool with_start) {
    zip_record numbers, extra;
    if (m.size >= in_zip64) numbers.add(m.size, 8).add(m.size, 8);
    if (with_start && m.start >= in_zip64) numbers.add(m.start, 8);
    if (!numbers.text().empty()) extra.add(1, 2).add(numbers.text().size(), 2);
    for (const char byte : numbers.text()) extra.add(static_cast<unsigned char>(byte), 1);
    return extra;
  }
  static std::string local_header(const member& m) {
    const zip_record extra = extra_field(m, false);
    zip_record header;
    header.add(0x04034b50, 4).add(version(m), 2);
    add_facts(m, header);
    header.add(extra.text().size(), 2);
    return header.text() + m.name + extra.text();
  }
  static std::string directory_entry(const member& m) {
    const zip_record extra = extra_field(m, true);
    zip_record entry;
    entry.add(0x02014b50, 4).add(version(m), 2).add(version(m), 2);
    add_facts(m, entry);
    entry.add(extra.text().size(), 2).add(0, 2).add(0, 2).add(0, 2).add(0, 4);
    entry.add(std::min(m.start, in_zip64), 4);
    return entry.text() + m.name + extra.text();
  }

  atomic_file& file_;
  std::uint64_t at_ = 0;
  std::vector<member> members_;
};

template <class T>
std::string_view bytes_of(const T* elements, std::int64_t count) {
  return {reinterpret_cast<const char*>(elements), static_cast<std::size_t>(count) * sizeof(T)};
}

template <class T>
void add_array(zip_writer& zip, const char* name, const char* type, const T* elements, std::int64_t count) {
  const std::int64_t shape[] = {count};
  zip.add(std::string(name) + ".npy", {npy_header_text(type, shape, false), bytes_of(elements, count)});
}

bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

template <class T>
void write_archive(atomic_file& file, const char* type, csr_view<const T> A) {
  const ieee_environment here;
  const std::int64_t entries = A.nonzeros;
  constexpr std::int64_t looked_at_once = std::int64_t{1} << 20;
  for (std::int64_t k = 0; k < entries; ++k) {
    if (k % looked_at_once == 0) check_cancellation();
    if (!is_finite(A.val[k]))
      throw value_error("entry " + std::to_string(k) + " is no finite number, it cannot be written");
  }
  zip_writer zip(file);
  add_array(zip, "indices", "<i4", A.col, entries);
  if (entries <= std::numeric_limits<std::int32_t>::max()) {
    const std::vector<std::int32_t> offsets(A.row_ptr, A.row_ptr + A.rows + 1);
    add_array(zip, "indptr", "<i4", offsets.data(), A.rows + 1);
  } else {
    add_array(zip, "indptr", "<i8", A.row_ptr, A.rows + 1);
  }
  zip.add("format.npy", {npy_header_text("|S3", {}, false), "csr"});
  const std::int64_t shape[] = {A.rows, A.cols};
  add_array(zip, "shape", "<i8", shape, 2);
  add_array(zip, "data", type, A.val, entries);
  zip.finish();
  file.finish();
}

}  // namespace

void write_scipy_npz(atomic_file& file, csr_view<const double> A) { write_archive(file, "<f8", A); }
void write_scipy_npz(atomic_file& file, csr_view<const std::complex<double>> A) {
  write_archive(file, "<c16", A);
}

}  // namespace vouch
