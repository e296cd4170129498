#include <vouch/io/matrix_file.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

constexpr std::int64_t longest_name = 1 << 16;  // bytes of a member that only names the next one

// A header's bytes from offset on up to a NUL.
std::string_view text_field(std::string_view header, std::size_t offset, std::size_t width) {
  const std::string_view field = header.substr(offset, width);
  return field.substr(0, field.find('\0'));
}

// Octal digits between blanks and NULs, or, where the first bit is set, a number of base 256.
std::optional<std::int64_t> number_field(std::string_view header, std::size_t offset, std::size_t width) {
  std::string_view field = header.substr(offset, width);
  std::int64_t value = 0;
  if (field[0] == '\x80') {
    for (const char byte : field.substr(1)) {
      if (value >> 48 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  const char* const last = field.data() + field.size();
  const auto [end, error] = std::from_chars(field.data(), last, value, 8);
  const bool closed = std::all_of(end, last, [](char c) { return c == ' ' || c == '\0'; });
  if (error != std::errc() || !closed || value < 0) return std::nullopt;
  return value;
}

// The sum of a header's bytes, its own field taken as blanks.
bool checksum_fits(std::string_view header) {
  std::int64_t sum = 8 * ' ';
  for (std::size_t k = 0; k < header.size(); ++k)
    if (k < 148 || k >= 156) sum += static_cast<unsigned char>(header[k]);
  return number_field(header, 148, 8) == sum;
}

class tar_reader {
 public:
  explicit tar_reader(input_file& archive) : archive_(archive) {}

  /// Goes to the next regular file; false at the end.
  bool next() {
    skip(padded(size_));
    std::string long_name;
    std::int64_t long_size = -1;
    while (take_header()) {
      const char kind = header_[156];
      if (kind == 'L')
        long_name = text_field(take_text(), 0, longest_name);
      else if (kind == 'x')
        take_pax(take_text(), long_name, long_size);
      else if (kind == '0' || kind == '\0' || kind == '7') {
        name_ = long_name.empty() ? plain_name() : long_name;
        if (long_size >= 0) size_ = long_size;
        return true;
      } else {
        skip(padded(size_));
        long_name.clear();
        long_size = -1;
      }
    }
    return false;
  }
  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }

 private:
  [[noreturn]] void broken() const {
    throw parse_error(archive_.path(), 0, 0, "the tar archive is broken", "it may be truncated");
  }
  static std::int64_t padded(std::int64_t size) {
    constexpr auto block = static_cast<std::int64_t>(tar_block);
    return (size + block - 1) / block * block;
  }
  void skip(std::int64_t bytes) {
    std::array<char, 32 * 1024> some;
    while (bytes > 0) {
      const auto piece = std::min(bytes, std::ssize(some));
      if (archive_.read(some.data(), static_cast<std::size_t>(piece)) != static_cast<std::size_t>(piece))
        broken();
      bytes -= piece;
    }
  }
  // Blocks of zeros end the archive, and so does the end of the file.
  bool take_header() {
    size_ = 0;
    const std::size_t got = archive_.read(header_, tar_block);
    const std::string_view header(header_, tar_block);
    if (got == 0 || (got == tar_block && header.find_first_not_of('\0') == header.npos)) return false;
    const auto size = number_field(header, 124, 12);
    if (got != tar_block || !checksum_fits(header) || !size || *size > archive_.most_bytes()) broken();
    size_ = *size;
    return true;
  }
  std::string plain_name() const {
    const std::string_view header(header_, tar_block);
    const std::string_view folder = header.substr(257, 6) == std::string_view("ustar\0", 6)
                                        ? text_field(header, 345, 155)
                                        : std::string_view();
    std::string name(folder);
    if (!folder.empty()) name += '/';
    return name.append(text_field(header, 0, 100));
  }
  // The content of a member that describes the next.
  std::string take_text() {
    if (size_ > longest_name) broken();
    std::string text(static_cast<std::size_t>(padded(size_)), '\0');
    if (archive_.read(text.data(), text.size()) != text.size()) broken();
    text.resize(static_cast<std::size_t>(size_));
    return text;
  }
  // Records "LENGTH KEY=VALUE\n".
  void take_pax(std::string_view text, std::string& name, std::int64_t& size) const {
    while (!text.empty()) {
      std::size_t length = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto digits = static_cast<std::size_t>(end - text.data());
      if (error != std::errc() || length < digits + 3 || length > text.size()) broken();
      const std::string_view record = text.substr(digits + 1, length - digits - 2);
      if (record.starts_with("path=")) name = record.substr(5);
      if (record.starts_with("size=")) {
        std::int64_t value = -1;
        std::from_chars(record.data() + 5, record.data() + record.size(), value);
        if (value < 0 || value > archive_.most_bytes()) broken();
        size = value;
      }
      text.remove_prefix(length);
    }
  }

  input_file& archive_;
  char header_[tar_block];
  std::string name_;
  std::int64_t size_ = 0;
};

std::string_view last_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view without_endings(std::string_view name) { return name.substr(0, name.find('.')); }

// The folder in which a member lies; the archive's own name where there is none.
std::string_view owner(std::string_view member, std::string_view archive) {
  const std::size_t slash = member.rfind('/');
  const std::string_view folder = slash == member.npos ? "" : last_of(member.substr(0, slash));
  return folder.empty() || folder == "." ? without_endings(last_of(archive)) : folder;
}

bool is_wanted(std::string_view member, std::string_view archive, std::string_view suffix) {
  const std::string_view file = last_of(member), name = owner(member, archive);
  return file.starts_with(name) && file.substr(name.size()).starts_with(suffix) &&
         file.substr(name.size() + suffix.size()).starts_with('.');
}

}  // namespace

bool is_tar(std::string_view start) { return start.size() == tar_block && checksum_fits(start); }

void enter_tar(input_file& archive, std::string_view suffix) {
  tar_reader members(archive);
  std::string seen;
  for (int count = 0; members.next(); ++count) {
    if (is_wanted(members.name(), archive.path(), suffix)) {
      archive.narrow(archive.path() + "(" + members.name() + ")", members.size());
      return;
    }
    if (count < 5) seen += (count == 0 ? "" : ", ") + quoted(members.name());
    if (count == 5) seen += ", ...";
  }
  throw parse_error(
      archive.path(), 0, 0,
      "the archive has no file NAME/NAME" + std::string(suffix) + ".mtx" +
          (suffix == "_b" ? ", which would be the right-hand side" : ""),
      seen.empty() ? "it is empty" : "it has " + seen + ": unpack it and name the one that is meant");
}

}  // namespace vouch
