#include "html_report.hpp"

#include <fmt/format.h>

#include <vouch/core/config.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch::bench {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1c2128; --soft: #59636e; --line: #d1d9e0; --paper: #ffffff;
  --stripe: #f6f8fa; --good: #1a7f37; --bad: #cf222e; --accent: #0969da; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --paper: #0d1117; --stripe: #151b23;
    --good: #3fb950; --bad: #f85149; --accent: #4493f8; } }
body { margin: 0 auto; max-width: 78rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
p, nav, figcaption { color: var(--soft); }
a { color: var(--accent); }
.scroll { overflow-x: auto; margin: 1rem 0 1.5rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; font-size: .95rem; padding: .3rem 0; color: var(--ink); }
th { text-align: right; font-weight: 600; border-bottom: 2px solid var(--line); padding: .25rem .7rem; }
td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th.left, td.left { text-align: left; }
tbody tr:nth-child(even) { background: var(--stripe); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.note { font-size: .85rem; margin: .2rem 0; }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
)";

const char* mood(const std::string& cell) {
  if (cell == "reached") return "good";
  if (cell == "MISSED" || cell == "NO" || cell == "diverged" || cell == "breakdown") return "bad";
  return nullptr;
}

void append(std::string& out, const text_table& table) {
  out += fmt::format("<div class=\"scroll\"><table><caption>{}</caption>\n<thead><tr>",
                     escaped_xml(table.title()));
  for (const text_table::column& c : table.columns())
    out += fmt::format("<th{}>{}</th>", c.left ? " class=\"left\"" : "", escaped_xml(c.title));
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows()) {
    out += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::string classes = table.columns()[k].left ? "left" : "";
      if (const char* feeling = mood(row[k])) classes += fmt::format(" {}", feeling);
      out += classes.empty() ? fmt::format("<td>{}</td>", escaped_xml(row[k]))
                             : fmt::format("<td class=\"{}\">{}</td>", classes, escaped_xml(row[k]));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table>\n";
  for (const std::string& note : table.notes())
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped_xml(note));
  out += "</div>\n";
}

void append(std::string& out, const report_section& section, std::size_t number) {
  out += fmt::format("<section id=\"s{}\">\n<h2>{}</h2>\n", number, escaped_xml(section.title));
  for (const std::string& paragraph : section.paragraphs)
    out += fmt::format("<p>{}</p>\n", escaped_xml(paragraph));
  for (const figure& drawing : section.figures)
    out += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", drawing.svg,
                       escaped_xml(drawing.caption));
  for (const text_table& table : section.tables) append(out, table);
  out += "</section>\n";
}

}  // namespace

std::string to_html(const suite_results& results) {
  const std::string title = escaped_xml(results.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} - vouch "
      "bench</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p>vouch {}, suite {}. {}.</p>\n<nav>",
      title, style, title, version, escaped_xml(results.suite), bars_text(results.rows));
  for (std::size_t k = 0; k < results.sections.size(); ++k)
    out += fmt::format("{}<a href=\"#s{}\">{}</a>", k == 0 ? "" : " | ", k,
                       escaped_xml(results.sections[k].title));
  out += "</nav>\n";
  for (std::size_t k = 0; k < results.sections.size(); ++k) append(out, results.sections[k], k);
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace vouch::bench
