#include "solve_output.hpp"

#include <fmt/format.h>

#include <cli/report/plot.hpp>
#include <filesystem>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "verification.hpp"

namespace vouch::cli {
namespace {

double relative(const solve_report& report, double residual) {
  return report.rhs_norm > 0 ? residual / report.rhs_norm : residual;
}

plot::line_plot convergence_plot(const solve_request& request, const linear_system& system,
                                 const solve_outcome& outcome, const structure_facts& facts) {
  const solve_result& report = outcome.result;
  plot::series recurrence{"residual of the recurrence", {}, {}, true, false, false};
  for (const iteration_record& record : report.history) {
    recurrence.x.push_back(static_cast<double>(record.iteration));
    recurrence.y.push_back(relative(report, record.residual));
  }
  const double last = recurrence.x.empty() ? 0 : recurrence.x.back();
  plot::series verified{fmt::format("true residual at the end, {:.2g}", report.relative_true()),
                        {last},
                        {report.relative_true()},
                        false,
                        true,
                        false};
  plot::line_plot result;
  result.title =
      fmt::format("{}: {} after {} iterations", std::filesystem::path(system.file).filename().string(),
                  name(report.status), report.iterations);
  result.subtitle = fmt::format("{} unknowns, {} nonzeros; {}, preconditioner {}, {} precision; {}",
                                system.unknowns(), entries_of(system, facts), report.how->title,
                                report.preconditioner, report.precision, report.where.name());
  result.x = {"iteration", plot::scale::linear, 0.0, {}};
  result.y = {"residual / norm of the right-hand side", plot::scale::logarithmic, {}, {}};
  result.lines = {std::move(recurrence), std::move(verified)};
  const stopping_criterion& goal = request.options.goal;
  if (goal.stop_recurrence)
    result.references.push_back({relative(report, *goal.stop_recurrence),
                                 fmt::format("stopping rule {:.3g}", relative(report, *goal.stop_recurrence))});
  else if (goal.by_residual())
    result.references.push_back({relative(report, report.tolerance),
                                 fmt::format("tolerance {:.3g}", relative(report, report.tolerance))});
  return result;
}

void write_text(atomic_file& file, const std::string& text) {
  file.write(text);
  file.finish();
}

}  // namespace

void write_history(atomic_file& file, const solve_report& report) {
  file.write("iteration,residual,relative\n");
  for (const iteration_record& record : report.history)
    file.write(fmt::format("{},{},{}\n", record.iteration, number_text(record.residual),
                           number_text(relative(report, record.residual))));
  file.finish();
}

void write_files(const solve_request& request, const linear_system& system, const solve_outcome& outcome,
                 const structure_facts& facts) {
  atomic_files files;
  if (!request.history.empty()) write_history(files.open(request.history), outcome.result);
  if (!request.plot.empty())
    write_text(files.open(request.plot), plot::to_svg(convergence_plot(request, system, outcome, facts)));
  if (!request.common.output.empty() && has_solution(outcome.result.status))
    write_solution(files.open(request.common.output), system, outcome.x);
  if (outcome.result.proof)
    write_bounds(files, request.verification, outcome.x, *outcome.result.proof,
                 system.complex_entries.has_value());
  files.commit();
}

}  // namespace vouch::cli
