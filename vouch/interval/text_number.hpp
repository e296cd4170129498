// vouch/interval/text_number.hpp -- numbers and interval literals as exact numbers; private to the text forms.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <vouch/interval/decorated.hpp>
#include <vouch/interval/exact_number.hpp>

namespace vouch::rounding {

/// What a text says: bounds as exact numbers, none for an infinite one.
struct literal {
  enum class kind { bounds, empty, nai } what = kind::bounds;
  std::optional<exact_number> lo;
  std::optional<exact_number> hi;
  std::optional<decoration> mark;
};

/// The front of the text in quotes, on one line.
std::string quoted_front(std::string_view text);

/// Throws parse_error and value_error as parse_interval says.
literal read_literal(std::string_view text);

}  // namespace vouch::rounding
