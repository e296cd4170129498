// Coordinate files parsed by a GPU against the CPU's reader, bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <optional>
#include <string>

#include <data.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/matrix_market_parts.hpp>

#include "devices.hpp"
#include "dice.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

using testing::dice;

void expect_same(const csr<double>& A, const csr<double>& B) {
  EXPECT_EQ(A.rows, B.rows);
  EXPECT_EQ(A.cols, B.cols);
  EXPECT_EQ(A.row_ptr.to_vector(), B.row_ptr.to_vector());
  EXPECT_EQ(A.col.to_vector(), B.col.to_vector());
  const std::vector<double> a = A.val.to_vector(), b = B.val.to_vector();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[k]), std::bit_cast<std::uint64_t>(b[k])) << k;
}

struct outcome {
  std::optional<csr<double>> A;
  std::string complaint;
};

template <class Read>
outcome outcome_of(Read read) {
  try {
    return {read(), ""};
  } catch (const parse_error& e) {
    return {std::nullopt, e.what()};
  }
}

// What the GPU alone makes of a file, however small; nothing where it leaves it to the CPU.
std::optional<csr<double>> by_gpu(const device& gpu, const std::string& path) {
  if constexpr (built_with_cuda) {
    line_reader reader{input_file(path)};
    const matrix_market_header header = take_matrix_market_header(reader);
    if (header.format == matrix_format::coordinate && reader.file().random_access())
      return read_coordinates_cuda(gpu, reader.file(), reader.offset(), header);
  }
  return std::nullopt;
}

// Both ways, and whether the GPU took the file.
bool compare(const device& gpu, const std::string& path) {
  const outcome cpu = outcome_of([&] { return read_csr(device::cpu(2), path); });
  const outcome any = outcome_of([&] { return read_csr(gpu, path); });
  EXPECT_EQ(any.complaint, cpu.complaint);
  if (any.A && cpu.A) {
    EXPECT_TRUE(any.A->where().is_cuda());
    expect_same(*any.A, *cpu.A);
  }
  std::optional<csr<double>> alone;
  try {
    alone = by_gpu(gpu, path);
  } catch (const parse_error&) {  // of the header, which is the CPU's
  }
  if (!alone) return false;
  EXPECT_TRUE(cpu.A.has_value()) << "accepted, but " << cpu.complaint;
  if (cpu.A) expect_same(*alone, *cpu.A);
  return true;
}

std::string real_value(dice& d, bool rare) {
  std::string text = d.one_in(3) ? "-" : d.one_in(30) ? "+" : "";
  const std::uint64_t integral = d.below(5);
  const std::uint64_t decimals = d.one_in(3) ? (rare ? 16 : 13) + d.below(3) : d.below(8);
  for (std::uint64_t k = 0; k < integral; ++k) text += static_cast<char>('0' + d.below(10));
  if (decimals > 0 || integral == 0) text += '.';
  for (std::uint64_t k = 0; k < decimals; ++k) text += static_cast<char>('0' + d.below(10));
  if (decimals == 0 && integral == 0) text += '5';
  if (d.one_in(3)) {
    text += d.one_in(2) ? "e" : "E";
    text += d.one_in(2) ? "-" : d.one_in(2) ? "+" : "";
    text += std::to_string(d.below(rare && d.one_in(4) ? 290 : 10));
  }
  if (rare && d.one_in(9))
    text = "0.3333333333333333148296162562473909929394721984863281249" + std::to_string(d.below(9));
  return text;
}

std::string value(dice& d, const std::string& field, bool rare) {
  if (field == "pattern") return "";
  if (field == "real") return " " + real_value(d, rare);
  std::uint64_t most = 10;
  for (std::uint64_t k = d.below(17); k > 0; --k) most *= 10;
  return (d.one_in(2) ? " -" : " ") + std::to_string(d.below(most));
}

