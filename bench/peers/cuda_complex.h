/* bench/peers/cuda_complex.h -- complex products by cuSPARSE, behind the C door of the module vouch_peers_cuda. */
#pragma once

#include "cuda_cg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vouch_peer_complex_answer {
  double
      seconds; /* one product, the best of several batches by the fastest of the CSR algorithms, preprocessed */
  char message[240];
};

/* A product of the system's matrix, val and b of complex numbers, with its b. 0 on success; otherwise message says
   what failed. */
typedef int vouch_peer_cuda_complex_function(int device, const struct vouch_peer_system* system,
                                             struct vouch_peer_complex_answer* answer);
vouch_peer_cuda_complex_function vouch_peer_cuda_complex;

#ifdef __cplusplus
}
#endif
