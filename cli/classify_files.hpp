// cli/classify_files.hpp -- what vouch classify and vouch classify train have in common.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/fingerprint/grey_image.hpp>
#include <vouch/fingerprint/score.hpp>

#include "console.hpp"

namespace vouch::cli {

/// Appends the names in a file, one a line.
void append_list(const std::string& list, std::vector<std::string>& files);
/// WxH, or the default where the text is empty; throws usage_error.
fingerprint::raw_size parse_raw_size(const std::string& text);
/// Reads by all threads; a page that cannot be read has its reason and no pixels.
void read_pages(const device& cpu, std::span<const std::string> files, fingerprint::raw_size raw,
                std::span<fingerprint::grey_image> pages, std::span<std::string> reasons);

nlohmann::ordered_json score_json(const fingerprint::score& s);
void log_score(const console& log, const fingerprint::score& s);

}  // namespace vouch::cli
