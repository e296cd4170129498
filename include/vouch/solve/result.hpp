// vouch/solve/result.hpp -- what a solver says of its own work.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/solve/proof.hpp>

namespace VOUCH_PUBLIC vouch {

struct method;

/// Seconds; every part of a solve belongs to one of them.
struct solve_times {
  double cuda_start = 0;  // where CUDA had to be started
  double setup = 0;       // and attempts that came to nothing
  double transfer = 0;
  double solve = 0;  // verdict included
};

/// One attempt of the plan, as it ended.
struct attempt_record {
  std::string method;
  working_precision precision = working_precision::double_;
  std::string why;                       // it was taken; "" where it was asked for by name
  std::optional<solve_status> status{};  // nothing: it threw
  std::string reason;                    // it ended
  std::int64_t iterations = 0;
};

/// The verdict on one system of a batch.
struct system_verdict {
  bool converged = false;
  double relative_true = 0;  // ||b - Ax||_2 / ||b||_2, in higher precision, of the x returned
  double backward_error = 0;
};

/// What became of the systems of a batch, which count from 0.
struct batch_verdict {
  std::vector<system_verdict> systems;
  std::int64_t worst = 0;
  std::int64_t missed = 0;                 // did not converge
  std::vector<std::int64_t> first_missed;  // at most 100 of them
};

/// The report of the worst column, with the iterations and warnings of all; what was chosen, and why.
struct solve_result : solve_report {
  std::int64_t column = 0;            // which one is the worst, from 0
  std::vector<solve_report> columns;  // of every column that was begun, where there are several
  const vouch::method* how = nullptr;
  std::string method_reason;     // why auto took the method; "" where it was asked for by name
  std::string precision_reason;  // why the precision is not the one asked for; "" where it is
  device where = device::cpu(1);
  std::vector<int> gpus;  // that shared it; empty: where alone
  std::string device_reason;
  std::vector<attempt_record> attempts;
  solve_times times;
  std::optional<batch_verdict> batch{};  // of tridiagonal systems given as such: the report is of the worst
  std::optional<solution_proof> proof;
};

/// What the key "inertia" of JSON says.
template <class Say>
void describe(const inertia& signs, const Say& say) {
  say("positive", signs.positive);
  say("negative", signs.negative);
  say("zero", signs.zero);
}

/// What the key "convergence" of JSON says; rows count from 1.
template <class Say>
void describe(const convergence_facts& facts, const Say& say) {
  using row = std::optional<std::int64_t>;
  using relaxation = std::optional<double>;
  say("proved", facts.proved);
  say("dominance", facts.dominance);
  say("ratio", facts.ratio);
  say("weakest_row", facts.weakest_row >= 0 ? row(facts.weakest_row + 1) : row());
  say("omega_below", facts.omega_below > 0 ? relaxation(facts.omega_below) : relaxation());
  say("omega", facts.omega);
  say("reason", facts.reason);
}

/// The error bound that dominance proves, where sweeps found one; without radii.
std::optional<solution_proof> proof_by_dominance(const solve_report& r);

/// What JSON says of a result, as vouch solve --json does (docs/schema/solve.json): its keys, in their order, but for those
/// of files, of the machine and of repeated runs.
///
/// say(key, value) takes std::string, bool, std::int64_t, double and std::optional of these; NaN, infinity and nothing stand
/// for what is not known. say.object(key, describe) is for an object, whose describe(say) says what is in it.
template <class Say>
void describe(const solve_result& r, const Say& say) {
  using text = std::optional<std::string>;
  const auto known = [](const std::string& word) { return word.empty() ? text() : text(word); };
  const auto object = [&](const char* key, const auto& part) {
    if (part)
      say.object(key, [&](const auto& inner) { describe(*part, inner); });
    else
      say(key, text());
  };
  say("method", r.method);
  say("method_reason", known(r.method_reason));
  say("preconditioner", r.preconditioner);
  say("backend", known(r.backend));
  say("problem", r.problem);
  say("rank", r.rank);
  object("inertia", r.signs);
  say("precision", r.precision);
  say("status", std::string(name(r.status)));
  say("reason", r.reason);
  say("iterations", r.iterations);
  say("reproducible", r.reproducible);
  say.object("residual", [&](const auto& inner) {
    inner("relative_true", r.relative_true());
    inner("relative_recurrence", r.relative_recurrence());
    inner("backward_error", r.backward_error);
    inner("normal_equations", r.normal_equations);
  });
  say("condition_estimate", r.condition_estimate);
  say("error_estimate", r.error_estimate);
  object("convergence", r.convergence);
  if (r.proof)
    object("error_bound", r.proof);
  else
    object("error_bound", proof_by_dominance(r));
}

}  // namespace vouch
