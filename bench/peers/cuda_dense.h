/* bench/peers/cuda_dense.h -- dense peers in the module vouch_peers_cuda, loaded on first use. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* A system on the GPU, the matrix by rows. */
struct vouch_peer_dense {
  long long n;
  const void* A; /* float or double, as b */
  const void* b;
  int is_double;
};

struct vouch_peer_dense_answer {
  double sweep_seconds; /* of a Jacobi sweep over cuBLAS gemv with its norm read back, best of the repeats */
  double lu_seconds;    /* cuSOLVER getrf and getrs; 0 where it was not asked for */
  char message[240];
};

/* 0 on success; otherwise message says what failed. */
typedef int vouch_peer_cuda_dense_function(int device, const struct vouch_peer_dense* system, int sweeps,
                                           int repeats, int with_lu, struct vouch_peer_dense_answer* answer);
vouch_peer_cuda_dense_function vouch_peer_cuda_dense;

#ifdef __cplusplus
}
#endif
