/* vouch/solve/distributed/petsc/petsc.h -- what the module over PETSc exports: plain C, so that only the module is
 * compiled against PETSc and its MPI. */
#ifndef VOUCH_SOLVE_DISTRIBUTED_PETSC_PETSC_H
#define VOUCH_SOLVE_DISTRIBUTED_PETSC_PETSC_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VOUCH_PETSC_ABI = 2 };

/* This rank's rows of a square matrix; columns are those of the whole matrix, ascending in each row, which has its
 * diagonal entry, if need be a zero. */
struct vouch_petsc_rows {
  int64_t all_rows, first_row, rows;
  const int64_t* row_ptr; /* rows + 1, from 0 */
  const int32_t* col;
  const double* val;
  int symmetric;               /* 1: it is */
  int definite;                /* 1: symmetric, with a positive diagonal */
  int constants_in_null_space; /* 1: symmetric, and A * ones = 0 */
};

/* What became of a call on this rank. All ranks have returned from it but for VOUCH_PETSC_ALONE: then others may wait in
 * PETSc for this one for ever. */
enum vouch_petsc_code {
  VOUCH_PETSC_DONE,
  VOUCH_PETSC_REFUSED, /* what was asked for is not there, or does not fit */
  VOUCH_PETSC_FAILED,  /* memory, or a library of PETSc's */
  VOUCH_PETSC_ALONE
};

enum vouch_petsc_end {
  VOUCH_PETSC_REACHED,
  VOUCH_PETSC_ITERATION_LIMIT,
  VOUCH_PETSC_DIVERGED,
  VOUCH_PETSC_INDEFINITE_MATRIX,
  VOUCH_PETSC_INDEFINITE_PRECONDITIONER,
  VOUCH_PETSC_BREAKDOWN,
  VOUCH_PETSC_INTERRUPTED
};

struct vouch_petsc_task {
  double relative; /* ends when the norm of the residual is at most this times its first one; negative: never */
  double growth;   /* has diverged when it is more than this times its first one */
  int64_t limit;   /* of iterations */
  /* Hears of each iteration, from 0; where it returns 0 on any rank, all of them stop soon. */
  int (*note)(void* whom, int64_t iteration, double norm);
  void* whom;
};

struct vouch_petsc_outcome {
  enum vouch_petsc_end end;
  int64_t iterations;
  double norm;      /* of the residual, by the recurrence and in the norm of the method; NaN: it has none */
  const char* said; /* PETSc's own word for the end */
};

struct vouch_petsc_solver;

/* All functions but problem() and unused() are called by all ranks together. Words are PETSc's options:
 * {"-ksp_type", "cg"}. */
struct vouch_petsc {
  int abi;             /* VOUCH_PETSC_ABI */
  const char* library; /* "PETSc 3.18.5" */
  int index_bits;      /* of PETSc's indices, which count a rank's entries */

  /* Once a process, after MPI was started by others; the words are the user's. PETSc prints to standard error. */
  enum vouch_petsc_code (*start)(int words, const char* const* word);
  /* A copy of the matrix and all that is made ready for it. Words of an earlier call are forgotten. */
  enum vouch_petsc_code (*create)(const struct vouch_petsc_rows* rows, int words, const char* const* word,
                                  struct vouch_petsc_solver** made);
  /* "cg", "hypre boomeramg" and "ptscotch", as PETSc calls what it took; partition: "" where ranks solve with the rows
   * that they were given. */
  void (*names)(const struct vouch_petsc_solver* solver, const char** method, const char** preconditioner,
                const char** partition);
  /* Solves A d = r from d = 0; both have this rank's rows. */
  enum vouch_petsc_code (*solve)(struct vouch_petsc_solver* solver, const double* r, double* d,
                                 const struct vouch_petsc_task* task, struct vouch_petsc_outcome* outcome);
  void (*destroy)(struct vouch_petsc_solver* solver);
  /* Options among the last words that nothing has asked for, with blanks between them. */
  const char* (*unused)(void);
  /* One line on the last call that was not done. */
  const char* (*problem)(void);
  /* No call comes after it; MPI goes on. */
  void (*stop)(void);
};

/* The one function that the module has: never NULL. */
typedef const struct vouch_petsc* vouch_petsc_function(void);
#define VOUCH_PETSC_FUNCTION "vouch_petsc_table"

#ifdef __cplusplus
}
#endif
#endif
