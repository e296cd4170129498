// vouch/solve/loop/checkpoint.hpp -- the state of an iteration in a file, from which it goes on after an end that came
// too early.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// What an iteration needs to go on, part after part: written to a file, or taken from one in the same order.
///
/// Throws  parse_error  the file has another part there, or a count that no iteration has
class solver_state {
 public:
  enum class kind : std::uint32_t { end, text, integers, doubles, singles };

  virtual ~solver_state() = default;
  /// Whether values come from a file.
  virtual bool loads() const = 0;

  /// A count, from least to most.
  static constexpr std::int64_t most_count = std::int64_t{1} << 53;
  void integer(const char* name, std::int64_t& value, std::int64_t most = most_count, std::int64_t least = 0);
  void integer(const char* name, int& value, int most, int least = 0) {
    std::int64_t wide = value;
    integer(name, wide, std::int64_t{most}, std::int64_t{least});
    value = static_cast<int>(wide);
  }
  void truth(const char* name, bool& value) {
    int number = value ? 1 : 0;
    integer(name, number, 1);
    value = number == 1;
  }
  /// Any 64 bits.
  void seed(const char* name, std::uint64_t& value) { values(name, kind::integers, &value, 1); }
  void number(const char* name, double& value) { values(name, kind::doubles, &value, 1); }
  void numbers(const char* name, double* data, std::int64_t count) { values(name, kind::doubles, data, count); }
  /// count elements on dev; of processes that share the system each has its own, one process after another.
  template <real T>
  void vector(const char* name, const device& dev, T* data, std::int64_t count) {
    elements(name, sizeof(T) == sizeof(double) ? kind::doubles : kind::singles, dev, data, count);
  }
  /// Lists take their length from the file.
  void list(const char* name, std::vector<double>& all) {
    all.resize(static_cast<std::size_t>(length(name, static_cast<std::int64_t>(all.size()))));
    values(name, kind::doubles, all.data(), static_cast<std::int64_t>(all.size()));
  }
  void list(const char* name, std::vector<std::int64_t>& all) {
    all.resize(static_cast<std::size_t>(length(name, static_cast<std::int64_t>(all.size()))));
    values(name, kind::integers, all.data(), static_cast<std::int64_t>(all.size()));
  }

 protected:
  /// The same in all processes.
  virtual void values(const char* name, kind type, void* data, std::int64_t count) = 0;
  virtual void elements(const char* name, kind type, const device& dev, void* data, std::int64_t count) = 0;
  /// That of the next part, where it is read; else `own`.
  virtual std::int64_t length(const char* name, std::int64_t own) = 0;
  virtual const std::string& file() const = 0;
};

/// What processes that share a system and one file of its state say to each other; all call the same in the same order.
class checkpoint_team {
 public:
  virtual ~checkpoint_team() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Each does its work; where one throws, all do.
  virtual void together(const std::function<void()>& work) = 0;
  /// One number of every process.
  virtual std::vector<std::int64_t> gather(std::int64_t mine) = 0;
  /// text := that of process 0.
  virtual void share(std::string& text) = 0;
};

/// What was written, or could not be.
struct checkpoint_note {
  std::string file;
  std::int64_t iteration = 0;
  std::string failure;  // why nothing was written; "" where the file is whole and on the disk
};

/// Saves an iteration from time to time, and lets another one go on from the file with the same bits.
///
///   vouch::checkpoint kept("solve.checkpoint", 300);
///   const vouch::checkpoint_scope saves(kept);
///   vouch::solve(dev, A, b, x, {.method = "minres"});
///
/// Memory  A buffer; of GPUs and of lists what one part of the file takes.
/// Result  The file is whole at every moment: it is written beside its name, brought to the disk and renamed. Where that
///         fails the listener hears of it, and the iteration goes on. A request to stop (a monitor, a cancellation)
///         is followed by a last file. GMRES goes on from the last restart before it, all else from the iteration
///         itself. A team writes one file, every process its own elements, and any number of processes goes on from it.
/// Cost    Writing the vectors of the method, 4 of the loop's and from 1 to 24 of its own, while the iteration waits.
class checkpoint {
 public:
  using listener = std::function<void(const checkpoint_note&)>;
  static constexpr double usual_seconds = 300;