// A sound file: in any order, places more than once, lines of any length.
std::string make_file(dice& d, std::uint64_t most_entries, bool plain) {
  const std::string fields[] = {"real", "real", "integer", "pattern"};
  const std::string symmetries[] = {"general", "general", "symmetric", "skew-symmetric"};
  const std::string field = fields[d.below(4)];
  const std::string symmetry = symmetries[d.below(field == "pattern" ? 3 : 4)];  // a pattern cannot be skew
  const bool square = symmetry != "general", skew = symmetry == "skew-symmetric";
  const std::uint64_t rows = 2 + d.below(d.one_in(20) ? 3000000 : 60);
  const std::uint64_t cols = square ? rows : 1 + d.below(d.one_in(3) ? 2000000000 : 60);
  const std::uint64_t count = 1 + d.below(most_entries);
  const bool loose = d.one_in(3), windows = d.one_in(4), rare = !plain && d.one_in(2), sorted = d.one_in(4);
  const std::string feed = windows ? "\r\n" : "\n";
  std::string text = "%%MatrixMarket matrix coordinate " + field + " " + symmetry + feed + "% made\n" +
                     std::to_string(rows) + " " + std::to_string(cols) + " " + std::to_string(count) + feed;
  for (std::uint64_t k = 0; k < count; ++k) {
    std::uint64_t i = sorted ? k * rows / count : d.below(rows), j = d.below(cols);
    if (square && i < j) std::swap(i, j);
    if (skew && i == j) i == 0 ? ++i : --j;
    if (loose && d.one_in(5)) text += "  ";
    if (loose && d.one_in(9)) text += "000";
    text += std::to_string(i + 1) + (loose && d.one_in(5) ? "   " : " ") + std::to_string(j + 1) +
            value(d, field, rare) + feed;
    if (!plain && d.one_in(3 * most_entries)) text += feed;
  }
  if (d.one_in(5)) text.pop_back();
  return text;
}

