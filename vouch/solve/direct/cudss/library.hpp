// vouch/solve/direct/cudss/library.hpp -- cuDSS, found when it is first needed: in the file or folder that the environment
// variable VOUCH_CUDSS names, in the folders of Python's packages, where the loader looks, beside the toolkit; private.
#pragma once
#include <string>

#include <vouch/core/shared_library.hpp>

namespace vouch::cudss {

/// As which it is asked for and reported.
inline constexpr const char* backend_name = "cudss";

/// Whether a file of it is there; opens none where its path is known.
bool is_installed();

/// Why it cannot be used, and which package has it; "" where it can. Opens it, which takes a while.
const std::string& missing();

/// "cuDSS 1.0.0"; "" where it cannot be used.
const std::string& name();

/// Its layer of threads for the analysis, beside it or, where the loader found it, by its bare name; "" where there is none.
std::string threading_file();

/// Throws  no_cuda_error  it cannot be used, or has no such function
template <class Function>
Function* find(const char* function);

const shared_library& library();
[[noreturn]] void throw_missing(const char* function);

template <class Function>
Function* find(const char* function) {
  if (missing().empty())
    if (auto* const found = library().find<Function>(function)) return found;
  throw_missing(function);
}

}  // namespace vouch::cudss