  /// seconds: between the end of one file and the beginning of the next. The listener must not throw. The team, of which
  /// all processes make the same checkpoint, outlives it; nullptr: one process.
  ///
  /// Throws  value_error  negative seconds, or not a number
  explicit checkpoint(std::string file, double seconds = usual_seconds, listener heard = {},
                      checkpoint_team* team = nullptr);
  /// What a solve that is given this goes on from; file may be "", where nothing is to be saved.
  ///
  /// Cost    Reading the file twice, of a team together: for its check sum, then its values.
  /// Throws  file_error   there is no such file
  ///         parse_error  it is none of checkpoints, cut short or damaged
  ///         value_error  processes see different files
  static checkpoint resumed(const std::string& from, std::string file, double seconds = usual_seconds,
                            listener heard = {}, checkpoint_team* team = nullptr);
  ~checkpoint();
  checkpoint(checkpoint&&) noexcept;
  checkpoint& operator=(checkpoint&&) noexcept;

  /// The name of the file, "" where nothing is saved.
  const std::string& file() const { return file_; }
  /// How many processes write it together.
  int processes() const { return team_->size(); }
  /// That of the last file, else of the one that it goes on from; -1 where there is none.
  std::int64_t iteration() const { return iteration_; }
  /// How many files were written.
  std::int64_t written() const { return written_; }
  /// What the file that it goes on from says of this; "" where it says nothing, or there is none.
  const std::string& fact(const std::string& name) const;

  // For solvers.

  /// Files will say so. False: the one that it is still to go on from says otherwise.
  bool state_fact(const std::string& name, const std::string& text);
  /// Whether an iteration is still to take what was read, and from where.
  bool waits() const { return source_ != nullptr; }
  solver_state& source() { return *source_; }
  /// It has taken all.
  void taken() { source_.reset(); }
  /// Whether there is a file to write, and the time has come; processes of a team may differ.
  bool due() const { return !file_.empty() && clock::now() >= next_; }
  /// Writes what `state` visits; never throws. All processes of a team call it.
  void save(std::int64_t iteration, const std::function<void(solver_state&)>& state) noexcept;

 private:
  using clock = std::chrono::steady_clock;
  void begin_to_wait();

  checkpoint_team* team_;
  std::string file_;
  double seconds_;
  listener heard_;
  clock::time_point next_;
  std::map<std::string, std::string> facts_, facts_read_;
  std::unique_ptr<solver_state> source_;
  std::int64_t iteration_ = -1, written_ = 0;
};

/// While it lives, iterations that this thread gives to the library are saved by `kept`, the first one goes on from what
/// `kept` has read. One right-hand side at a time. Iterations inside proofs are not saved.
///
/// Memory  kept must outlive the scope. Scopes nest; the innermost counts.
/// Throws  (the solve) value_error  its loop saves nothing: one that stays on a GPU, in mixed precision, for several columns
///         parse_error  what was read is of another method or size
class checkpoint_scope {
 public:
  explicit checkpoint_scope(checkpoint& kept) noexcept;
  /// Hides what is around it: for solves that only serve another purpose, a proof for one.
  checkpoint_scope() noexcept;
  ~checkpoint_scope();
  checkpoint_scope(const checkpoint_scope&) = delete;
  checkpoint_scope& operator=(const checkpoint_scope&) = delete;

  /// What the innermost scope of the calling thread has; nullptr: there is none.
  static checkpoint* here() noexcept;

 private:
  checkpoint* before_;
};

}  // namespace vouch
