// bench/peer_module.hpp -- functions of other people's libraries, loaded when they are first called.
#pragma once
#include <string>

namespace vouch::bench {

/// A function of the module vouch_peers_cuda, or nullptr and why in one line. Linked into the tool the
/// libraries behind it would cost every start tens of milliseconds.
void* cuda_peer_function(const char* name, std::string& why);

/// A function of the module vouch_peers_quantlib, which is built where QuantLib is installed; likewise.
void* quantlib_peer_function(const char* name, std::string& why);

/// A function of the module vouch_peers_cholmod, which is built where SuiteSparse is installed; likewise.
void* cholmod_peer_function(const char* name, std::string& why);

/// A function of the module vouch_peers_amgcl, which is built where AMGCL's headers are found; likewise.
void* amgcl_peer_function(const char* name, std::string& why);

/// A function of LAPACK, from whichever of its shared libraries is installed; nullptr where none is.
void* lapack_function(const char* name);

}  // namespace vouch::bench
