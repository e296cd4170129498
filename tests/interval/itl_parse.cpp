#include "interval/itl_parse.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include <vouch/core/error.hpp>

namespace vouch::testing {
namespace {

class parser {
 public:
  parser(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  std::vector<itl_assertion> file() {
    std::vector<itl_assertion> all;
    while (!at_end()) {
      if (word() != "testcase") fail("testcase");
      while (peek() != '{') ++at_;
      take('{');
      while (peek() != '}') all.push_back(assertion());
      take('}');
    }
    return all;
  }

 private:
  itl_assertion assertion() {
    itl_assertion one;
    skip();
    one.place = path_.substr(path_.rfind('/') + 1) + ':' + std::to_string(line());
    one.operation = word();
    while (peek() != '=') one.operands.push_back(value());
    take('=');
    auto* results = &one.results;
    while (peek() != ';') {
      if (peek() == '<') {
        take('<');
        take('=');
        results = &one.accurate;
      } else if (text_.compare(at_, 7, "signal ") == 0) {
        word();
        one.signal = word();
      } else {
        results->push_back(value());
      }
    }
    take(';');
    return one;
  }

  itl_value value() {
    switch (peek()) {
      case '[':
        return bracket();
      case '{':
        return array();
      case '"':
        return quoted();
      default:
        return number_or_word(word());
    }
  }

  itl_value quoted() {
    const auto end = text_.find('"', at_ + 1);
    if (end == std::string::npos) fail("a quotation mark");
    std::string inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {itl_kind::text, inside};
  }

  itl_value array() {
    std::vector<double> numbers;
    take('{');
    while (peek() != '}') {
      numbers.push_back(number(word()));
      if (peek() == ',') take(',');
    }
    take('}');
    return numbers;
  }

  itl_value bracket() {
    take('[');
    interval<double> x;
    const std::string first = word();
    if (first == "nai") {
      take(']');
      return decorated_interval<double>::nai();
    }
    if (first == "empty") {
      x = interval<double>::empty();
    } else if (first == "entire") {
      x = interval<double>::entire();
    } else {
      take(',');
      x = interval<double>::from_bounds(number(first), number(word()));
    }
    take(']');
    if (at_ == text_.size() || text_[at_] != '_') return x;
    ++at_;
    return decorated_interval<double>(x, itl_decoration(word()));
  }

  itl_value number_or_word(const std::string& text) {
    char* end = nullptr;
    const double parsed = std::strtod(text.c_str(), &end);
    if (*end == '\0') return parsed;
    return {itl_kind::word, text};
  }

  double number(const std::string& text) {
    char* end = nullptr;
    const double parsed = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') fail("a number");
    return parsed;
  }

  std::string word() {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string_view("+-._").find(text_[at_]) != std::string_view::npos))
      ++at_;
    if (at_ == start) fail("a word");
    return text_.substr(start, at_ - start);
  }

  void take(char c) {
    if (peek() != c) fail(std::string(1, c));
    ++at_;
  }

  char peek() {
    skip();
    if (at_ >= text_.size()) fail("more");
    return text_[at_];
  }

  bool at_end() {
    skip();
    return at_ >= text_.size();
  }

  void skip() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      if (text_.compare(at_, 2, "//") == 0)
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.compare(at_, 2, "/*") == 0)
        at_ = comment_end();
      else
        return;
    }
  }

  std::size_t comment_end() const {
    const auto end = text_.find("*/", at_);
    if (end == std::string::npos) fail("the end of a comment");
    return end + 2;
  }

  std::int64_t line() const {
    return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    throw parse_error(path_, line(), 0, "expected " + wanted);
  }

  std::string path_;
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

decoration itl_decoration(const std::string& word) {
  static const std::map<std::string, decoration> decorations{{"ill", decoration::ill},
                                                             {"trv", decoration::trv},
                                                             {"def", decoration::def},
                                                             {"dac", decoration::dac},
                                                             {"com", decoration::com}};
  return decorations.at(word);
}

std::vector<itl_assertion> parse_itl(const std::string& path) {
  std::ifstream in(path);
  return parser(path, {std::istreambuf_iterator<char>(in), {}}).file();
}

}  // namespace vouch::testing
