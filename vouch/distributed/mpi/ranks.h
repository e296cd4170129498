/* vouch/distributed/mpi/ranks.h -- what the module over MPI exports: plain C, so that only the module is compiled against
 * an MPI. */
#ifndef VOUCH_DISTRIBUTED_MPI_RANKS_H
#define VOUCH_DISTRIBUTED_MPI_RANKS_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VOUCH_RANKS_ABI = 2 };

struct vouch_message {
  int rank;
  void* data;
  int64_t bytes;
};

/* As the functions of communicator.hpp; arrays of numbers have one for each rank. Failures of MPI end the process. */
struct vouch_ranks {
  int abi;             /* VOUCH_RANKS_ABI */
  const char* library; /* "Open MPI v4.1.4", once started */

  /* Once a process; 0 where that was done. */
  int (*start)(int* rank, int* size);
  void (*broadcast)(void* data, int64_t bytes, int from);
  void (*all_gather)(const void* mine, void* all, const int64_t* bytes_of);
  void (*all_to_all)(const void* sent, const int64_t* sent_bytes, void* received,
                     const int64_t* received_bytes);
  void (*all_to_all_numbers)(const int64_t* sent, int64_t* received);
  void (*sum)(int64_t* values, int64_t count);
  void (*begin_exchange)(const struct vouch_message* sent, int64_t sends, const struct vouch_message* received,
                         int64_t receives);
  void (*end_exchange)(void);
  /* Waits for all ranks; no call comes after it. */
  void (*stop)(void);
  /* Ends all ranks, now. */
  void (*abort)(int code);
};

/* The one function that the module has: never NULL. */
typedef const struct vouch_ranks* vouch_ranks_function(void);
#define VOUCH_RANKS_FUNCTION "vouch_mpi_ranks"

#ifdef __cplusplus
}
#endif
#endif
