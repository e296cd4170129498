// vouch/distributed/communicator.hpp -- processes that share one system: what they say to each other, how they
// agree on errors, and who starts them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Bytes that go to a rank, or come from it.
struct rank_message {
  int rank = 0;
  void* data = nullptr;  // what is sent is only read
  std::int64_t bytes = 0;
};

/// Ranks 0 to size() - 1, which all call the same functions in the same order, from one thread each.
///
/// Throws  Nothing by itself: a rank that fails between two calls must see to it that the others learn of it, or they
///         wait for ever (agree() does).
class communicator {
 public:
  virtual ~communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// As reported: "Open MPI 4.1.4".
  virtual std::string name() const = 0;

  /// data := that of rank `from`; the same number of bytes everywhere.
  virtual void broadcast(void* data, std::int64_t bytes, int from) = 0;
  /// all := the bytes of all ranks one after another; bytes_of has size() elements, and this rank's are
  /// bytes_of[rank()].
  virtual void all_gather(const void* mine, void* all, std::span<const std::int64_t> bytes_of) = 0;
  /// received := what every rank has sent to this one, one after another; so are the parts in sent.
  virtual void all_to_all(const void* sent, std::span<const std::int64_t> sent_bytes, void* received,
                          std::span<const std::int64_t> received_bytes) = 0;
  /// received[r] := sent[rank()] of rank r.
  virtual void all_to_all(std::span<const std::int64_t> sent, std::span<std::int64_t> received) = 0;
  /// values := their sums over all ranks.
  virtual void sum(std::span<std::int64_t> values) = 0;
  /// Messages between neighbours, at most one each way between two ranks; what is sent must stay as it is, and what is
  /// received is there, after end_exchange(). No other call comes between; a rank without messages need not call them.
  virtual void begin_exchange(std::span<const rank_message> sent, std::span<const rank_message> received) = 0;
  virtual void end_exchange() = 0;
};

/// The communicator of a process that is alone.
std::unique_ptr<communicator> make_single_rank();

/// One value of every rank.
template <class T>
std::vector<T> gather(communicator& ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()));
  const std::vector<std::int64_t> bytes(all.size(), sizeof(T));
  ranks.all_gather(&mine, all.data(), bytes);
  return all;
}

/// The elements of all ranks, one rank after another.
template <class T>
std::vector<T> gather_all(communicator& ranks, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::int64_t> bytes = gather(ranks, static_cast<std::int64_t>(mine.size_bytes()));
  std::int64_t total = 0;
  for (const std::int64_t b : bytes) total += b;
  std::vector<T> all(static_cast<std::size_t>(total) / sizeof(T));
  ranks.all_gather(mine.data(), all.data(), bytes);
  return all;
}

/// What every rank has for this one, one rank after another; count_for[r] elements of `sent`, which stand in the order of
/// ranks, are for rank r.
template <class T>
std::vector<T> distribute(communicator& ranks, std::span<const T> sent,
                          std::span<const std::int64_t> count_for) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto each = static_cast<std::int64_t>(sizeof(T));
  std::vector<std::int64_t> out(count_for.begin(), count_for.end()), in(out.size());
  for (std::int64_t& bytes : out) bytes *= each;
  ranks.all_to_all(out, in);
  std::int64_t total = 0;
  for (const std::int64_t bytes : in) total += bytes;
  std::vector<T> received(static_cast<std::size_t>(total / each));
  ranks.all_to_all(sent.data(), out, received.data(), in);
  return received;
}

/// Every rank does its work, which calls no function of ranks; where one throws, all throw what the first of them did.
///
/// Result  The work's exceptions as value_error, shape_error, cancelled, or, of files and memory, file_error; with "rank 2: " in front
///         where not all ranks threw the same.
/// Cost    One all_gather() of a number.
void agree(communicator& ranks, const std::function<void()>& work);

/// text := that of rank `from`.
void share(communicator& ranks, std::string& text, int from);

/// Throws value_error where not all ranks have the same bytes: "rank 2 has other WHAT than rank 0".
void require_same(communicator& ranks, const void* data, std::int64_t bytes, const char* what,
                  const char* hint);

/// How many processes a launcher (mpirun of Open MPI or MPICH, srun of Slurm) says that it started with this one; nothing
/// where there is none.
std::optional<int> launched_ranks();
/// Of them, those on this machine; 1 where it is not known.
int launched_ranks_here();

/// The ranks of MPI_COMM_WORLD, once a process; the result's end waits for all of them.
///
/// Memory  The module vouch-mpi.so is looked for beside the program, in its ../lib/vouch and where VOUCH_BACKENDS says.
/// Throws  file_error   there is no such module; the text names the package
///         value_error  MPI does not start
std::unique_ptr<communicator> start_mpi();

/// Ends all ranks with that code, now: for a failure that the others cannot learn of. Does nothing before start_mpi().
void abort_mpi(int code);

}  // namespace vouch
