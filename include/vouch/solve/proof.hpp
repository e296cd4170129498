// vouch/solve/proof.hpp -- what is proved of the solutions of a system, for all its right-hand sides.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/verify/interval_data.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

struct proof_request {
  double relative = 0;                // asked of every component, relative to itself; 0: what can be proved
  uncertainty within{};               // of the data, where there are no radii
  const data_radii* radii = nullptr;  // of the entries, and of all right-hand sides, column by column
};

/// The bounds and their evidence, of the worst column. Only with `verified` do the numbers say anything.
struct solution_proof {
  bool verified = false;
  bool reached = false;            // what was asked
  std::string method;              // "" where none applies
  std::string reason;              // one line, says why
  std::string problem = "square";  // what the exact solution is of: or "least-squares", "least-norm"
  double max_absolute = 0, max_relative = 0, median_relative = 0, condition_estimate = 0;
  int digits = 0;
  int refinements = 0;
  std::int64_t systems_unproved = 0;  // of a batch
  std::vector<std::int64_t> first_unproved;
  double seconds = 0;
  std::int64_t rows = 0;
  array<double> radius;  // |x - exact| <= radius, as x, on the CPU; empty where nothing was proved
};

struct error_bound;
struct tridiagonal_bound;

/// What the key "error_bound" of JSON says of a proof; describe() in vouch/solve/result.hpp has what say is.
template <class Say>
void describe(const solution_proof& proof, const Say& say) {
  const auto known = [&](double number) {
    return proof.verified ? number : std::numeric_limits<double>::quiet_NaN();
  };
  say("verified", proof.verified);
  say("method", proof.method.empty() ? std::nullopt : std::optional(proof.method));
  say("max_absolute", known(proof.max_absolute));
  say("max_relative", known(proof.max_relative));
  say("median_relative", known(proof.median_relative));
  say("condition_estimate", known(proof.condition_estimate));
  say("seconds", proof.seconds);
  say("reason", proof.reason);
}

/// Joins the bound of a column to those of the columns before: the worst of each number.
void add_column(solution_proof& all, const error_bound& one, bool first);
/// Takes the bound of a batch; all.radius is set and belongs to x.
void take_batch(solution_proof& all, const tridiagonal_bound& bound, view<const double> x);
/// Nothing proved, and why.
solution_proof unproved(const std::string& reason);

/// What a proof for improved solutions says of those that were given, before corrections moved them:
/// |given - x*| <= |given - improved| + radius, all rounded upwards. The result has no radii of its own.
///
/// Of complex numbers by their real form, with two parts: moduli of the errors, relative to moduli.
///
/// Shapes  given and improved have the elements of proved.radius.
solution_proof about_given(view<const double> given, view<const double> improved, const solution_proof& proved,
                           double relative, int parts = 1);

}  // namespace vouch
