// vouch/distributed/communicator.hpp -- what processes that share one system say to each other.
#pragma once
#include <cstdint>
#include <memory>
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
///         wait for ever (agree() in agreement.hpp does).
class communicator {
 public:
  virtual ~communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// As reported: "Open MPI 4.1.4".
  virtual std::string name() const = 0;

  virtual void barrier() = 0;
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

}  // namespace vouch
