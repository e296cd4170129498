#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <temporary.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/text/lines.hpp>

namespace vouch {
namespace {

using testing::gzipped;
using testing::temporary_folder;

// Lines of many kinds, some blank, some longer than a block.
std::string strange_text(std::uint64_t seed, int lines, bool long_lines) {
  std::string text;
  for (int k = 0; k < lines; ++k) {
    const std::uint64_t r = random_bits(seed, static_cast<std::uint64_t>(k));
    const char* blanks[] = {"", "\r", "  ", "\t \r"};
    if (r % 5 == 0)
      text += blanks[r / 5 % 4];
    else
      text += std::string(r / 7 % 60 + 1, static_cast<char>('a' + r % 26));
    if (long_lines && r % 997 == 0) text += std::string(600000, 'z');
    text += '\n';
  }
  return text;
}

struct found_block {
  line_block facts;
  std::string text;
};

std::map<std::int64_t, found_block> blocks_of(line_reader& reader, int threads) {
  std::map<std::int64_t, found_block> found;
  std::mutex adding;
  for_each_block(reader, threads, [&](const line_block& block) {
    const std::lock_guard lock(adding);
    found_block& copy = found[block.number];
    copy.text.assign(block.begin, block.end);
    copy.facts.first_line = block.first_line;
    copy.facts.lines = block.lines;
    copy.facts.items_before = block.items_before;
    copy.facts.items = block.items;
  });
  return found;
}

// Counts once more, line by line.
void expect_true_numbers(const std::map<std::int64_t, found_block>& blocks, std::int64_t header_lines,
                         const std::string& whole) {
  std::int64_t line = header_lines;
  std::int64_t items = 0;
  std::string all;
  for (const auto& [number, block] : blocks) {
    ASSERT_EQ(block.facts.first_line, line + 1) << number;
    ASSERT_EQ(block.facts.items_before, items) << number;
    std::istringstream text(block.text);
    for (std::string one; std::getline(text, one); ++line) items += one.find_first_not_of(" \t\r") != one.npos;
    ASSERT_EQ(block.facts.lines, line - block.facts.first_line + 1) << number;
    ASSERT_EQ(block.facts.items, items - block.facts.items_before) << number;
    ASSERT_TRUE(block.text.empty() || block.text.back() == '\n') << number;
    all += block.text;
  }
  ASSERT_TRUE(all == whole);
}

TEST(LineReader, GivesEveryLineOnceInNumberedBlocks) {
  temporary_folder folder;
  for (const bool long_lines : {false, true})
    for (const bool packed : {false, true})
      for (const bool last_feed : {true, false})
        for (const int threads : {1, 3}) {
          const std::string text = strange_text(1, 40000, long_lines) + "the end\n";
          const std::string given = last_feed ? text : text.substr(0, text.size() - 1);
          line_reader reader(input_file(folder.file("a", packed ? gzipped(given) : given)));
          const auto blocks = blocks_of(reader, threads);
          EXPECT_GT(blocks.size(), 3u);
          expect_true_numbers(blocks, 0, text);
          EXPECT_EQ(reader.lines(), std::count(text.begin(), text.end(), '\n'));
        }
}

TEST(LineReader, TakesAHeaderFirst) {
  temporary_folder folder;
  const std::string body = strange_text(2, 20000, false);
  for (const bool packed : {false, true})
    for (const std::size_t width : {std::size_t{3}, std::size_t{100000}}) {
      const std::string text = "first\r\n" + std::string(width, '%') + "\n\n" + body;
      line_reader reader(input_file(folder.file("a", packed ? gzipped(text) : text)));
      std::string line;
      ASSERT_TRUE(reader.next_line(line));
      EXPECT_EQ(line, "first");
      ASSERT_TRUE(reader.next_line(line));
      EXPECT_EQ(line.size(), width);
      ASSERT_TRUE(reader.next_line(line));
      EXPECT_EQ(line, "");
      EXPECT_EQ(reader.lines(), 3);
      EXPECT_GE(reader.most_bytes(), static_cast<std::int64_t>(body.size()));
      expect_true_numbers(blocks_of(reader, 2), 3, body);
    }
}

TEST(LineReader, EndsAtTheEnd) {
  temporary_folder folder;
  line_reader empty(input_file(folder.file("a", "")));
  std::string line;
  EXPECT_FALSE(empty.next_line(line));
  line_block block;
  EXPECT_FALSE(empty.next_block(block));
  line_reader header_only(input_file(folder.file("b", "header")));
  EXPECT_TRUE(header_only.next_line(line));
  EXPECT_FALSE(header_only.next_line(line));
  EXPECT_FALSE(header_only.next_block(block));
}

TEST(LineReader, RefusesAHeaderLineWithoutEnd) {
  temporary_folder folder;
  for (const bool packed : {false, true})
    for (const std::size_t size : {line_reader::block_bytes, std::size_t{1'000'000}}) {
      const std::string text = "first\n" + std::string(size, 'x');
      line_reader reader(input_file(folder.file("a", packed ? gzipped(text) : text)));
      std::string line;
      ASSERT_TRUE(reader.next_line(line));
      try {
        reader.next_line(line);
        ADD_FAILURE() << size;
      } catch (const parse_error& e) {
        EXPECT_TRUE(std::string(e.what()).ends_with(":2: a line of 262144 bytes or more")) << e.what();
      }
    }
}

TEST(ForEachBlock, ThrowsTheFirstFailureOfTheFile) {
  temporary_folder folder;
  const std::string text = strange_text(3, 200000, false);
  for (const bool packed : {false, true})
    for (const int threads : {1, 4}) {
      line_reader reader(input_file(folder.file("a", packed ? gzipped(text) : text)));
      try {
        for_each_block(reader, threads, [](const line_block& block) {
          if (block.number % 4 == 3) throw value_error(std::to_string(block.number));
        });
        FAIL();
      } catch (const value_error& e) {
        EXPECT_STREQ(e.what(), "3");
      }
    }
}

TEST(ForEachBlock, PassesOnABrokenStream) {
  temporary_folder folder;
  const std::string packed = gzipped(strange_text(4, 200000, false));
  for (const int threads : {1, 4}) {
    line_reader reader(input_file(folder.file("a", packed.substr(0, packed.size() / 2))));
    EXPECT_THROW(for_each_block(reader, threads, [](const line_block&) {}), parse_error);
  }
}

}  // namespace
}  // namespace vouch
