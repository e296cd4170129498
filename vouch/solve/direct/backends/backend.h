/* vouch/solve/direct/backends/backend.h -- what a module that factorises sparse matrices exports: plain C, no object of
 * one side is ever freed by the other. */
#ifndef VOUCH_SOLVE_DIRECT_BACKENDS_BACKEND_H
#define VOUCH_SOLVE_DIRECT_BACKENDS_BACKEND_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VOUCH_BACKEND_ABI = 3 };

/* What a matrix is factorised into; bits of a set. */
enum {
  VOUCH_FACTORS_CHOLESKY = 1, /* of symmetric positive definite matrices; of complex numbers: Hermitian ones */
  VOUCH_FACTORS_LDLT = 2,     /* of symmetric ones; of complex numbers, too, which are not conjugated */
  VOUCH_FACTORS_LU = 4,       /* of square ones */
  VOUCH_FACTORS_QR = 8        /* of any */
};

/* How an analysis or a factorisation ended. */
enum {
  VOUCH_BACKEND_DONE = 0,
  VOUCH_BACKEND_SINGULAR = 1,   /* failed_at is the pivot, from 1 */
  VOUCH_BACKEND_INDEFINITE = 2, /* likewise, of those that need a definite matrix */
  VOUCH_BACKEND_OUT_OF_MEMORY = 3,
  VOUCH_BACKEND_REFUSED = 4 /* anything else: the matrix is too large for its indices, ... */
};

/* In compressed sparse rows, sorted, each entry once, finite; all of a symmetric matrix. Where it is complex, val and
 * vectors hold real and imaginary parts in turns. */
struct vouch_backend_matrix {
  int64_t rows;
  int64_t cols;
  const int64_t* row_ptr;
  const int32_t* col;
  const double* val;
  int complex;
};

/* Of the factors: as predicted by an analysis (0 where there is no prediction), as found by a factorisation. */
struct vouch_backend_result {
  int64_t failed_at;
  int64_t rank;     /* -1: not known */
  int64_t negative; /* pivots of LDL^T, those of 2-by-2 blocks counted by their eigenvalues; -1: not known */
  int64_t zero;     /* likewise */
  double entries;
  double flops;
  double bytes; /* an analysis: that a factorisation takes at least */
};

struct vouch_backend {
  int abi;             /* VOUCH_BACKEND_ABI */
  const char* name;    /* "cholmod" */
  const char* library; /* "CHOLMOD 3.0.14" */
  int factors;         /* the set of those that it makes */
  int complex_factors; /* likewise of complex matrices */

  /* Orders A for one kind of factors; A's values may guide it. *made is for the other functions, and NULL unless
   * done. */
  int (*analyse)(int kind, const struct vouch_backend_matrix* A, void** made,
                 struct vouch_backend_result* result);
  /* Of the matrix that was analysed, or another of its pattern and kind of numbers; any number of times. */
  int (*factorise)(void* made, const struct vouch_backend_matrix* A, struct vouch_backend_result* result);
  /* Columns side by side: x := A^-1 b, or A^-T b, of complex numbers A^-H b; with QR the pseudoinverses, or where the rank is not full a
   * solution of least squares with as many zeros. 0 where that was done. */
  int (*solve)(void* made, int transposed, int64_t columns, const double* b, double* x);
  void (*release)(void* made);
};

/* The one function that a module has: never NULL. */
typedef const struct vouch_backend* vouch_backend_function(void);
#define VOUCH_BACKEND_FUNCTION "vouch_sparse_backend"

#ifdef __cplusplus
}
#endif
#endif
