#include <vouch/fingerprint/grey_image.hpp>

#include <algorithm>
#include <cctype>
#include <new>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/image_formats.hpp>
#include <vouch/fingerprint/whole_file.hpp>

namespace vouch::fingerprint {
namespace {

// The numbers of a PGM, between blanks and comments.
class pgm_text {
 public:
  pgm_text(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  int number(int most) {
    skip_blanks();
    if (at_ == bytes_.size() || !digit()) fail("a number is expected");
    int value = 0;
    for (; at_ < bytes_.size() && digit(); ++at_) {
      value = 10 * value + (bytes_[at_] - '0');
      if (value > most) fail(std::string("a number is larger than ") + std::to_string(most));
    }
    return value;
  }
  // What follows the one blank behind the header.
  std::string_view pixels() {
    if (at_ == bytes_.size() || std::isspace(static_cast<unsigned char>(bytes_[at_])) == 0)
      fail("a blank is expected in front of the pixels");
    return bytes_.substr(at_ + 1);
  }
  void skip_blanks() {
    while (at_ < bytes_.size()) {
      const char c = bytes_[at_];
      if (c == '#')
        at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
      else if (std::isspace(static_cast<unsigned char>(c)) == 0)
        return;
      line_ += bytes_[at_] == '\n';
      ++at_;
    }
  }
  bool at_end() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail(const std::string& message) const { throw parse_error(name_, line_, 0, message); }

 private:
  bool digit() const { return bytes_[at_] >= '0' && bytes_[at_] <= '9'; }

  std::string name_;
  std::string_view bytes_;
  std::size_t at_ = 2;
  std::int64_t line_ = 1;
};

void parse_pgm(const std::string& name, std::string_view bytes, grey_image& image) {
  pgm_text text(name, bytes);
  constexpr int most_level = 65535;
  image.width = text.number(most_pixels_a_side);
  image.height = text.number(most_pixels_a_side);
  const int white = text.number(most_level);
  if (image.width < 1 || image.height < 1) text.fail("an image without pixels");
  if (white < 1 || white > 255)
    text.fail(std::to_string(white) + " grey levels: images of 8 bits a pixel are read");
  const std::size_t count = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (bytes[1] == '5') {
    const std::string_view pixels = text.pixels();
    if (pixels.size() < count)
      text.fail(std::to_string(pixels.size()) + " of " + std::to_string(count) + " pixels are there");
    if (pixels.size() > count)
      text.fail(std::to_string(pixels.size() - count) + " bytes follow the last pixel");
    image.pixels.assign(pixels.begin(), pixels.end());
    if (white != 255 && std::ranges::any_of(image.pixels, [&](std::uint8_t p) { return p > white; }))
      text.fail("a pixel is lighter than white");
  } else {
    if (count > bytes.size()) text.fail("the file is shorter than its sizes say");
    image.pixels.resize(count);
    for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>(text.number(white));
    text.skip_blanks();
    if (!text.at_end()) text.fail("something follows the last pixel");
  }
  if (white != 255)
    for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>((p * 255 + white / 2) / white);
}

void parse_raw(const std::string& name, std::string_view bytes, raw_size raw, grey_image& image) {
  if (bytes.empty()) throw parse_error(name, 0, 0, "the file is empty");
  const bool fits = raw.width > 0 && raw.height > 0 && raw.width <= most_pixels_a_side &&
                    raw.height <= most_pixels_a_side &&
                    bytes.size() == static_cast<std::size_t>(raw.width) * static_cast<std::size_t>(raw.height);
  if (!fits)
    throw parse_error(name, 0, 0,
                      std::string("no image: neither PGM, PNG, WSQ nor ") + std::to_string(raw.width) + " x " +
                          std::to_string(raw.height) + " bytes");
  image.width = raw.width;
  image.height = raw.height;
  image.pixels.assign(bytes.begin(), bytes.end());
}

void parse_image(const std::string& name, std::string_view bytes, raw_size raw, wsq_scratch& scratch,
                 grey_image& image) {
  if (bytes.starts_with("P5") || bytes.starts_with("P2")) return parse_pgm(name, bytes, image);
  if (is_wsq(bytes)) return parse_wsq(name, bytes, scratch, image);
  if (!is_png(bytes)) return parse_raw(name, bytes, raw, image);
  image = parse_png(name, bytes);
}

}  // namespace

struct grey_image_reader::buffers {
  std::vector<char> bytes;
  wsq_scratch wsq;
};

grey_image_reader::grey_image_reader() : kept_(std::make_unique<buffers>()) {}
grey_image_reader::~grey_image_reader() = default;

void grey_image_reader::read(const std::string& path, raw_size raw, grey_image& image) {
  const ieee_environment here;
  constexpr std::size_t most_bytes = std::size_t{4} * most_pixels_a_side * most_pixels_a_side;
  parse_image(path, whole_file(path, most_bytes, kept_->bytes), raw, kept_->wsq, image);
}

void require_pixels(const char* function, const grey_image& image) {
  if (image.width < 1 || image.height < 1 ||
      image.pixels.size() != static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height))
    throw shape_error(std::string(function) + ": an image has width * height pixels");
}

std::string grey_image_reader::try_read(const std::string& path, raw_size raw, grey_image& image) try {
  read(path, raw, image);
  return {};
} catch (const cancelled&) {
  throw;
} catch (const error& e) {
  image = {};
  return e.what();
} catch (const std::bad_alloc&) {
  image = {};
  return path + ": not enough memory";
}

grey_image parse_grey_image(const std::string& name, std::string_view bytes, raw_size raw) {
  const ieee_environment here;
  wsq_scratch scratch;
  grey_image image;
  parse_image(name, bytes, raw, scratch, image);
  return image;
}

grey_image read_grey_image(const std::string& path, raw_size raw) {
  grey_image image;
  grey_image_reader().read(path, raw, image);
  return image;
}

void write_grey_image(const std::string& path, const grey_image& image) {
  require_pixels("write_grey_image", image);
  atomic_file file(path);
  if (path.ends_with(".png")) {
    file.write(png_bytes(image));
  } else {
    file.write(std::string("P5\n") + std::to_string(image.width) + " " + std::to_string(image.height) +
               "\n255\n");
    file.write({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
  }
  file.commit();
}

}  // namespace vouch::fingerprint
