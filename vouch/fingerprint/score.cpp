#include <vouch/fingerprint/score.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch::fingerprint {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Of the prints in order of falling confidence, the share that is wrong among all but the last.
rejection after_rejecting(std::span<const bool> right_by_confidence, double share) {
  const auto n = static_cast<double>(right_by_confidence.size());
  const auto left = right_by_confidence.size() - static_cast<std::size_t>(std::floor(share * n));
  const auto wrong = std::ranges::count(right_by_confidence.first(left), false);
  return {1 - static_cast<double>(left) / n,
          left == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(left)};
}

// A name and a value on each line.
template <class Parse>
std::map<std::string, int> read_values(const std::string& path, const char* expected, const Parse& parse) {
  const ieee_environment here;
  std::map<std::string, int> values;
  line_reader file{input_file(path)};
  for (std::string whole; file.next_line(whole);) {
    const std::string_view line = without_blanks(whole);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t blank = line.find_last_of(" \t");
    const std::optional<int> value =
        blank == std::string_view::npos ? std::nullopt : parse(line.substr(blank + 1));
    if (!value)
      throw parse_error(path, file.lines(), 0, std::string("a line is a file's name, a blank and ") + expected);
    const std::string name = label_name(std::string(without_blanks(line.substr(0, blank))));
    const auto [at, is_new] = values.emplace(name, *value);
    if (!is_new && at->second != *value)
      throw parse_error(path, file.lines(), 0, quoted(name) + " stands further up, otherwise");
  }
  return values;
}

}  // namespace

std::string label_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> read_names(const std::string& path) {
  std::vector<std::string> names;
  line_reader file{input_file(path)};
  for (std::string line; file.next_line(line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::map<std::string, int> read_labels(const std::string& path) {
  return read_values(path, "one of A, L, R, S, T and W", [](std::string_view word) -> std::optional<int> {
    const int known = word.size() == 1 ? class_of(word.front()) : -1;
    return known < 0 ? std::nullopt : std::optional(known);
  });
}

std::map<std::string, int> read_groups(const std::string& path) {
  return read_values(path, "a whole number", [](std::string_view word) -> std::optional<int> {
    const auto n = parse_integer(word.data(), word.data() + word.size());
    const bool good = n.error == number_error::none && n.end == word.data() + word.size() && n.value >= 0 &&
                      n.value <= std::numeric_limits<int>::max();
    return good ? std::optional(static_cast<int>(n.value)) : std::nullopt;
  });
}

score score_results(const validation& answers) {
  std::vector<classification> results(answers.classes.size());
  for (std::size_t i = 0; i < results.size(); ++i) combine(answers.outputs[i], false, results[i]);
  return score_results(results, std::vector<int>(answers.classes.begin(), answers.classes.end()));
}

score score_results(std::span<const classification> results, std::span<const int> truths) {
  const ieee_environment here;
  require_elements("score_results", "truths", truths.size(), results.size(), 1);
  score s;
  std::vector<std::size_t> scored;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (truths[i] < 0) continue;
    scored.push_back(i);
    s.unclassified += results[i].pattern < 0;
    s.wrong += results[i].pattern != truths[i];
    if (results[i].pattern >= 0)
      ++s.confusion[static_cast<std::size_t>(truths[i])][static_cast<std::size_t>(results[i].pattern)];
  }
  s.scored = static_cast<std::int64_t>(scored.size());
  std::ranges::stable_sort(
      scored, [&](std::size_t a, std::size_t b) { return results[a].confidence > results[b].confidence; });
  const auto right = std::make_unique<bool[]>(scored.size());
  for (std::size_t i = 0; i < scored.size(); ++i) right[i] = results[scored[i]].pattern == truths[scored[i]];
  if (!scored.empty())
    for (const double share : {0.0, 0.05, 0.10, 0.15, 0.20, 0.30})
      s.rejections.push_back(after_rejecting({right.get(), scored.size()}, share));
  return s;
}

}  // namespace vouch::fingerprint
