// tests/interval/itl_parse.hpp -- reads ITF1788 test files: testcase NAME { operation operands = results; }
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <vouch/interval/decorated.hpp>

namespace vouch::testing {

enum class itl_kind { number, bare, decorated, word, text, array };

/// One operand or result. A decoration behind the bracket, or [nai], makes an interval a decorated one; a word
/// is a truth value, a state of overlap or a decoration; text stands in quotes.
struct itl_value {
  itl_kind kind = itl_kind::number;
  double number = 0;
  decorated_interval<double> set{};
  std::string text{};
  std::vector<double> array{};

  itl_value(double x) : number(x) {}
  itl_value(interval<double> x) : kind(itl_kind::bare), set(x) {}
  itl_value(decorated_interval<double> x) : kind(itl_kind::decorated), set(x) {}
  itl_value(itl_kind what, std::string s) : kind(what), text(std::move(s)) {}
  itl_value(std::vector<double> x) : kind(itl_kind::array), array(std::move(x)) {}
};

struct itl_assertion {
  std::string place;  // FILE:LINE
  std::string operation;
  std::vector<itl_value> operands;
  std::vector<itl_value> results;   // the tight ones
  std::vector<itl_value> accurate;  // behind <=, or none
  std::string signal;
};

/// All assertions of a file. Throws parse_error.
std::vector<itl_assertion> parse_itl(const std::string& path);

decoration itl_decoration(const std::string& word);

}  // namespace vouch::testing
