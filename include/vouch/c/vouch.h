/* vouch/c/vouch.h -- Vouch for C and whatever calls C: solve, prove, price.
 *
 * Results  Functions return VOUCH_OK or another code; vouch_message() and vouch_hint() then say what was wrong, and
 *          nothing was written but perhaps x. No exception leaves them. That a system is not solved is no error: the report says it.
 * Threads  Objects serve one thread at a time; messages belong to the thread that made the call.
 * Memory   Matrices and vectors are the caller's, in host memory. Matrices must outlive the solver, unchanged.
 */
#ifndef VOUCH_C_VOUCH_H
#define VOUCH_C_VOUCH_H

#include <stdint.h>

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum vouch_code {
  VOUCH_OK = 0,
  VOUCH_VALUE = 1,         /* an argument, an option or a number that is not acceptable */
  VOUCH_SHAPE = 2,         /* sizes that do not fit together */
  VOUCH_OUT_OF_MEMORY = 3, /* host or device */
  VOUCH_NO_DEVICE = 4,     /* a GPU was asked for and there is none, or this build knows none */
  VOUCH_DEVICE = 5,        /* a GPU failed */
  VOUCH_CANCELLED = 6,     /* vouch_cancel() was called */
  VOUCH_OTHER = 7
} vouch_code;

/* What the last call of this thread that did not return VOUCH_OK has to say, and what to do about it ("" where nothing
 * is known). Valid until the next call. */
const char* vouch_message(void);
const char* vouch_hint(void);
/* "0.1.0" */
const char* vouch_version(void);

/* Options by name, as the command line knows them: method, precond, precision, rtol, atol, max-iterations, omega,
 * device (auto, cpu, cuda, cuda:K, or cuda:K,L,... for cg and dense proofs on several GPUs) and
 * threads. */
typedef struct vouch_options vouch_options;
vouch_code vouch_options_create(vouch_options** options);
vouch_code vouch_options_set(vouch_options* options, const char* name, const char* value);
void vouch_options_free(vouch_options* options);

/* Made once for a matrix, used for any number of right-hand sides. options may be NULL. */
typedef struct vouch_solver vouch_solver;

/* n-by-n in CSR, from 0: row i has the entries row_ptr[i] to row_ptr[i + 1] - 1, by rising columns. */
vouch_code vouch_solver_create_csr(vouch_solver** solver, int64_t n, const int64_t* row_ptr, const int32_t* col,
                                   const double* val, const vouch_options* options);
/* The same with 32-bit offsets, which are copied. */
vouch_code vouch_solver_create_csr32(vouch_solver** solver, int64_t n, const int32_t* row_ptr,
                                     const int32_t* col, const double* val, const vouch_options* options);
/* VOUCH_OK where an n-by-n matrix in CSR is one and all its values are numbers; else VOUCH_VALUE or VOUCH_SHAPE, and
 * vouch_message() says what is wrong first. */
vouch_code vouch_check_csr(int64_t n, const int64_t* row_ptr, const int32_t* col, const double* val);
/* n-by-n, ld >= n apart; by_rows: entry (i, j) is a[i * ld + j], else a[j * ld + i]. */
vouch_code vouch_solver_create_dense(vouch_solver** solver, int64_t n, const double* a, int64_t ld, int by_rows,
                                     const vouch_options* options);
/* By its action: y := A x, n elements each; anything but 0 from it ends the solve with VOUCH_VALUE. */
typedef int (*vouch_action)(void* data, const double* x, double* y);
vouch_code vouch_solver_create_action(vouch_solver** solver, int64_t n, vouch_action action, void* data,
                                      const vouch_options* options);
void vouch_solver_free(vouch_solver* solver);

/* Of the worst column; numbers that are not known are NaN. */
typedef struct vouch_report {
  int solved;         /* the rule that was asked for is met: status converged, fixed or stopped */
  int has_solution;   /* x is of use */
  char status[24];    /* "converged", "max_iterations", ... (docs/contract.md) */
  char method[32];    /* "cg" */
  char reason[256];   /* one line, cut where it is longer: vouch_solver_reason() */
  int64_t column;     /* from 0 */
  int64_t iterations; /* of all columns */
  double residual;    /* ||b - A x||_2 / ||b||_2, recomputed */
  double backward_error;
  double condition_estimate;
  double error_estimate; /* of ||x - exact||_2 / ||x||_2 */
  double error_bound;    /* proved: |x_i - exact_i| <= this; from dominance, without vouch_solver_prove() */
  double setup_seconds, solve_seconds; /* setup: the look at the matrix and the plan too, in the first report */
} vouch_report;

/* Solves A X = B for columns right-hand sides, one after another in b and x, each a block of n * columns doubles:
 * VOUCH_VALUE where the two overlap, interleaved or not. x holds the starts and receives the solutions; report may be
 * NULL. A thread that calls needs a stack of a quarter of a megabyte. */
vouch_code vouch_solver_solve(vouch_solver* solver, int64_t columns, const double* b, double* x,
                              vouch_report* report);

typedef struct vouch_proof {
  int verified; /* the bounds hold; without it the numbers below say nothing */
  int reached;  /* what was asked */
  int digits;
  char reason[256];
  double max_absolute; /* no component is farther from the exact solution */
  double max_relative; /* nor, relative to itself, than this */
} vouch_proof;

/* Bounds the error of x as solution of A X = B for the doubles given, and refines x where a component is not known to
 * `relative` of itself, or with 0 where its error may exceed 1e-6 of the largest; the bound is of the x that it leaves.
 * radius: NULL, or n * columns bounds, one for each component; proof may be NULL. */
vouch_code vouch_solver_prove(vouch_solver* solver, int64_t columns, const double* b, double* x,
                              double relative, double* radius, vouch_proof* proof);

/* The reason in the last report or proof of this solver, whole; "" before the first, and of NULL. Valid until the solver's
 * next call. */
const char* vouch_solver_reason(const vouch_solver* solver);

/* Asks what solves or proves in this process, on any thread, through this interface, to end soon: iterations with the
 * status interrupted, other work with VOUCH_CANCELLED. Holds until vouch_cancel_clear(). Safe in signal handlers. */
void vouch_cancel(void);
void vouch_cancel_clear(void);

/* An option on one underlying with constant coefficients; words as on the command line, NULL for the first of each list.
 * Years, and rates continuously compounded a year. */
typedef struct vouch_option {
  const char* type;     /* call, put */
  const char* exercise; /* european, american */
  const char* payoff;   /* vanilla, cash-digital, asset-digital */
  const char* barrier;  /* none, up-in, up-out, down-in, down-out */
  double spot, strike, rate, dividend, volatility, expiry;
  double cash; /* what a cash digital pays */
  double barrier_level, rebate;
  double tolerance; /* of the price; 0: 1e-6 */
} vouch_option;

typedef struct vouch_price_result {
  double price, delta, gamma, theta, vega, rho;
  double error_estimate; /* of the price */
  int tolerance_met;
  char method[24]; /* "closed-form", "andersen-lake", "finite-difference", "limit" */
} vouch_price_result;

vouch_code vouch_price(const vouch_option* option, vouch_price_result* result);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif
