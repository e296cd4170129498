// Text that several threads print and a file takes in order.
#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/text/ordered_writer.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

auto numbers_failing_at(std::int64_t first, std::int64_t other) {
  return [=] {
    return [=, text = std::string()](std::int64_t number) mutable -> std::string_view {
      if (number == first || number == other) throw value_error("number " + std::to_string(number));
      text = std::to_string(number) + "\n";
      return text;
    };
  };
}

TEST(ordered_writer, writes_pieces_in_order) {
  const testing::temporary_folder folder;
  const std::string path = folder.path("ordered");
  std::string expected;
  for (int k = 0; k < 1000; ++k) expected += std::to_string(k) + "\n";
  for (const int threads : {1, 4}) {
    atomic_file file(path);
    write_in_order(file, 1000, threads, numbers_failing_at(-1, -1));
    file.commit();
    EXPECT_EQ(testing::content_of(path), expected);
  }
}

TEST(ordered_writer, throws_the_first_failure_in_order) {
  const testing::temporary_folder folder;
  const std::string path = folder.path("ordered");
  for (const int threads : {1, 4}) {
    atomic_file file(path);
    try {
      write_in_order(file, 1000, threads, numbers_failing_at(500, 501));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const value_error& failure) {
      EXPECT_STREQ(failure.what(), "number 500");
    }
  }
}

TEST(ordered_turns, end_when_told_to) {
  ordered_turns turns;
  EXPECT_TRUE(turns.take(0, [] {}));
  turns.end();
  EXPECT_FALSE(turns.take(1, [] { ADD_FAILURE(); }));
  EXPECT_NO_THROW(turns.rethrow_failure());
}

}  // namespace
}  // namespace vouch
