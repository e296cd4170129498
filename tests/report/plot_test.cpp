#include <gtest/gtest.h>

#include <algorithm>
#include <cli/report/plot.hpp>
#include <cmath>
#include <limits>
#include <regex>
#include <vouch/core/error.hpp>

namespace vouch::plot {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

line_plot one_line(std::vector<double> x, std::vector<double> y, scale kind = scale::linear) {
  line_plot p;
  p.y.kind = kind;
  p.lines.push_back({"line", std::move(x), std::move(y), true, false, false});
  return p;
}

// The coordinates of the only data path, as drawn.
std::vector<std::pair<double, double>> points(const std::string& svg) {
  const std::size_t at = svg.rfind("<path d=\"M");
  const std::string path = svg.substr(at + 9, svg.find('"', at + 9) - at - 9);
  std::vector<std::pair<double, double>> all;
  const std::regex pair("[ML]([-0-9.]+) ([-0-9.]+)");
  for (auto m = std::sregex_iterator(path.begin(), path.end(), pair); m != std::sregex_iterator(); ++m)
    all.emplace_back(std::stod((*m)[1]), std::stod((*m)[2]));
  return all;
}

TEST(plot, decades_of_a_logarithmic_axis_are_equally_far_apart) {
  const auto at = points(to_svg(one_line({0, 1, 2, 3}, {1, 1e-2, 1e-4, 1e-6}, scale::logarithmic)));
  ASSERT_EQ(at.size(), 4u);
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_NEAR(at[k].second - at[k - 1].second, at[1].second - at[0].second, 0.11);
    EXPECT_GT(at[k].second, at[k - 1].second);  // smaller is lower
    EXPECT_GT(at[k].first, at[k - 1].first);
  }
}

TEST(plot, ticks_are_round_and_cover_the_data) {
  const std::string svg = to_svg(one_line({0, 8617}, {0, 1}));
  for (const char* label : {">0<", ">2000<", ">4000<", ">6000<", ">8000<"})
    EXPECT_EQ(count(svg, label) > 0, true) << label;
  EXPECT_EQ(count(to_svg(one_line({0, 63000}, {0, 1})), ">20\u2009000<"), 1);
}

TEST(plot, what_cannot_be_shown_leaves_a_gap) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = to_svg(one_line({0, 1, 2, 3, 4}, {1, 0.1, 0, 0.1, nan}, scale::logarithmic));
  const std::size_t at = svg.rfind("<path d=\"M");
  EXPECT_EQ(count(svg.substr(at, svg.find('"', at + 9) - at), "M"), 2);
  EXPECT_EQ(count(svg, "nan"), 0);
  EXPECT_EQ(count(svg, "inf"), 0);
}

TEST(plot, a_long_series_stays_small_and_keeps_its_extremes) {
  std::vector<double> x, y;
  for (int i = 0; i < 200000; ++i) {
    x.push_back(i);
    y.push_back(2 + std::sin(i * 0.37));
  }
  y[77777] = 9;  // one outlier must stay visible
  const std::string svg = to_svg(one_line(x, y));
  EXPECT_LT(svg.size(), 60000u);
  const auto at = points(svg);
  const auto top = std::min_element(at.begin(), at.end(), [](auto a, auto b) { return a.second < b.second; });
  std::vector<double> heights;
  for (const auto& p : at) heights.push_back(p.second);
  std::nth_element(heights.begin(), heights.begin() + 1, heights.end());
  EXPECT_LT(top->second, heights[1] - 50);
}

TEST(plot, text_is_escaped_and_legend_lists_the_named) {
  line_plot p = one_line({0, 1}, {0, 1});
  p.title = "A & B <script>";
  p.lines[0].name = "first \"line\"";
  p.lines.push_back({"", {0, 1}, {1, 0}, true, false, false});
  p.references.push_back({0.5, "half"});
  const std::string svg = to_svg(p);
  EXPECT_EQ(count(svg, "<script>"), 0);
  EXPECT_EQ(count(svg, "A &amp; B &lt;script&gt;"), 2);  // as the title of the drawing, too
  EXPECT_EQ(count(svg, "first &quot;line&quot;"), 1);
  EXPECT_EQ(count(svg, ">half<"), 1);
}

TEST(plot, nothing_to_show_is_still_a_drawing) {
  EXPECT_EQ(to_svg(line_plot{}).find("<svg "), 0u);
  EXPECT_EQ(count(to_svg(one_line({5}, {1e-3}, scale::logarithmic)), "nan"), 0);
  EXPECT_EQ(count(to_svg(one_line({5}, {5})), "nan"), 0);
}

TEST(plot, lengths_must_agree) { EXPECT_THROW(to_svg(one_line({1, 2}, {1})), value_error); }

}  // namespace
}  // namespace vouch::plot
