#include <vouch/solve/direct/cudss/library.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/direct/cudss/interface.hpp>

namespace vouch::cudss {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libcudss.so.1";
constexpr const char* folder_of_packages = "nvidia/cu13/lib";  // in site-packages, as pip puts it

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// prefix/lib/python3.N/site-packages for every N, as Debian calls it dist-packages, too.
void add_python(const fs::path& prefix, std::vector<fs::path>& folders) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored))
    if (entry.path().filename().string().starts_with("python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        found.push_back(entry.path() / packages / folder_of_packages);
  std::sort(found.rbegin(), found.rend());
  folders.insert(folders.end(), found.begin(), found.end());
}

// Of the library that this code is in: a package for Python stands beside NVIDIA's.
void add_neighbours(std::vector<fs::path>& folders) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&is_installed), &here) == 0 || here.dli_fname == nullptr) return;
  std::error_code ignored;
  fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
  for (int k = 0; k < 3 && folder.has_relative_path(); ++k, folder = folder.parent_path())
    folders.push_back(folder / folder_of_packages);
}

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  add_neighbours(all);
  for (const char* prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string path = environment(prefix); !path.empty()) {
      add_python(path, all);
      all.push_back(fs::path(path) / "lib");
    }
  if (const std::string home = environment("HOME"); !home.empty()) add_python(fs::path(home) / ".local", all);
  for (const char* prefix : {"/usr/local", "/usr"}) add_python(prefix, all);
  return all;
}

// The nearest first.
std::vector<std::string> files() {
  if (const std::string asked = environment("VOUCH_CUDSS"); !asked.empty()) {
    std::error_code ignored;
    if (fs::is_directory(asked, ignored)) return {(fs::path(asked) / file_name).string()};
    // A name without a folder would be looked for where the loader looks.
    return {fs::exists(asked, ignored) ? fs::absolute(asked, ignored).string() : asked};
  }
  std::vector<std::string> all;
  std::error_code ignored;
  for (const fs::path& folder : folders())
    if (fs::exists(folder / file_name, ignored)) all.push_back((folder / file_name).string());
  all.emplace_back(file_name);
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu/libcudss/13",
                             "/usr/lib/aarch64-linux-gnu/libcudss/13"})
    all.push_back(std::string(folder) + '/' + file_name);
  return all;
}

// What it is linked to may be in the toolkit, where the loader does not look: it is asked for by name once it is loaded.
void load_toolkit() {
  static const shared_library blas{"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13"};
  static const shared_library compiler{"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"};
}

const std::string package = "pip install nvidia-cudss-cu13, or name its libcudss.so.1 in VOUCH_CUDSS";

struct found_version {
  std::string name, missing;
};

found_version look_up() {
  const shared_library& all = library();
  if (!all.present())
    return {"", all.problem().empty() ? std::string(file_name) + " is not there: " + package
                                      : "cuDSS does not load: " + all.problem()};
  auto* const property_of = all.find<property_function>("cudssGetProperty");
  int version[3] = {-1, -1, -1};
  for (const property which : {major, minor, patch})
    if (property_of != nullptr) property_of(which, &version[which]);
  const std::string text = string_printf("cuDSS %d.%d.%d", version[major], version[minor], version[patch]);
  if (version[major] == major_version) return {text, ""};
  return {"", all.file() + (property_of == nullptr ? " is no cuDSS: " : " is " + text + ", and 1 is wanted: ") +
                  package};
}

const found_version& version() {
  static const found_version found = look_up();
  return found;
}

}  // namespace

const shared_library& library() {
  static const shared_library all = [] {
    const std::vector<std::string> candidates = files();
    shared_library first(candidates);
    if (first.present() || first.problem().empty()) return first;
    load_toolkit();
    return shared_library(candidates);
  }();
  return all;
}

bool is_installed() {
  static const bool there = [] {
    std::error_code ignored;
    const std::vector<std::string> all = files();
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& file) {
                         return file.find('/') != std::string::npos && fs::exists(file, ignored);
                       }) ||
           missing().empty();
  }();
  return there;
}

const std::string& missing() { return version().missing; }
const std::string& name() { return version().name; }

std::string threading_file() {
  std::error_code ignored;
  const fs::path beside = fs::path(library().file()).parent_path() / "libcudss_mtlayer_gomp.so.1";
  return library().file().find('/') == std::string::npos || fs::exists(beside, ignored) ? beside.string()
                                                                                        : std::string();
}

void throw_missing(const char* function) {
  if (!missing().empty())
    throw no_cuda_error("sparse factorisations on a GPU need cuDSS: " + missing(),
                        "--device cpu takes the libraries that are there");
  throw no_cuda_error(name() + " has no function " + function, package);
}

}  // namespace vouch::cudss
