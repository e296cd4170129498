// bench/readme_table.hpp -- the performance table of the README, from the JSON of real runs.
#pragma once
#include <string>
#include <vector>

namespace vouch::bench {

/// Markdown: the machines, then every row with a bar: case, device, precision, metric, measured, peer,
/// ratio, bar, verdict. Rows that were not measured are left out.
///
/// Throws  file_error   a file is missing or unreadable
///         value_error  a file is no JSON of schema vouch.bench/1
std::string readme_table(const std::vector<std::string>& json_files);

}  // namespace vouch::bench
