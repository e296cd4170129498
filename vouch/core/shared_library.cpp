#include <dlfcn.h>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/shared_library.hpp>

namespace vouch {

shared_library::shared_library(std::initializer_list<const char*> files) {
  const ieee_environment here;  // what a library sets on being loaded ends here
  for (const std::string file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) continue;
    name_ = file.substr(file.rfind('/') + 1);
    return;
  }
}

void* shared_library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

}  // namespace vouch
