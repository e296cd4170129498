// vouch/solve/resume.hpp -- the options of a solve as its checkpoint keeps them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/options.hpp>

namespace VOUCH_PUBLIC vouch {

/// An option that decides the bits of an iteration, called as the tool calls it; "" for a value that was not given.
struct kept_option {
  std::string name;
  std::string value;

  bool operator==(const kept_option&) const = default;
};

/// All of them, in a fixed order: method, precond, precision, device, what sweeps take, when to stop.
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

}  // namespace vouch
