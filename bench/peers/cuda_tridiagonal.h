/* bench/peers/cuda_tridiagonal.h -- cuSPARSE's tridiagonal solvers behind a plain C door of vouch_peers_cuda.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum vouch_peer_tridiagonal_variant {
  vouch_peer_gtsv2,             /* one system, with interchanges */
  vouch_peer_gtsv2_nopivot,     /* one system, without */
  vouch_peer_gtsv2_strided,     /* contiguous systems, without interchanges */
  vouch_peer_gtsv_interleaved_0 /* interleaved systems by algorithm 0; 1 and 2 follow */
};

/* Systems in the memory of the GPU; x receives the answer of the last repeat. */
struct vouch_peer_tridiagonal_task {
  int device;
  int is_double;
  int variant; /* of vouch_peer_tridiagonal_variant, or the last of them + 1 or 2 */
  long long rows;
  long long systems;
  const void* dl;
  const void* d;
  const void* du;
  const void* b;
  void* x;
  int repeats;
};

struct vouch_peer_tridiagonal_answer {
  double seconds; /* the library's call alone, the best of the repeats */
  char message[240];
};

/* 0 on success; otherwise message says what failed. */
typedef int vouch_peer_cuda_tridiagonal_function(const struct vouch_peer_tridiagonal_task* task,
                                                 struct vouch_peer_tridiagonal_answer* answer);
vouch_peer_cuda_tridiagonal_function vouch_peer_cuda_tridiagonal;

#ifdef __cplusplus
}
#endif
