#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <type_traits>

#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch {
namespace {

TEST(parse_error, begins_with_the_place_as_far_as_it_is_known) {
  EXPECT_STREQ(parse_error("A.mtx", 1041, 7, "no number").what(), "A.mtx:1041:7: no number");
  EXPECT_STREQ(parse_error("A.mtx", 3, 0, "too few entries").what(), "A.mtx:3: too few entries");
  EXPECT_STREQ(parse_error("A.mtx", 0, 0, "empty").what(), "A.mtx: empty");
  EXPECT_STREQ(parse_error("A.mtx", 0, 5, "empty").what(), "A.mtx: empty");
}

TEST(string_printf, has_points_whatever_the_language) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* language : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    if (std::setlocale(LC_ALL, language) == nullptr) continue;
    EXPECT_EQ(string_printf("%.2g", 1.5), "1.5") << language;
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 1.5);  // the program's own language is as it was
    EXPECT_EQ(text[1], *std::localeconv()->decimal_point);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(parse_error, keeps_place_and_hint_apart) {
  const parse_error e("A.mtx", std::int64_t{1} << 33, 7, "no number", "write 1.5e3");
  EXPECT_EQ(e.line(), std::int64_t{1} << 33);
  EXPECT_EQ(e.column(), 7);
  EXPECT_EQ(e.hint(), "write 1.5e3");
  EXPECT_STREQ(e.what(), "A.mtx:8589934592:7: no number");
}

TEST(out_of_memory, names_the_place_and_both_sizes_in_readable_units) {
  const out_of_memory e("GPU 0", 3221225472, 1536);
  EXPECT_STREQ(e.what(), "out of memory on GPU 0: 3.0 GiB asked, 1.5 KiB free");
  EXPECT_EQ(e.bytes_asked(), 3221225472);
  EXPECT_EQ(e.bytes_free(), 1536);
}

TEST(out_of_memory, is_silent_of_what_is_not_known) {
  EXPECT_STREQ(out_of_memory("cuDSS", 0, 1536).what(), "out of memory on cuDSS: 1.5 KiB free");
}

TEST(out_of_memory, picks_the_unit_that_fits) {
  const auto asked = [](std::int64_t bytes) {
    const std::string text = out_of_memory("the host", bytes, 0).what();
    return text.substr(0, text.find(" asked")).substr(std::string("out of memory on the host: ").size());
  };
  EXPECT_EQ(asked(2), "2 bytes");
  EXPECT_EQ(asked(1023), "1023 bytes");
  EXPECT_EQ(asked(1024), "1.0 KiB");
  EXPECT_EQ(asked(1024 * 1024 - 1), "1.0 MiB");  // not 1024.0 KiB
  EXPECT_EQ(asked(1024 * 1024), "1.0 MiB");
  EXPECT_EQ(asked(std::numeric_limits<std::int64_t>::max()), "8.0 EiB");
}

TEST(device_error, keeps_the_code) { EXPECT_EQ(device_error("kernel: bad", 700).code(), 700); }

// Whoever catches error or std::exception catches them all.
template <class... Errors>
constexpr bool all_are_errors = (std::is_base_of_v<error, Errors> && ...);
static_assert(all_are_errors<shape_error, value_error, parse_error, file_error, device_error, out_of_memory,
                             no_cuda_error>);
static_assert(std::is_base_of_v<std::exception, error>);

}  // namespace
}  // namespace vouch
