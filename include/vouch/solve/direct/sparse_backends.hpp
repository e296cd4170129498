// vouch/solve/direct/sparse_backends.hpp -- libraries that factorise sparse matrices for us, where they are installed.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A library behind a method that factorises: "own" is in this one, others are modules that are looked for when they are
/// first needed: vouch-backend-NAME.so in the folder that the environment variable VOUCH_BACKENDS names, beside the
/// program, in ../lib/vouch of it, or in the folder vouch beside a shared libvouch. cuDSS is NVIDIA's own file, as pip
/// installs it or the toolkit has it, or as the environment variable VOUCH_CUDSS names it.
struct sparse_backend {
  std::string name;     // "own", "cholmod", "umfpack", "klu", "spqr", "mumps", "cudss"
  std::string library;  // "CHOLMOD 3.0.14"; "" where it is not there
  std::string missing;  // why, and which package has it; "" where it is there
  bool on_gpu = false;  // where it works, else on the CPU
};

/// All that are known, there or not, "own" first. Loads them.
const std::vector<sparse_backend>& sparse_backends();

/// The one of this name, which alone is loaded; nothing where none is known.
std::optional<sparse_backend> find_sparse_backend(std::string_view name);

/// "auto" and their names.
std::span<const std::string_view> sparse_backend_names();

}  // namespace vouch
