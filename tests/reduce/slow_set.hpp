// tests/reduce/slow_set.hpp -- a slow and obvious reader of matrix sets, to compare with.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <vouch/reduce/matrix_set.hpp>

namespace vouch::testing {

__extension__ typedef __float128 quad;

struct slow_value {
  quad value = 0;  // an integer or a double, exactly
  bool real = false;
};

struct slow_set {
  std::int64_t bad_line = 0;  // of the first fault, from 1; 0: none
  std::int64_t rows = 0, cols = 0;
  std::vector<std::vector<slow_value>> matrices;
};

inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line)
    if (c == ' ' || c == '\t')
      words.emplace_back();
    else
      words.back() += c;
  std::erase(words, "");
  return words;
}

inline bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

inline std::optional<slow_value> slow_number(const std::string& word) {
  const std::string bare = word.substr(!word.empty() && (word[0] == '-' || word[0] == '+'));
  const bool negative = word[0] == '-';
  if (all_digits(bare)) {
    const quad limit = negative ? 0x1p63 : 0x1p63 - 1;
    quad magnitude = 0;
    for (const char c : bare) {
      magnitude = magnitude * 10 + (c - '0');
      if (magnitude > limit) return std::nullopt;
    }
    return slow_value{negative ? -magnitude : magnitude, false};
  }
  const std::size_t power = std::min(bare.find_first_of("eE"), bare.size());
  std::string mantissa = bare.substr(0, power);
  if (const std::size_t point = mantissa.find('.'); point != std::string::npos) mantissa.erase(point, 1);
  if (!all_digits(mantissa)) return std::nullopt;
  if (power < bare.size()) {
    const std::string exponent = bare.substr(power + 1);
    if (!all_digits(exponent.substr(!exponent.empty() && (exponent[0] == '-' || exponent[0] == '+'))))
      return std::nullopt;
  }
  const double value = std::strtod(word.c_str(), nullptr);
  if (value > 1.7976931348623157e308 || value < -1.7976931348623157e308) return std::nullopt;
  return slow_value{value, true};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

inline slow_set read_slowly(const std::string& text) {
  slow_set set;
  const std::vector<std::string> lines = lines_of(text);
  const auto refuse = [&](std::size_t line) {
    set.bad_line = static_cast<std::int64_t>(line) + 1;
    return set;
  };
  std::size_t k = 0;
  while (k < lines.size() && words_of(lines[k]).empty()) ++k;
  if (k == lines.size()) return refuse(lines.size() - 1);
  const std::vector<std::string> header = words_of(lines[k]);
  const std::optional<slow_value> count = slow_number(header[0]);
  if (header.size() != 1 || !count || count->real || count->value <= 0) return refuse(k);

  const auto is_separator = [](const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    return !words.empty() && words[0][0] == '*';
  };
  const auto blank_behind = [&](std::size_t line) {
    return std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(line) + 1, lines.end(),
                       [](const std::string& l) { return words_of(l).empty(); });
  };
  // The first matrix says what shape all have.
  std::size_t first = k + 1;
  while (first < lines.size() && !is_separator(lines[first])) ++first;
  for (std::size_t l = first + 1; l < lines.size() && !is_separator(lines[l]); ++l) {
    const auto words = static_cast<std::int64_t>(words_of(lines[l]).size());
    if (words > 0 && set.rows++ == 0) set.cols = words;
  }

  bool inside = false;
  std::int64_t rows = 0;
  for (std::size_t l = k + 1; l < lines.size(); ++l) {
    const std::vector<std::string> words = words_of(lines[l]);
    if (words.empty()) continue;
    if (words[0][0] == '*') {
      if (inside && (rows == 0 || rows != set.rows)) return refuse(l);
      if (words.size() != 1 || words[0] != "***") return refuse(l);
      if (static_cast<quad>(set.matrices.size()) == count->value) {
        if (!blank_behind(l)) return refuse(l);
        break;
      }
      inside = true;
      rows = 0;
      set.matrices.emplace_back();
      continue;
    }
    if (!inside || rows == set.rows || static_cast<std::int64_t>(words.size()) != set.cols) return refuse(l);
    ++rows;
    for (const std::string& word : words) {
      const std::optional<slow_value> value = slow_number(word);
      if (!value) return refuse(l);
      set.matrices.back().push_back(*value);
    }
  }
  const bool ends_inside = inside && (rows == 0 || rows != set.rows);
  // A separator may end the file.
  if (ends_inside && rows == 0) set.matrices.pop_back();
  if ((ends_inside && rows > 0) || set.matrices.empty() ||
      static_cast<quad>(set.matrices.size()) != count->value)
    return refuse(lines.size() - 1);
  return set;
}

}  // namespace vouch::testing
