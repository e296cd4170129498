// cli/verification.hpp -- proofs of how good solutions are, for vouch solve --verify and vouch verify.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/linear_system.hpp>
#include <vouch/solve/proof.hpp>
#include <vouch/text/file.hpp>
#include <vouch/verify/uncertainty.hpp>

#include "console.hpp"

namespace vouch::cli {

class command_line;

/// What is asked for.
struct verification_request {
  bool wanted = false;
  std::optional<double> digits;  // below 1: a relative error; from 1: decimal digits; none: what can be proved
  std::string matrix_radius, rhs_radius;    // numbers or files, as given
  uncertainty within;                       // the numbers
  std::string matrix_file, rhs_file;        // the files
  bool decimal = false;                     // about the decimal numbers as they are written
  std::string bounds;                       // a file
  std::string bounds_form = "lower-upper";  // or mid-radius

  bool asked() const { return wanted; }
  /// Whether there is more to the radii than one relative number for all.
  bool has_radii_of_entries() const { return decimal || !matrix_file.empty() || !rhs_file.empty(); }
  /// The relative error that every component must be proved to keep; 0 for any.
  double relative() const;
};

/// --verify, --bounds, --bounds-form, --matrix-radius, --rhs-radius and --decimal.
void add_verification_options(command_line& line, verification_request& request);
/// The last five.
void add_bound_options(command_line& line, verification_request& request);
/// option is the one that asks for digits. Throws usage_error; file_error where the bounds could not be
/// written.
void check_verification(verification_request& request, const char* option = "--verify");

/// What is asked of a solver; radii outlives it. system tells which radii there are.
proof_request proof_for(const device& cpu, const verification_request& request, const linear_system& system,
                        data_radii& radii);

/// Nothing counts as verified whose bounds are asked for and beyond what can be written.
void withhold_overflow(const verification_request& request, view<const double> x, solution_proof& proof);

/// The bounds alone, as the object "error_bound" has them.
nlohmann::ordered_json size_json(const solution_proof& proof);
void log_verification(const console& log, const solution_proof& proof);
/// A line for people.
std::string sentence(const solution_proof& proof);
/// Writes lower and upper bounds, or x and radii, two columns for each of x, four of a complex one (of real and
/// imaginary parts), where a file was asked for and all is proved.
void write_bounds(atomic_files& files, const verification_request& request, const array<double>& x,
                  const solution_proof& proof, bool by_parts = false);

}  // namespace vouch::cli
