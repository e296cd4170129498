// vouch/fingerprint/score.hpp -- how classifications agree with what is known of the prints.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/train.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// What is left when so many of the least certain prints are rejected.
struct rejection {
  double rejected = 0;  // share of all scored prints
  double error = 0;     // share of those that are left
};

struct score {
  std::int64_t scored = 0;  // prints whose class is known
  std::int64_t wrong = 0;   // those without a pattern included
  std::int64_t unclassified = 0;
  std::array<std::array<std::int64_t, classes>, classes> confusion{};  // [class][answer]
  std::vector<rejection> rejections;                                   // of 0, 5, 10, 15, 20 and 30 %
};

/// Reads classes: a file's name, blanks or tabs, and one of A, L, R, S, T and W on a line; empty lines and those that
/// begin with # say nothing. A name counts for every file with the same last part of its path.
///
/// Throws  file_error; parse_error  with the line; also where two lines contradict each other
std::map<std::string, int> read_labels(const std::string& path);

/// Reads groups in the same form, with a whole number in place of the letter.
///
/// Throws  as read_labels()
std::map<std::string, int> read_groups(const std::string& path);

/// Reads names of files, one a line, without blanks at its end; empty lines say nothing.
///
/// Throws  file_error; parse_error  a line has 256 KiB or more
std::vector<std::string> read_names(const std::string& path);

/// The name under which read_labels() has a file.
std::string label_name(const std::string& path);

/// Of a cross-validation.
score score_results(const validation& answers);

/// Shapes  as many truths as results; -1 where the class is not known
/// Throws  shape_error
score score_results(std::span<const classification> results, std::span<const int> truths);

}  // namespace fingerprint
}  // namespace vouch
