/* That vouch/c/vouch.h is C, and its calls are what a C program makes of them. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <vouch/c/vouch.h>

/* 4 on the diagonal, -1 beside it. */
static int apply(void* data, const double* x, double* y) {
  const int64_t n = *(const int64_t*)data;
  for (int64_t i = 0; i < n; ++i) y[i] = 4 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
  return 0;
}

/* The number of the first check that fails, or 0. */
int check_from_c(void) {
  /* [4 -1 0; -1 4 -1; 0 -1 4] (1, 2, 3) = (2, 4, 10) */
  const int64_t row_ptr[] = {0, 2, 5, 7};
  const int32_t col[] = {0, 1, 0, 1, 2, 1, 2};
  const double val[] = {4, -1, -1, 4, -1, -1, 4};
  const double b[] = {2, 4, 10};
  double x[3] = {0, 0, 0}, radius[3];
  int64_t n = 3;
  vouch_solver* solver = NULL;
  vouch_options* options = NULL;
  vouch_report report;
  vouch_proof proof;
  vouch_option option;
  vouch_price_result price;
  if (vouch_options_create(&options) != VOUCH_OK) return 1;
  if (vouch_options_set(options, "rtol", "1e-12") != VOUCH_OK) return 2;
  if (vouch_solver_create_csr(&solver, n, row_ptr, col, val, options) != VOUCH_OK) return 3;
  vouch_options_free(options);
  if (vouch_solver_solve(solver, 1, b, x, &report) != VOUCH_OK) return 4;
  if (!report.solved || strcmp(report.status, "converged") != 0 || report.residual > 1e-12) return 5;
  for (int i = 0; i < 3; ++i)
    if (fabs(x[i] - (i + 1)) > 1e-11) return 6;
  if (vouch_solver_prove(solver, 1, b, x, 1e-10, radius, &proof) != VOUCH_OK) return 7;
  if (!proof.verified || !proof.reached || proof.digits < 10) return 8;
  for (int i = 0; i < 3; ++i)
    if (fabs(x[i] - (i + 1)) > radius[i] || radius[i] > 1e-10 * (i + 1)) return 9;
  vouch_solver_free(solver);
  if (vouch_solver_create_action(&solver, n, apply, &n, NULL) != VOUCH_OK) return 10;
  x[0] = x[1] = x[2] = 0;
  if (vouch_solver_solve(solver, 1, b, x, NULL) != VOUCH_OK || fabs(x[2] - 3) > 1e-6) return 11;
  if (vouch_solver_prove(solver, 1, b, x, 0, NULL, NULL) != VOUCH_VALUE || strlen(vouch_message()) == 0) return 12;
  vouch_solver_free(solver);
  memset(&option, 0, sizeof option);
  option.type = "put";
  option.spot = option.strike = 100;
  option.rate = 0.05;
  option.volatility = 0.2;
  option.expiry = 1;
  if (vouch_price(&option, &price) != VOUCH_OK) return 13;
  if (fabs(price.price - 5.573526022256971) > 1e-12) return 14; /* 100 (e^-.05 N(-.15) - N(-.35)) */
  return 0;
}
