#include "classify_files.hpp"

#include <fmt/format.h>

#include <string_view>

#include <vouch/text/file.hpp>

#include "command_line.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

namespace fp = vouch::fingerprint;

}  // namespace

void append_list(const std::string& list, std::vector<std::string>& files) {
  for (std::string& name : fp::read_names(list)) files.push_back(std::move(name));
}

fp::raw_size parse_raw_size(const std::string& text) {
  if (text.empty()) return {};
  const set_shape shape = parse_shape("--raw", text);
  if (shape.rows > fp::most_pixels_a_side || shape.cols > fp::most_pixels_a_side)
    throw usage_error(
        fmt::format("option --raw: no image has more than {} pixels a side", fp::most_pixels_a_side));
  return {static_cast<int>(shape.rows), static_cast<int>(shape.cols)};
}

json score_json(const fp::score& s) {
  json confusion = json::array(), rejections = json::array();
  for (const auto& row : s.confusion) confusion.push_back(row);
  for (const fp::rejection& r : s.rejections)
    rejections.push_back({{"rejected", r.rejected}, {"error", r.error}});
  return {{"scored", s.scored},
          {"wrong", s.wrong},
          {"unclassified", s.unclassified},
          {"error", known_if(s.scored > 0, static_cast<double>(s.wrong) / static_cast<double>(s.scored))},
          {"classes", fp::class_letters},
          {"confusion", confusion},
          {"rejections", rejections}};
}

void log_score(const console& log, const fp::score& s) {
  if (s.scored == 0) {
    log.warning("no print has a known class");
    return;
  }
  log.line(fmt::format("{} of {} wrong: {:.2f} %", s.wrong, s.scored,
                       100 * static_cast<double>(s.wrong) / static_cast<double>(s.scored)));
  std::string head = "  class";
  for (const char c : std::string_view(fp::class_letters)) head += fmt::format("{:>8}", c);
  log.line(head + "   (answers)");
  for (std::size_t k = 0; k < fp::classes; ++k) {
    std::string row = fmt::format("  {:<5}", fp::class_letters[k]);
    for (const std::int64_t count : s.confusion[k]) row += fmt::format("{:>8}", count);
    log.line(row);
  }
  log.line("  rejected    error of the rest");
  for (const fp::rejection& r : s.rejections)
    log.line(fmt::format("  {:6.2f} %    {:.2f} %", 100 * r.rejected, 100 * r.error));
}

}  // namespace vouch::cli
