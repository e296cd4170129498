#include <dlfcn.h>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/shared_library.hpp>

namespace vouch {

shared_library::shared_library(const std::vector<std::string>& files) {
  const ieee_environment here;  // what a library sets on being loaded ends here
  for (const std::string& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      file_ = file;
      name_ = file.substr(file.rfind('/') + 1);
      return;
    }
    const char* const said = dlerror();
    const std::string text = said != nullptr ? said : "";
    const bool there = !text.starts_with(file + ": cannot open shared object file: No such file");
    if (problem_.empty() && there) problem_ = text;
  }
}

void* shared_library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

}  // namespace vouch
