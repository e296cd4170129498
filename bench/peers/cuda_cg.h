/* bench/peers/cuda_cg.h -- the plain C door of the module vouch_peers_cuda, loaded on first use. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* A system in host memory: CSR with offsets and columns from 0. */
struct vouch_peer_system {
  long long rows;
  long long nonzeros;
  const long long* row_ptr;
  const int* col;
  const void* val; /* float or double, as b and x */
  const void* b;
  int is_double;
};

struct vouch_peer_answer {
  double seconds;             /* the loop alone, the best of the repeats */
  double spmv_seconds;        /* one product by the chosen algorithm */
  double recurrence_residual; /* ||r||_2 at the end */
  long long iterations;
  int algorithm; /* of cusparseSpMV_alg: 2 or 3 */
  char message[240];
};

/* Solves from x = 0 until ||r||_2 <= rtol ||b||_2 by the recurrence or the limit; rtol 0 does exactly `limit`
   iterations. x receives the result. 0 on success; otherwise message says what failed. */
typedef int vouch_peer_cuda_cg_function(int device, const struct vouch_peer_system* system, double rtol,
                                        long long limit, int repeats, void* x,
                                        struct vouch_peer_answer* answer);
vouch_peer_cuda_cg_function vouch_peer_cuda_cg;

#ifdef __cplusplus
}
#endif