void mutate(std::string& text, dice& d) {
  static const std::string bytes = "0123456789-+. \t\r\n%exE\0\xff";
  const std::size_t header = text.find('\n', text.find("% made")) + 1;
  for (std::uint64_t k = 1 + d.below(2); k > 0 && header < text.size(); --k) {
    const std::size_t at = header + d.below(text.size() - header);
    switch (d.below(4)) {
      case 0:
        text[at] = bytes[d.below(bytes.size())];
        break;
      case 1:
        text.insert(at, 1, bytes[d.below(bytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + d.below(4));
        break;
      default:
        if (d.one_in(4)) text.resize(at);
    }
  }
}

TEST(MatrixMarketOnGpu, SoundFiles) {
  VOUCH_NEEDS_GPU();
  const testing::temporary_folder folder;
  for (const device& gpu : testing::gpus())
    for (std::uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
      dice d(seed);
      const std::uint64_t entries = seed % 10 == 0 ? 20000 : 300;
      const bool plain = d.one_in(2);
      const std::string text = make_file(d, entries, plain);
      SCOPED_TRACE(text.substr(0, 3000));
      const bool taken = compare(gpu, folder.file("A.mtx", text));
      if (plain) {
        EXPECT_TRUE(taken);
      }
    }
}

TEST(MatrixMarketOnGpu, BrokenFiles) {
  VOUCH_NEEDS_GPU();
  const testing::temporary_folder folder;
  for (const device& gpu : testing::gpus())
    for (std::uint64_t seed = 10000; seed < 11500 && !::testing::Test::HasFailure(); ++seed) {
      dice d(seed);
      std::string text = make_file(d, 60, false);
      mutate(text, d);
      SCOPED_TRACE(text);
      compare(gpu, folder.file("A.mtx", text));
    }
}

// Lines of every length at every place of a thread's strip and a block's tile.
TEST(MatrixMarketOnGpu, LinesAcrossBorders) {
  VOUCH_NEEDS_GPU();
  const testing::temporary_folder folder;
  for (const device& gpu : testing::gpus())
    for (const std::size_t blanks : {0, 1, 50, 63, 200, 20000}) {
      std::string text;
      std::int64_t count = 0;
      for (; text.size() < 70000; ++count)
        text += std::string(count % 7 == 3 ? blanks : 0, ' ') + std::to_string(count % 50 + 1) + " " +
                std::to_string(count % 31 + 1) + " " + std::to_string(count) + ".25\n";
      text = "%%MatrixMarket matrix coordinate real general\n50 31 " + std::to_string(count) + "\n" + text;
      EXPECT_TRUE(compare(gpu, folder.file("A.mtx", text))) << blanks;
    }
}

// Halfway cases, the edges of exact arithmetic and of the exponents that a GPU rounds itself.
TEST(MatrixMarketOnGpu, HardRoundings) {
  VOUCH_NEEDS_GPU();
  const testing::temporary_folder folder;
  std::vector<std::string> values{"9007199254740993",
                                  "9007199254740993.0",
                                  "9007199254740992.5",
                                  "1.7976931348623157e308",
                                  "4.9406564584124654e-324",
                                  "2.2250738585072011e-308",
                                  "-0",
                                  "-0.0e5",
                                  "18446744073709551615",
                                  "9999999999999999999",
                                  "1e22",
                                  "1e23",
                                  "1e27",
                                  "1e28",
                                  "1e-27",
                                  "1e-28",
                                  "0.1e-400"};
  dice d(7);
  for (int k = 0; k < 20000; ++k) {
    std::string text = std::to_string(1 + d.below(9)) + ".";
    for (std::uint64_t digits = d.below(19); digits > 0; --digits) text += static_cast<char>('0' + d.below(10));
    values.push_back(text + "e" + std::to_string(static_cast<int>(d.below(40)) - 15));
    // The middle between two doubles, and its neighbours in the last digit.
    const std::uint64_t middle = (std::uint64_t{1} << 53) + 2 * d.below(std::uint64_t{1} << 52) + 1;
    values.push_back(std::to_string(middle));
    values.push_back(std::to_string(middle) + (d.one_in(2) ? ".00" : ".01"));
  }
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(values.size()) + " 1 " +
                     std::to_string(values.size()) + "\n";
  for (std::size_t k = 0; k < values.size(); ++k) text += std::to_string(k + 1) + " 1 " + values[k] + "\n";
  for (const device& gpu : testing::gpus()) EXPECT_TRUE(compare(gpu, folder.file("A.mtx", text)));
}

TEST(MatrixMarketOnGpu, Collections) {
  VOUCH_NEEDS_GPU();
  VOUCH_NEEDS_DATA(testing::data_file("matrices"));
  for (const char* folder : {"matrices", "parser"}) {
    const std::string path = testing::data_file(folder);
    if (path.empty()) continue;
    for (const device& gpu : testing::gpus())
      for (const auto& file : std::filesystem::directory_iterator(path)) {
        SCOPED_TRACE(file.path().string());
        if (file.path().extension() == ".mtx") compare(gpu, file.path().string());
      }
  }
}

TEST(MatrixMarketOnGpu, OtherFormsAreTheCpus) {
  VOUCH_NEEDS_GPU();
  const testing::temporary_folder folder;
  const std::string sound = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n";
  for (const device& gpu : testing::gpus()) {
    EXPECT_TRUE(compare(gpu, folder.file("A.mtx", sound)));
    EXPECT_FALSE(compare(gpu, folder.file("A.mtx.gz", testing::gzipped(sound))));
    EXPECT_FALSE(compare(gpu, folder.file("B.mtx", sound + "\n")));
    EXPECT_FALSE(compare(gpu, folder.file("C.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2\n")));
    EXPECT_FALSE(compare(gpu, folder.file("D.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 0\n")));
    EXPECT_THROW(read_csr(gpu, folder.path("none.mtx")), file_error);
  }
}

}  // namespace
}  // namespace vouch
