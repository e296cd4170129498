#include <vouch/core/module_file.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include <vouch/core/ieee_environment.hpp>

namespace vouch {
namespace {

namespace fs = std::filesystem;

// The nearest first.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  if (const char* asked = std::getenv("VOUCH_BACKENDS"); asked != nullptr && *asked != 0)
    all.emplace_back(asked);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  all.push_back(program);
  all.push_back(program / "../lib/vouch");
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_module), &here) != 0 && here.dli_fname != nullptr)
    all.push_back(fs::path(here.dli_fname).parent_path() / "vouch");
  return all;
}

}  // namespace

fs::path find_module(const std::string& file) {
  std::error_code ignored;
  for (const fs::path& folder : folders())
    if (fs::path path = folder / file; fs::exists(path, ignored)) return path;
  return {};
}

opened_module open_module(const std::string& file, const char* function, const std::string& package,
                          bool global) {
  const fs::path path = find_module(file);
  if (path.empty()) return {nullptr, file + " is not there: install " + package + " and build Vouch anew"};
  const ieee_environment here;  // what a library sets on being loaded ends here
  void* const handle = dlopen(path.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == nullptr) {
    const char* const problem = dlerror();
    return {nullptr, file + " does not load: " + (problem != nullptr ? problem : "no reason is given")};
  }
  if (void* const found = dlsym(handle, function); found != nullptr) return {found, ""};
  return {nullptr, path.string() + " is no module of this version of Vouch: build both anew"};
}

}  // namespace vouch
