// Any bytes are reduced or refused by one error, alike by vectors, by the strict parser, in small units by
// several threads and through a pipe.
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/reduce/matrix_set.hpp>

namespace {

using namespace vouch;
using fuzz::memory_file;

struct outcome {
  reduce_result result;
  std::string complaint;
};

std::string without_path(const std::string& what, const std::string& path) {
  return what.starts_with(path) ? what.substr(path.size()) : what;
}

outcome reduce(const std::string& path, int threads, const reduce_options& options) {
  const std::string files[] = {path};
  try {
    return {reduce_matrix_sets(device::cpu(threads), files, options), ""};
  } catch (const error& e) {
    const std::string complaint = without_path(e.what(), path);
    memory_file::require(complaint.find('\n') == std::string::npos && !complaint.empty());
    return {{}, complaint};
  }
}

void require_same(const outcome& a, const outcome& b) {
  memory_file::require(a.complaint == b.complaint);
  memory_file::require(a.result.count == b.result.count && a.result.integers == b.result.integers);
  memory_file::require(a.result.results.size() == b.result.results.size());
  for (std::size_t k = 0; k < a.result.results.size(); ++k) {
    memory_file::require(a.result.results[k].integers == b.result.results[k].integers);
    memory_file::require(a.result.results[k].reals == b.result.results[k].reals);
  }
}

void check(const std::uint8_t* data, std::size_t size, const std::vector<reduction>& operations) {
  const memory_file file(data, size);
  const outcome one = reduce(file.path(), 1, {.operations = operations});
  require_same(
      one, reduce(file.path(), 1, {.operations = operations, .instructions = parser_instructions::portable}));
  require_same(one, reduce(file.path(), 3, {.operations = operations, .unit_bytes = 40}));
  if (size > fuzz::memory_pipe::most_bytes) return;
  fuzz::memory_pipe pipe(data, size);
  require_same(one, reduce(pipe.path(), 1, {.operations = operations, .unit_bytes = 64}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(data, size, {reduction::min, reduction::max});
  check(data, size, {reductions().begin(), reductions().end()});
  return 0;
}
