#include <vouch/distributed/communicator.hpp>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include <vouch/distributed/mpi/ranks.h>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/module_file.hpp>

namespace vouch {
namespace {

const vouch_ranks* started = nullptr;

class mpi_ranks final : public communicator {
 public:
  mpi_ranks(const vouch_ranks& module, int rank, int size) : module_(module), rank_(rank), size_(size) {}
  ~mpi_ranks() override {
    started = nullptr;
    module_.stop();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return module_.library; }
  void broadcast(void* data, std::int64_t bytes, int from) override { module_.broadcast(data, bytes, from); }
  void all_gather(const void* mine, void* all, std::span<const std::int64_t> bytes_of) override {
    module_.all_gather(mine, all, bytes_of.data());
  }
  void all_to_all(const void* sent, std::span<const std::int64_t> sent_bytes, void* received,
                  std::span<const std::int64_t> received_bytes) override {
    module_.all_to_all(sent, sent_bytes.data(), received, received_bytes.data());
  }
  void all_to_all(std::span<const std::int64_t> sent, std::span<std::int64_t> received) override {
    module_.all_to_all_numbers(sent.data(), received.data());
  }
  void sum(std::span<std::int64_t> values) override {
    module_.sum(values.data(), static_cast<std::int64_t>(values.size()));
  }
  void begin_exchange(std::span<const rank_message> sent, std::span<const rank_message> received) override {
    messages_.clear();
    for (const std::span<const rank_message> side : {sent, received})
      for (const rank_message& m : side) messages_.push_back({m.rank, m.data, m.bytes});
    module_.begin_exchange(messages_.data(), static_cast<std::int64_t>(sent.size()),
                           messages_.data() + sent.size(), static_cast<std::int64_t>(received.size()));
  }
  void end_exchange() override { module_.end_exchange(); }

 private:
  const vouch_ranks& module_;
  int rank_, size_;
  std::vector<vouch_message> messages_;
};

std::optional<int> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return {};
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return end != text && number > 0 ? std::optional(static_cast<int>(number)) : std::nullopt;
}

std::optional<int> first_of(std::initializer_list<const char*> variables) {
  for (const char* variable : variables)
    if (const std::optional<int> number = number_in(variable)) return number;
  return {};
}

}  // namespace

// Slurm sets SLURM_NTASKS for the script of a job, too, which is one process; only srun numbers a step's tasks.
std::optional<int> launched_ranks() {
  return first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

int launched_ranks_here() {
  return first_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}).value_or(1);
}

std::unique_ptr<communicator> start_mpi() {
  const ieee_environment here;
  const opened_module opened =
      open_module("vouch-mpi.so", VOUCH_RANKS_FUNCTION, "libopenmpi-dev (make mpi)", true);
  if (opened.function == nullptr) throw file_error("ranks need MPI, and " + opened.missing);
  const vouch_ranks* const module = reinterpret_cast<vouch_ranks_function*>(opened.function)();
  if (module->abi != VOUCH_RANKS_ABI)
    throw value_error("vouch-mpi.so is no module of this version of Vouch", "build both anew");
  int rank = 0, size = 1;
  if (module->start(&rank, &size) != 0) throw value_error("MPI does not start");
  started = module;
  return std::make_unique<mpi_ranks>(*module, rank, size);
}

void abort_mpi(int code) {
  if (started != nullptr) started->abort(code);
}

}  // namespace vouch
