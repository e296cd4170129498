// tests/distributed/thread_ranks.hpp -- ranks that are threads of the test.
#pragma once
#include <barrier>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <vouch/distributed/communicator.hpp>

namespace vouch::testing {

/// What they share: each says where its operand is, all wait, each copies what it wants, all wait.
class thread_hub {
 public:
  explicit thread_hub(int ranks)
      : all_here(ranks),
        pointers(static_cast<std::size_t>(ranks)),
        sizes(pointers.size()),
        slots(pointers.size() * pointers.size()) {}
  std::barrier<> all_here;
  std::vector<const void*> pointers;
  std::vector<std::span<const std::int64_t>> sizes;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void*> slots;  // of messages that are not taken yet, by sender and receiver
};

class thread_rank final : public communicator {
 public:
  thread_rank(thread_hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_.pointers.size()); }
  std::string name() const override { return "threads"; }
  void broadcast(void* data, std::int64_t bytes, int from) override {
    show(data, {});
    if (rank_ != from) copy(data, hub_.pointers[static_cast<std::size_t>(from)], bytes);
    barrier();
  }
  void all_gather(const void* mine, void* all, std::span<const std::int64_t> bytes_of) override {
    show(mine, {});
    char* to = static_cast<char*>(all);
    for (std::size_t r = 0; r < bytes_of.size(); to += bytes_of[r++]) copy(to, hub_.pointers[r], bytes_of[r]);
    barrier();
  }
  void all_to_all(const void* data, std::span<const std::int64_t> sent_bytes, void* received,
                  std::span<const std::int64_t> received_bytes) override {
    show(data, sent_bytes);
    char* to = static_cast<char*>(received);
    for (std::size_t r = 0; r < received_bytes.size(); to += received_bytes[r++]) {
      const char* from = static_cast<const char*>(hub_.pointers[r]);
      for (int k = 0; k < rank_; ++k) from += hub_.sizes[r][static_cast<std::size_t>(k)];
      copy(to, from, received_bytes[r]);
    }
    barrier();
  }
  void all_to_all(std::span<const std::int64_t> sent, std::span<std::int64_t> received) override {
    show(nullptr, sent);
    for (std::size_t r = 0; r < received.size(); ++r)
      received[r] = hub_.sizes[r][static_cast<std::size_t>(rank_)];
    barrier();
  }
  void sum(std::span<std::int64_t> values) override {
    show(nullptr, values);
    std::vector<std::int64_t> totals(values.size(), 0);
    for (const auto& theirs : hub_.sizes)
      for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += theirs[k];
    barrier();
    std::copy(totals.begin(), totals.end(), values.begin());
  }
  void begin_exchange(std::span<const rank_message> sent, std::span<const rank_message> received) override {
    sent_ = sent;
    received_ = received;
    const std::lock_guard lock(hub_.mutex);
    for (const rank_message& m : sent) slot(rank_, m.rank) = m.data;
    hub_.changed.notify_all();
  }
  void end_exchange() override {
    std::unique_lock lock(hub_.mutex);
    for (const rank_message& m : received_) {
      const void*& there = slot(m.rank, rank_);
      hub_.changed.wait(lock, [&] { return there != nullptr; });
      copy(m.data, there, m.bytes);
      there = nullptr;
    }
    hub_.changed.notify_all();
    for (const rank_message& m : sent_) hub_.changed.wait(lock, [&] { return slot(rank_, m.rank) == nullptr; });
  }

 private:
  void barrier() { hub_.all_here.arrive_and_wait(); }
  void show(const void* data, std::span<const std::int64_t> sizes) {
    hub_.pointers[static_cast<std::size_t>(rank_)] = data;
    hub_.sizes[static_cast<std::size_t>(rank_)] = sizes;
    barrier();
  }
  const void*& slot(int from, int to) {
    return hub_.slots[static_cast<std::size_t>(from) * hub_.pointers.size() + static_cast<std::size_t>(to)];
  }
  static void copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  thread_hub& hub_;
  int rank_;
  std::span<const rank_message> sent_, received_;
};

/// body(ranks) on so many ranks at once; what they throw, which all must, is thrown.
inline void on_ranks(int ranks, const std::function<void(communicator&)>& body) {
  thread_hub hub(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      thread_rank self(hub, rank);
      try {
        body(self);
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  if (thrown[0]) std::rethrow_exception(thrown[0]);
}

}  // namespace vouch::testing
