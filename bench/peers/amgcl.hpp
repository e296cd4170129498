// bench/peers/amgcl.hpp -- the interface of the module vouch_peers_amgcl.
#pragma once
#include <cstdint>

extern "C" {

struct vouch_amgcl_result {
  double setup = 0, solve = 0;  // seconds
  std::int64_t iterations = 0;
};

/// Sets up and solves A x = b from zero to rtol with so many threads. kind: of amgcl_kind. 0 where it ended.
using vouch_amgcl_solve_function = int(int kind, int threads, std::int64_t n, const std::int64_t* row_ptr,
                                       const std::int32_t* col, const double* val, const double* b, double* x,
                                       double rtol, vouch_amgcl_result* result);
}
