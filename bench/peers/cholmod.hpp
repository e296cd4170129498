// bench/peers/cholmod.hpp -- the interface of the module vouch_peers_cholmod.
#pragma once
#include <cstdint>

extern "C" {

/// Orders, factorises and solves A x = b, A symmetric positive definite with its lower triangle by columns in
/// rising order, once. seconds: of all three. 0 where it went well.
using vouch_cholmod_solve_function = int(int n, const std::int32_t* col_ptr, const std::int32_t* row,
                                         const double* val, const double* b, double* x, double* seconds);
}
