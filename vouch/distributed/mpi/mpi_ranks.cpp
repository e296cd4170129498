// Ranks by MPI, as a module. Messages of any length go in pieces, since MPI counts in int.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <vector>

#include "ranks.h"

namespace {

constexpr int64_t piece = int64_t{1} << 30;
constexpr int tag = 1;

int my_rank = 0, ranks = 1;
std::vector<MPI_Request> requests;
char library[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI";

int start(int* rank, int* size) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  if (provided < MPI_THREAD_FUNNELED) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int length = 0;
  MPI_Get_library_version(library, &length);
  *std::find_if(library, library + sizeof library - 1, [](char c) { return c == ',' || c == '\n' || c == 0; }) =
      0;
  *rank = my_rank;
  *size = ranks;
  return 0;
}

void broadcast(void* data, int64_t bytes, int from) {
  for (int64_t at = 0; at < bytes; at += piece)
    MPI_Bcast(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, from,
              MPI_COMM_WORLD);
}

void receive(void* data, int64_t bytes, int from) {
  for (int64_t at = 0; at < bytes; at += piece)
    MPI_Irecv(static_cast<char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, from, tag,
              MPI_COMM_WORLD, &requests.emplace_back());
}

void send(const void* data, int64_t bytes, int to) {
  for (int64_t at = 0; at < bytes; at += piece)
    MPI_Isend(static_cast<const char*>(data) + at, static_cast<int>(std::min(piece, bytes - at)), MPI_BYTE, to,
              tag, MPI_COMM_WORLD, &requests.emplace_back());
}

void wait() {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
}

void all_to_all(const void* sent, const int64_t* sent_bytes, void* received, const int64_t* received_bytes) {
  const char* out = static_cast<const char*>(sent);
  char* in = static_cast<char*>(received);
  const char* own_out = nullptr;
  char* own_in = nullptr;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == my_rank)
      own_in = in;
    else
      receive(in, received_bytes[rank], rank);
    in += received_bytes[rank];
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == my_rank)
      own_out = out;
    else
      send(out, sent_bytes[rank], rank);
    out += sent_bytes[rank];
  }
  if (sent_bytes[my_rank] > 0) std::memcpy(own_in, own_out, static_cast<size_t>(sent_bytes[my_rank]));
  wait();
}

void all_gather(const void* mine, void* all, const int64_t* bytes_of) {
  const int64_t total = std::accumulate(bytes_of, bytes_of + ranks, int64_t{0});
  if (total <= INT_MAX) {
    static std::vector<int> counts, places;
    counts.assign(bytes_of, bytes_of + ranks);
    places.assign(static_cast<size_t>(ranks), 0);
    std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
    MPI_Allgatherv(mine, counts[static_cast<size_t>(my_rank)], MPI_BYTE, all, counts.data(), places.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    return;
  }
  char* to = static_cast<char*>(all);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == my_rank && bytes_of[rank] > 0) std::memcpy(to, mine, static_cast<size_t>(bytes_of[rank]));
    broadcast(to, bytes_of[rank], rank);
    to += bytes_of[rank];
  }
}

void all_to_all_numbers(const int64_t* sent, int64_t* received) {
  MPI_Alltoall(sent, 1, MPI_INT64_T, received, 1, MPI_INT64_T, MPI_COMM_WORLD);
}

void sum(int64_t* values, int64_t count) {
  for (int64_t at = 0; at < count; at += piece)
    MPI_Allreduce(MPI_IN_PLACE, values + at, static_cast<int>(std::min(piece, count - at)), MPI_INT64_T,
                  MPI_SUM, MPI_COMM_WORLD);
}

void begin_exchange(const vouch_message* sent, int64_t sends, const vouch_message* received, int64_t receives) {
  for (int64_t k = 0; k < receives; ++k) receive(received[k].data, received[k].bytes, received[k].rank);
  for (int64_t k = 0; k < sends; ++k) send(sent[k].data, sent[k].bytes, sent[k].rank);
}

void stop() { MPI_Finalize(); }

void abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_ranks* vouch_mpi_ranks() {
  static const vouch_ranks self{VOUCH_RANKS_ABI,    library, start,          broadcast, all_gather, all_to_all,
                                all_to_all_numbers, sum,     begin_exchange, wait,      stop,       abort};
  return &self;
}
