// vouch/core/module_file.hpp -- modules of Vouch over other people's libraries, loaded on first use; private.
#pragma once
#include <filesystem>
#include <string>

namespace vouch {

/// The nearest file of that name, "" where there is none: in the folder that VOUCH_BACKENDS names, beside the program or
/// in its ../lib/vouch, or in the folder vouch beside the library.
std::filesystem::path find_module(const std::string& file);

/// A module that was opened, for as long as the process lives.
struct opened_module {
  void* function = nullptr;  // nullptr where it was not
  std::string missing;       // why
};

/// Opens find_module(file) and looks up a function in it; package is what has the library that it needs. `global`: its
/// symbols are there for what that library opens in its turn.
opened_module open_module(const std::string& file, const char* function, const std::string& package,
                          bool global = false);

}  // namespace vouch
