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
  std::string device_reason;
  std::vector<attempt_record> attempts;
  solve_times times;
  std::optional<batch_verdict> batch{};  // of tridiagonal systems given as such: the report is of the worst
  std::optional<solution_proof> proof;
};

}  // namespace vouch
