#include "peer_module.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace vouch::bench {
namespace {

namespace fs = std::filesystem;

struct peer_module {
  void* handle = nullptr;
  std::string why;

  explicit peer_module(const char* module_name) {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& path : {folder / module_name, folder / "../lib/vouch" / module_name}) {
      if (!fs::exists(path, ignored)) continue;
      handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) return;
      const char* problem = dlerror();
      why = problem != nullptr ? problem : "the module does not load";
      return;
    }
    why = std::string(module_name) + " is neither beside the program nor in ../lib/vouch";
  }
};

void* open_lapack() {
  for (const char* library : {"libopenblas.so.0", "liblapack.so.3"})
    if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  return nullptr;
}

void* function_of(const peer_module& module, const char* name, std::string& why) {
  why = module.why;
  if (module.handle == nullptr) return nullptr;
  void* const function = dlsym(module.handle, name);
  if (function == nullptr) why = std::string("no function ") + name + " in the module";
  return function;
}

}  // namespace

void* cuda_peer_function(const char* name, std::string& why) {
  static const peer_module module("vouch_peers_cuda.so");
  return function_of(module, name, why);
}

void* quantlib_peer_function(const char* name, std::string& why) {
  static const peer_module module("vouch_peers_quantlib.so");
  return function_of(module, name, why);
}

void* cholmod_peer_function(const char* name, std::string& why) {
  static const peer_module module("vouch_peers_cholmod.so");
  return function_of(module, name, why);
}

void* amgcl_peer_function(const char* name, std::string& why) {
  static const peer_module module("vouch_peers_amgcl.so");
  return function_of(module, name, why);
}

void* lapack_function(const char* name) {
  static void* const handle = open_lapack();
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

}  // namespace vouch::bench
