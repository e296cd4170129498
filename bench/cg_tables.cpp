// The tables that people read.
#include <fmt/format.h>

#include <algorithm>

#include "cg_results.hpp"

namespace vouch::bench {
namespace {

constexpr const char* cpu_labels[] = {"cpu", "cpu1"};

std::optional<double> change(std::optional<double> from, std::optional<double> to) {
  if (!from || !to || *from == 0) return std::nullopt;
  return *to / *from - 1;
}

std::optional<double> ratio(std::optional<double> of, std::optional<double> to) {
  if (!of || !to || *to == 0) return std::nullopt;
  return *of / *to;
}

const cg_case_facts* find_case(const cg_results& results, const std::string& name) {
  for (const cg_case_facts& c : results.cases)
    if (c.name == name) return &c;
  return nullptr;
}

text_table published_table(const cg_results& results) {
  text_table table("Tables 1 and 2: stop at ||r|| < 1e-5 on the recurrence, b = A*ones, x0 = 0",
                   {{"matrix", true},
                    {"device", true},
                    {"precision", true},
                    {"status", true},
                    {"iterations"},
                    {"mean"},
                    {"std dev"},
                    {"runs"},
                    {"true residual"},
                    {"published"},
                    {"published time"},
                    {"times faster"}});
  for (const solve_cell& cell : results.solves) {
    if (cell.rule != published_rule) continue;
    const cg_case_facts* facts = find_case(results, cell.case_name);
    std::optional<std::int64_t> iterations;
    std::optional<double> seconds;
    if (facts != nullptr && facts->figures) {
      const bool gpu = cell.device == "gpu";
      iterations = gpu ? facts->figures->cuda_iterations : facts->figures->cpu_iterations;
      seconds = gpu ? facts->figures->cuda_seconds : facts->figures->cpu_seconds;
    }
    table.add({cell.case_name, cell.device, cell.precision, name(cell.report.status),
               count_text(cell.report.iterations), seconds_text(cell.seconds.mean),
               seconds_text(cell.seconds.deviation), count_text(cell.seconds.count),
               small_text(cell.report.relative_true()), count_text(iterations), seconds_text(seconds),
               ratio_text(ratio(seconds, cell.seconds.mean))});
  }
  table.note("true residual: ||b - Ax|| / ||b|| of the x returned, recomputed in higher precision.");
  table.note(
      "published: iterations and time on the CPU (beside cpu1, cpu) or with CUDA (beside gpu), single "
      "precision, 2010.");
  return table;
}

text_table true_table(const cg_results& results) {
  text_table table("The true rule: ||b - Ax|| <= rtol ||b||, rtol 1e-8 in double, 1e-5 in single",
                   {{"matrix", true},
                    {"device", true},
                    {"precision", true},
                    {"status", true},
                    {"iterations"},
                    {"mean"},
                    {"std dev"},
                    {"runs"},
                    {"true residual"},
                    {"backward error"},
                    {"engine", true}});
  for (const solve_cell& cell : results.solves)
    if (cell.rule == true_rule && cell.preconditioner == "none")
      table.add({cell.case_name, cell.device, cell.precision, name(cell.report.status),
                 count_text(cell.report.iterations), seconds_text(cell.seconds.mean),
                 seconds_text(cell.seconds.deviation), count_text(cell.seconds.count),
                 small_text(cell.report.relative_true()), small_text(cell.report.backward_error),
                 cell.report.engine});
  return table;
}

// One line of Table 3: how `to` differs from `from`.
void compare(text_table& table, const std::string& case_name, const std::string& what, const solve_cell* from,
             const solve_cell* to) {
  if (from == nullptr || to == nullptr) return;
  table.add({case_name, what,
             change_text(change(static_cast<double>(from->report.iterations),
                                static_cast<double>(to->report.iterations))),
             change_text(change(from->seconds.mean, to->seconds.mean))});
}

text_table difference_table(const cg_results& results) {
  text_table table("Table 3: differences under the published rule",
                   {{"matrix", true}, {"compared", true}, {"iterations"}, {"time"}});
  for (const cg_case_facts& c : results.cases) {
    const auto cell = [&](const char* device, const char* precision) {
      return find_solve(results, c.name, device, precision, published_rule);
    };
    const char* cpu = cell(cpu_labels[0], "double") != nullptr ? cpu_labels[0] : cpu_labels[1];
    for (const char* precision : {"single", "double"})
      compare(table, c.name, fmt::format("gpu against {}, {}", cpu, precision), cell(cpu, precision),
              cell("gpu", precision));
    for (const char* device : {cpu, "gpu"})
      compare(table, c.name, fmt::format("double against single, {}", device), cell(device, "single"),
              cell(device, "double"));
    if (c.figures && c.figures->cuda_iterations)
      table.add({c.name, "published: CUDA against CPU, single",
                 change_text(change(static_cast<double>(c.figures->cpu_iterations),
                                    static_cast<double>(*c.figures->cuda_iterations))),
                 change_text(change(c.figures->cpu_seconds, c.figures->cuda_seconds))});
  }
  return table;
}

text_table fixed_table(const cg_results& results) {
  text_table table("Table 4: the CPU's number of iterations on each device", {{"matrix", true},
                                                                              {"precision", true},
                                                                              {"device", true},
                                                                              {"iterations"},
                                                                              {"mean"},
                                                                              {"std dev"},
                                                                              {"an iteration"},
                                                                              {"true residual"}});
  const auto add = [&](const solve_cell& cell) {
    table.add({cell.case_name, cell.precision, cell.device, count_text(cell.report.iterations),
               seconds_text(cell.seconds.mean), seconds_text(cell.seconds.deviation),
               seconds_text(cell.seconds.mean /
                            static_cast<double>(std::max<std::int64_t>(cell.report.iterations, 1))),
               small_text(cell.report.relative_true())});
  };
  for (const cg_case_facts& c : results.cases)
    for (const char* precision : {"single", "double"}) {
      for (const char* device : {"cpu1", "cpu"})
        if (const solve_cell* cell = find_solve(results, c.name, device, precision, published_rule)) add(*cell);
      if (const solve_cell* cell = find_solve(results, c.name, "gpu", precision, fixed_rule)) add(*cell);
    }
  table.note("The CPU's lines are those of Tables 1 and 2: its own number of iterations.");
  return table;
}

text_table preconditioner_table(const cg_results& results) {
  text_table table("Preconditioners, double, true rule 1e-8; the time includes making M",
                   {{"matrix", true},
                    {"device", true},
                    {"preconditioner", true},
                    {"status", true},
                    {"iterations"},
                    {"mean"},
                    {"against none"},
                    {"true residual"}});
  for (const solve_cell& cell : results.solves) {
    if (cell.rule != true_rule || cell.preconditioner == "none") continue;
    const solve_cell* plain = find_solve(results, cell.case_name, cell.device, cell.precision, true_rule);
    table.add({cell.case_name, cell.device, cell.preconditioner, name(cell.report.status),
               count_text(cell.report.iterations), seconds_text(cell.seconds.mean),
               plain == nullptr ? "-" : ratio_text(ratio(plain->seconds.mean, cell.seconds.mean)),
               small_text(cell.report.relative_true())});
  }
  return table;
}

text_table choice_table(const cg_results& results) {
  text_table table("What --device auto takes", {{"matrix", true}, {"device", true}, {"why", true}});
  for (const automatic_choice& choice : results.choices)
    table.add({choice.case_name, choice.gpu ? "gpu" : "cpu", choice.why});
  return table;
}

text_table iteration_table(const std::string& title, const std::vector<iteration_cell>& cells,
                           const std::string& family) {
  text_table table(title, {{"system", true},
                           {"unknowns"},
                           {"device", true},
                           {"precision", true},
                           {"layout", true},
                           {"an iteration"},
                           {"bytes"},
                           {"floor"},
                           {"of memory speed"},
                           {"peer", true},
                           {"peer's"},
                           {"times faster"},
                           {"same bits", true}});
  for (const iteration_cell& cell : cells) {
    if (!cell.case_name.starts_with(family)) continue;
    table.add({cell.case_name, count_text(cell.rows), cell.device, cell.precision, cell.layout,
               seconds_text(cell.seconds), bytes_text(cell.bytes), seconds_text(cell.floor),
               percent_text(ratio(cell.floor, cell.seconds)), cell.peer_seconds ? cell.peer : "-",
               seconds_text(cell.peer_seconds), ratio_text(ratio(cell.peer_seconds, cell.seconds)),
               cell.same_bits ? "yes" : "NO"});
  }
  table.note(
      "bytes: the matrix as stored and 9 n values. floor: bytes at the memory speed measured in this run; "
      "a dash where a cache holds them all.");
  return table;
}

// Says once why a peer is missing.
std::vector<std::string> missing_peers(const std::vector<iteration_cell>& cells) {
  std::vector<std::string> lines;
  for (const iteration_cell& cell : cells)
    if (!cell.peer_seconds && cell.peer.starts_with("no ") &&
        std::find(lines.begin(), lines.end(), cell.peer) == lines.end())
      lines.push_back(cell.peer);
  for (std::string& line : lines) line = "Peer not measured: " + line + ".";
  return lines;
}

report_section scaling_section(const cg_results& results) {
  report_section section{"Scaling: Poisson problems", missing_peers(results.scaling), {}, {}};
  for (const int dimensions : {2, 3}) {
    text_table table = iteration_table(fmt::format("Poisson {}D, {} points", dimensions, 2 * dimensions + 1),
                                       results.scaling, fmt::format("poisson {}d", dimensions));
    if (const auto n = break_even(results.scaling, dimensions))
      table.note(fmt::format("The GPU's iteration is quicker than the CPU's from about {} unknowns on.",
                             count_text(static_cast<std::int64_t>(*n))));
    if (!table.empty()) section.tables.push_back(std::move(table));
    for (figure& drawing : scaling_figures(results.scaling, dimensions))
      section.figures.push_back(std::move(drawing));
  }
  return section;
}

}  // namespace

std::vector<report_section> cg_sections(const cg_results& results) {
  std::vector<report_section> sections;
  const auto keep = [&](report_section section) {
    std::erase_if(section.tables, [](const text_table& table) { return table.empty(); });
    if (!section.tables.empty()) sections.push_back(std::move(section));
  };
  std::vector<std::string> remarks;
  for (const cg_case_facts& c : results.cases)
    if (!c.remark.empty()) remarks.push_back(fmt::format("{}: {}.", c.name, c.remark));
  keep({"The published tables, and ours",
        remarks,
        {published_table(results), difference_table(results), fixed_table(results)},
        {}});
  keep({"With the true rule",
        {},
        {true_table(results), preconditioner_table(results), choice_table(results)},
        convergence_figures(results)});
  keep({"Time an iteration",
        missing_peers(results.iterations),
        {iteration_table("The matrices", results.iterations, "")},
        {}});
  keep(scaling_section(results));
  return sections;
}

}  // namespace vouch::bench
