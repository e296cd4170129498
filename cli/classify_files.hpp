// cli/classify_files.hpp -- what vouch classify and vouch classify train have in common.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <vouch/fingerprint/grey_image.hpp>
#include <vouch/fingerprint/score.hpp>

#include "console.hpp"

namespace vouch::cli {

/// Appends the names in a file, one a line.
void append_list(const std::string& list, std::vector<std::string>& files);
/// WxH, or the default where the text is empty; throws usage_error.
fingerprint::raw_size parse_raw_size(const std::string& text);

nlohmann::ordered_json score_json(const fingerprint::score& s);
void log_score(const console& log, const fingerprint::score& s);

}  // namespace vouch::cli
