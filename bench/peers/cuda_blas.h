/* bench/peers/cuda_blas.h -- plain BLAS by cuBLAS, behind the C door of the module vouch_peers_cuda. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { vouch_peer_axpy, vouch_peer_dot, vouch_peer_gemv, vouch_peer_gemm, vouch_peer_transpose };

struct vouch_peer_blas_answer {
  double seconds; /* one call, the best of several batches, data on the GPU */
  char message[240];
};

/* Vectors of n elements, matrices of order n, random numbers in them. 0 on success; otherwise message says what
   failed. */
typedef int vouch_peer_cuda_blas_function(int device, int routine, int is_double, long long n,
                                          struct vouch_peer_blas_answer* answer);
vouch_peer_cuda_blas_function vouch_peer_cuda_blas;

#ifdef __cplusplus
}
#endif
