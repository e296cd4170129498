// vouch/text/tokens.hpp -- the words of one line, with their columns, for headers and for lines in error.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A word and the column, from 1, where it starts.
struct token {
  std::string_view text;
  std::int64_t column = 0;
};

/// Takes words off a line: they are separated by blanks and tabs, nothing else.
class tokens {
 public:
  explicit tokens(std::string_view line) : line_(line) {}
  /// False at the end of the line; word is then empty, its column one past the end.
  bool next(token& word);

 private:
  std::string_view line_;
  std::size_t at_ = 0;
};

/// A word as it can stand in a message: quoted, unprintable bytes as \xNN, cut when long.
std::string quoted(std::string_view word);

/// A text as it can stand in XML or HTML, between tags or in quotes; control characters that have no place there are
/// left out.
std::string escaped_xml(std::string_view text);

/// Whether two words agree but for the case of their ASCII letters.
bool same_word(std::string_view a, std::string_view b);

/// The value that is called `word` where words[k] is the name of value k, in letters of either size; nothing where it is
/// none of them.
template <class Kind, std::size_t Count>
std::optional<Kind> find_word(const std::array<std::string_view, Count>& words, std::string_view word) {
  for (std::size_t k = 0; k < Count; ++k)
    if (same_word(words[k], word)) return static_cast<Kind>(k);
  return std::nullopt;
}

/// What is wrong with a word that is no decimal number or beyond the doubles: "NaN is not allowed", ...
std::string not_a_number(std::string_view word);

}  // namespace vouch
