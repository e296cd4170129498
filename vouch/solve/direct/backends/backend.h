/* vouch/solve/direct/backends/backend.h -- what a module that factorises sparse matrices exports: plain C, no object of
 * one side is ever freed by the other. */
#ifndef VOUCH_SOLVE_DIRECT_BACKENDS_BACKEND_H
#define VOUCH_SOLVE_DIRECT_BACKENDS_BACKEND_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VOUCH_BACKEND_ABI = 1 };

/* How a factorisation ended. */
enum {
  VOUCH_BACKEND_DONE = 0,
  VOUCH_BACKEND_SINGULAR = 1,     /* failed_at is the pivot, from 1 */
  VOUCH_BACKEND_INDEFINITE = 2,   /* likewise, of those that need a definite matrix */
  VOUCH_BACKEND_OUT_OF_MEMORY = 3,
  VOUCH_BACKEND_REFUSED = 4       /* anything else: the matrix is too large for its indices, ... */
};

struct vouch_backend_result {
  void* factors; /* for solve and release; NULL unless done */
  int64_t failed_at;
  double entries; /* of the factors */
  double flops;
  double bytes;
};

struct vouch_backend {
  int abi;             /* VOUCH_BACKEND_ABI */
  const char* name;    /* "cholmod" */
  const char* library; /* "CHOLMOD 3.0.14" */
  int needs_definite;  /* symmetric positive definite matrices alone */

  /* A is n-by-n in compressed sparse rows, sorted, each entry once, finite. */
  int (*factorise)(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val,
                   struct vouch_backend_result* result);
  /* x := A^-1 x, or A^-T x; 0 where that was done. */
  int (*solve)(void* factors, int transposed, double* x);
  void (*release)(void* factors);
};

/* The one function that a module has: never NULL. */
typedef const struct vouch_backend* vouch_backend_function(void);
#define VOUCH_BACKEND_FUNCTION "vouch_sparse_backend"

#ifdef __cplusplus
}
#endif
#endif
