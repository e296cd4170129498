// vouch/solve/resume.hpp -- the options of a solve as its checkpoint keeps them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/verify/fingerprint.hpp>

namespace VOUCH_PUBLIC vouch {

/// An option that decides the bits of an iteration, called as the tool calls it; "" for a value that was not given.
struct kept_option {
  std::string name;
  std::string value;

  bool operator==(const kept_option&) const = default;
};

/// All of them, in a fixed order: engine ("" of this process), method, precond, precision, device, what sweeps take, when to stop.
std::vector<kept_option> kept_options(const solve_options& options);
/// Those of the solve that `kept` goes on from.
///
/// Throws  value_error  it was saved by a method's own function, which knows no options
std::vector<kept_option> kept_options(const checkpoint& kept);

/// Sets in `options` all but the device.
///
/// Throws  value_error  a value that there is not
void take_options(const std::vector<kept_option>& kept, solve_options& options);

/// The first option that `asked` gives and that is another in `kept`, with the value of `kept`; nothing where none is.
std::optional<kept_option> find_contradiction(const solve_options& asked, const std::vector<kept_option>& kept);

// For solvers.

/// Files will have these options, all decided, and that engine: "" of one process, "ranks".
///
/// Throws  value_error  the file that `kept` goes on from has others
void state_options(checkpoint& kept, const solve_options& taken, const std::string& engine = "");

/// Files will be of an operand - "matrix" or "right-hand side" - with that fingerprint; called so in messages.
///
/// Throws  value_error  the file that `kept` goes on from is of another
void state_operand(checkpoint& kept, const char* operand, const matrix_fingerprint& print,
                   const std::string& called);

}  // namespace vouch
