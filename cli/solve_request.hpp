// cli/solve_request.hpp -- what vouch solve is asked to do.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/options.hpp>

#include "common.hpp"
#include "verification.hpp"

namespace vouch::cli {

struct solve_request {
  common_options common;
  solve_options options;  // all but the device
  std::string matrix;
  std::string rhs = "ones";       // ones, row-sums or a file
  std::string initial = "zeros";  // zeros, ones or a file
  bool batch = false;             // the file holds a batch of systems
  std::string precondition;       // "": the method's own
  std::string amg_type = "auto";
  std::string coordinates;     // a file, or ""
  std::string near_nullspace;  // likewise
  std::string engine;          // "": this process
  std::string petsc_words;     // PETSc's own options
  verification_request verification;
  std::string checkpoint_file, resume_file;  // "": none
  double checkpoint_seconds = checkpoint::usual_seconds;
  std::shared_ptr<checkpoint> kept;        // what these ask for; with an engine it opens them
  checkpoint::listener on_checkpoint;      // hears of every file
  std::optional<std::int64_t> resumed_at;  // an iteration
  std::string history;
  std::string plot;

  /// The relative tolerance that holds.
  double relative_tolerance() const { return *options.goal.rtol; }
  /// It is as given or as a checkpoint has it, else the precision's own.
  void settle_tolerance();
};

/// Whether a method of the table is one for tridiagonal systems.
bool solves_tridiagonal(const std::string& name);

/// Reads and checks the command line, with everything in it that can be judged before the matrix is read.
///
/// Result  False when -h was asked for and has been printed.
/// Throws  usage_error; file_error  a file could not be written there
bool parse_solve_request(std::span<const char* const> arguments, solve_request& request);

/// vouch solve --batch: reads, solves, writes and reports; the exit code.
int solve_batch(const solve_request& request, const console& log);

// --checkpoint and --resume: solve_checkpoint.cpp.

/// "5min", "30s", "2h" or plain seconds; otherwise usage_error.
double parse_duration(std::string_view option, const std::string& text);

/// Refuses, by usage_error, options that go with no checkpoint.
void check_companions_of_checkpoint(const solve_request& request);

/// Opens what the request asks for. With --resume the options of the solve come from the file.
///
/// Memory  The team, if there is one, outlives request.kept; all of it call this.
/// Throws  usage_error  an option that contradicts the file
///         file_error, parse_error  there is no such file, or it is none of checkpoints
void take_checkpoint(solve_request& request, checkpoint_team* team = nullptr);

/// Says where it goes on, and from now on what is written, behind make_room().
void log_checkpoints(const console& log, solve_request& request, const std::function<void()>& make_room);

/// {"file", "iteration", "written", "resumed_at"}; null without --checkpoint and --resume.
nlohmann::ordered_json checkpoint_json(const solve_request& request);

}  // namespace vouch::cli
