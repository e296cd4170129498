// vouch/solve/precond/amg/combination.hpp -- what a cycle does with a product; private.
#pragma once

namespace vouch::multigrid {

/// out := a u + b v + c W w for a matrix W; u and v may be out.
struct combination {
  float a;
  const float* u;  // nullptr: none
  float b;
  const float* v;
  float c;
  const float* w;
  float* out;
};

}  // namespace vouch::multigrid
