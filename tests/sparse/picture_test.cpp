#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/sparse/picture.hpp>

#include "matrices.hpp"

namespace vouch {
namespace {

using testing::entries;
using testing::matrix_of;

const device cpu = device::cpu(3);

entries diagonal(std::int64_t n) {
  entries list;
  for (std::int64_t i = 0; i < n; ++i) list[{i, i}] = 1;
  return list;
}

TEST(picture, a_small_diagonal_in_every_style) {
  const csr<double> A = matrix_of(4, 4, diagonal(4));
  EXPECT_EQ(pattern_text<double>(cpu, A, picture_style::braille, 20),
            "┌──┐\n"
            "│⠑⢄│\n"
            "└──┘\n");
  EXPECT_EQ(pattern_text<double>(cpu, A, picture_style::ascii, 20),
            "+----+\n"
            "|@@  |\n"
            "|  @@|\n"
            "+----+\n");
  EXPECT_EQ(pattern_text<double>(cpu, A, picture_style::shades, 20),
            "┌────┐\n"
            "│██  │\n"
            "│  ██│\n"
            "└────┘\n");
}

TEST(picture, denser_cells_are_darker) {
  entries list = diagonal(200);
  for (std::int64_t i = 0; i < 100; ++i)
    for (std::int64_t j = 0; j < 100; ++j) list[{i, j}] = 1;
  EXPECT_EQ(pattern_text<double>(cpu, matrix_of(200, 200, list), picture_style::ascii, 6),
            "+----+\n"
            "|@@  |\n"
            "|  ..|\n"
            "+----+\n");
}

TEST(picture, sizes_and_empty_matrices) {
  EXPECT_EQ(pattern_text<double>(cpu, matrix_of(0, 0, {}), picture_style::ascii, 10), "++\n++\n");
  EXPECT_EQ(pattern_text<double>(cpu, matrix_of(2, 2, {}), picture_style::ascii, 10), "+--+\n|  |\n+--+\n");
  const std::string tall = pattern_text<double>(cpu, matrix_of(100000, 2, {}), picture_style::ascii, 10);
  EXPECT_LE(std::count(tall.begin(), tall.end(), '\n'), 3 * 2 + 1 + 2);
  const std::string wide = pattern_text<double>(cpu, matrix_of(2, 100000, {}), picture_style::braille, 30);
  EXPECT_EQ(std::count(wide.begin(), wide.end(), '\n'), 3);
  EXPECT_THROW(pattern_text<double>(cpu, matrix_of(2, 2, {}), picture_style::ascii, 2), value_error);
}

TEST(picture, does_not_depend_on_threads) {
  const csr<double> A = poisson_2d(cpu, 30, 30);
  EXPECT_EQ(pattern_text<double>(device::cpu(1), A, picture_style::shades, 40),
            pattern_text<double>(device::cpu(5), A, picture_style::shades, 40));
}

TEST(picture, svg_is_one_document_with_a_cell_for_each_entry) {
  const std::string svg = pattern_svg<double>(cpu, matrix_of(3, 3, diagonal(3)), "a<b&c");
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
  EXPECT_NE(svg.find("<title>a&lt;b&amp;c</title>"), std::string::npos);
  EXPECT_NE(svg.find("d=\"M0 0h1v1h-1zM1 1h1v1h-1zM2 2h1v1h-1z\""), std::string::npos);
  EXPECT_NE(svg.find("3 by 3, 3 entries"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  EXPECT_NE(pattern_svg<double>(cpu, matrix_of(0, 0, {}), "empty").find("0 by 0"), std::string::npos);
}

}  // namespace
}  // namespace vouch
