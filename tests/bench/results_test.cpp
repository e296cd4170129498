#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include <bench/html_report.hpp>
#include <bench/results.hpp>

namespace vouch::bench {
namespace {

suite_results small_results() {
  suite_results results;
  results.suite = "cg";
  results.title = "Conjugate <gradients>";
  results.machine.cpu.name = "A & B";
  results.rows = {
      {"a", "cpu", "double", "time", 2e-6, "s", 1e-6, 4e-6, 2.0, 3e-6, true},
      {"a", "gpu", "double", "time", 4e-6, "s", {}, {}, {}, 3e-6, false},
      {"b", "gpu", "double", "time", {}, "s", {}, {}, {}, 3e-6, {}},
      {"b", "gpu", "double", "iterations", std::numeric_limits<double>::quiet_NaN(), "1", {}, {}, {}, {}, {}},
  };
  text_table table("T", {{"name", true}, {"value"}});
  table.add({"<x>", "1"});
  results.sections = {
      {"Bars", {"a paragraph"}, {table, bars_table(results.rows)}, {{"a drawing", "<svg></svg>"}}}};
  return results;
}

TEST(results, every_row_has_every_key_and_null_for_what_is_unknown) {
  const nlohmann::ordered_json object = to_json(small_results());
  EXPECT_EQ(object.at("schema"), "vouch.bench/1");
  EXPECT_EQ(object.at("suite"), "cg");
  EXPECT_TRUE(object.at("device").at("gpu").is_null());
  const std::set<std::string> wanted{"case",  "device", "precision", "metric", "value", "unit",
                                     "floor", "peer",   "ratio",     "bar",    "pass"};
  ASSERT_EQ(object.at("rows").size(), 4U);
  for (const auto& row : object.at("rows")) {
    std::set<std::string> keys;
    for (const auto& item : row.items()) keys.insert(item.key());
    EXPECT_EQ(keys, wanted);
  }
  EXPECT_EQ(object.at("rows")[0].at("value"), 2e-6);
  EXPECT_EQ(object.at("rows")[0].at("pass"), true);
  EXPECT_TRUE(object.at("rows")[2].at("value").is_null());
  EXPECT_TRUE(object.at("rows")[3].at("value").is_null()) << "JSON knows no NaN";
}

TEST(results, bars_are_counted) {
  EXPECT_EQ(bars_text(small_results().rows), "1 of 2 bars reached, 1 not measured");
  EXPECT_EQ(bars_text({}), "no bars in this run");
  EXPECT_EQ(bars_table(small_results().rows).rows().size(), 3U);
}

TEST(results, text_has_every_section) {
  EXPECT_EQ(
      to_text(small_results()).find("Bars\n====\n\na paragraph\n\nT\nname  value\n----  -----\n<x>       1\n"),
      0U);
}

TEST(results, html_needs_nothing_else_and_escapes) {
  const std::string page = to_html(small_results());
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0U);
  for (const char* outside : {"<script", "<link", "src=", "@import", "url(", "http:", "https:"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("Conjugate &lt;gradients&gt;"), std::string::npos);
  EXPECT_NE(page.find("&lt;x&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<x>"), std::string::npos);
  EXPECT_NE(page.find("<svg></svg>"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(results, html_closes_what_it_opens) {
  const std::string page = to_html(small_results());
  const auto count = [&](const std::string& tag) {
    int found = 0;
    for (std::size_t at = page.find(tag); at != std::string::npos; at = page.find(tag, at + 1)) ++found;
    return found;
  };
  for (const char* tag : {"table", "tr", "section", "tbody", "caption", "body", "html", "figure"})
    EXPECT_EQ(count(std::string("<") + tag + ">") + count(std::string("<") + tag + " "),
              count(std::string("</") + tag + ">"))
        << tag;
}

}  // namespace
}  // namespace vouch::bench
