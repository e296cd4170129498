// cli/console.hpp -- stderr: log, warnings, errors, the progress line and what is said of long work.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <vouch/core/stopwatch.hpp>

namespace vouch::cli {

/// How much is said on stderr besides errors.
enum class verbosity {
  silent,    // -q: nothing
  warnings,  // with --json
  normal     // the log as well; -v asks for it with --json
};

/// Writes to stderr; what cannot be written there is no reason to lose a result.
void to_stderr(std::string_view text);

/// text with control characters as \\n or \\x1b, as a file's name may hold them; one line in any case.
std::string printable(std::string_view text);

/// Writes lines to stderr as its verbosity allows.
class console {
 public:
  explicit console(verbosity level) : level_(level) {}

  verbosity level() const { return level_; }
  /// A line of the log, behind as many empty ones as there are line feeds in front.
  void line(std::string_view text) const;
  /// "vouch: warning: ...", from verbosity warnings on.
  void warning(std::string_view text) const;

 private:
  verbosity level_;
};

/// What --color says: auto, always or never; throws usage_error.
void set_colour(std::string_view when);
/// Codes of terminals.
enum class shade { bad = 31, good = 32, warning = 33 };
/// text in bold and coloured where that is wanted; with --color=auto on a terminal, unless NO_COLOR stands in the
/// environment.
std::string shaded(shade tone, std::string_view text, int file_descriptor);

/// One line at the bottom of a terminal, rewritten ten times a second at most, first after one second; erased
/// when it goes. Says nothing where stderr is no terminal or the console is silent.
class progress_line {
 public:
  explicit progress_line(const console& log);
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// True when it is time to call show().
  bool due() const;
  void show(std::string_view text);
  void erase();

 private:
  bool enabled_;
  bool shown_ = false;
  stopwatch clock_;
  double next_ = 1;
};

/// While it lives, stderr says by time what is under way, how far it is and how long that may take, where the library
/// says so: on a terminal in the progress line, else in a line of the log after 4 seconds, then after twice as long each
/// time. Nobody else writes to stderr meanwhile.
class sign_of_life {
 public:
  /// what: "proving". log must outlive the object.
  sign_of_life(const console& log, std::string what);
  ~sign_of_life();
  sign_of_life(const sign_of_life&) = delete;
  sign_of_life& operator=(const sign_of_life&) = delete;

 private:
  void run();

  const console& log_;
  std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// What work() returns, with a sign of life while it works.
template <class Work>
auto with_sign_of_life(const console& log, std::string what, const Work& work) {
  const sign_of_life sign(log, std::move(what));
  return work();
}

}  // namespace vouch::cli
