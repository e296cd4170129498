#include <vouch/core/string_printf.hpp>

#include <clocale>
#include <cstdarg>
#include <cstdio>

#include <locale.h>

namespace vouch {

namespace {

// Numbers have a point, whatever language the program speaks.
class plain_locale {
 public:
  plain_locale() : before_(uselocale(plain())) {}
  ~plain_locale() { uselocale(before_); }
  plain_locale(const plain_locale&) = delete;
  plain_locale& operator=(const plain_locale&) = delete;

 private:
  static locale_t plain() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    return made;
  }
  locale_t before_;
};

}  // namespace

std::string string_printf(const char* format, ...) {
  const plain_locale here;
  std::va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, values)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(values);
  return text;
}

}  // namespace vouch
