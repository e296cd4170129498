// Ranks of --engine ranks on this machine, GPUs side by side, or what a model says of many more.
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cli/report/statistics.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/error.hpp>

#include "scale_simulation.hpp"
#include "scratch_folder.hpp"
#include "tool_run.hpp"

namespace vouch::bench {
namespace {

double median(const std::vector<double>& values) { return report::summarize(values).median; }

std::string text_of(int ranks) { return ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks); }

// Seconds of one solve by ranks.
struct rank_times {
  double read = 0, setup = 0, iteration = 0, verdict = 0, proof = 0;
  double checkpoint = 0, checkpoint_bytes = 0;
};

class scale_run {
 public:
  explicit scale_run(const suite_options& options) : options_(options), folder_("scale"), tool_(folder_) {}

  void measure_ranks(suite_results& results) {
    report_section section{"Ranks on this machine", {}, {}, {}};
    if (const std::string missing = tool_.missing_ranks(); !missing.empty()) {
      section.paragraphs.push_back("Not measured: " + missing + ".");
      results.sections.push_back(std::move(section));
      return;
    }
    const std::int64_t N = options_.quick ? 40 : 80;
    section.tables.push_back(scaling(N, false, results.rows));
    section.tables.push_back(scaling(N, true, results.rows));
    results.sections.push_back(std::move(section));
  }

 private:
  // 1, 2, 4 and as far as there are cores.
  static std::vector<int> numbers_of_ranks() {
    std::vector<int> numbers{1, 2, 4};
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    while (2 * numbers.back() <= cores) numbers.push_back(2 * numbers.back());
    return numbers;
  }

  // N^3 points in all, or for each rank.
  text_table scaling(std::int64_t N, bool grows, std::vector<bench_row>& rows) {
    text_table table{
        fmt::format("{} scaling, seven points, {}^3{}", grows ? "Weak" : "Strong", N, grows ? " a rank" : ""),
        {{"ranks"},
         {"read"},
         {"set-up"},
         {"iteration"},
         {"engine alone"},
         {"verdict"},
         {"proof"},
         {"checkpoint"},
         {"to disk"},
         {"iteration, efficiency"},
         {"reading, efficiency"}}};
    std::optional<rank_times> first;
    for (const int ranks : numbers_of_ranks()) {
      if (options_.stop()) break;
      const std::int64_t layers = grows ? N * ranks : N;
      const std::string file = folder_.file("A.mtx");
      options_.say(fmt::format("{}, {}", table.title(), text_of(ranks)));
      if (grows || !first)
        tool_.run(fmt::format("gen poisson-3d -n {0} --ny {0} --nz {1} -q -o '{2}'", N, layers, file));
      const rank_times t = times_of(file, ranks);
      const std::optional<double> alone = alone_.of(tool_, file, ranks);
      if (!first) first = t;
      const double share = grows ? 1 : ranks;
      const double going = first->iteration / (share * t.iteration), reading = first->read / (share * t.read);
      table.add({std::to_string(ranks), seconds_text(t.read), seconds_text(t.setup), seconds_text(t.iteration),
                 seconds_text(alone), seconds_text(t.verdict), seconds_text(t.proof),
                 seconds_text(t.checkpoint), rate_text(t.checkpoint_bytes / t.checkpoint), percent_text(going),
                 percent_text(reading)});
      const auto add = [&](const char* metric, double value, const char* unit) -> bench_row& {
        return rows.emplace_back(bench_row{fmt::format("{}, {}", table.title(), text_of(ranks)),
                                           "ranks",
                                           "double",
                                           metric,
                                           value,
                                           unit,
                                           {},
                                           {},
                                           {},
                                           {},
                                           {}});
      };
      add("read_time", t.read, "s");
      add("setup_time", t.setup, "s");
      bench_row& iteration = add("time_per_iteration", t.iteration, "s");
      iteration.peer = alone;
      if (alone) iteration.ratio = *alone / t.iteration;
      add("verdict_time", t.verdict, "s");
      add("proof_time", t.proof, "s");
      add("checkpoint_time", t.checkpoint, "s");
      add("iteration_efficiency", going, "1");
      add("read_efficiency", reading, "1");
    }
    table.note(
        "verdict: residuals in twice the precision before and behind the iteration, and all between phases.");
    table.note("engine alone: an iteration by --engine petsc, where that is there.");
    return table;
  }

  rank_times times_of(const std::string& file, int ranks) const {
    std::vector<double> read, setup, iteration, verdict, proof;
    const std::string solve = fmt::format("solve '{}' --engine ranks --method cg --precond none --json ", file);
    const std::int64_t runs = options_.repeat > 0 ? options_.repeat : 3;
    for (std::int64_t k = 0; k < runs && !options_.stop(); ++k) {
      const nlohmann::json said = tool_.run(solve + "--verify", ranks);
      const nlohmann::json& t = said["time_s"];
      const double proving = said["error_bound"]["seconds"], solving = t["solve"];
      read.push_back(t["read"]);
      setup.push_back(t["setup"]);
      iteration.push_back(solving / said["iterations"].get<double>());
      proof.push_back(proving);
      verdict.push_back(t["total"].get<double>() - read.back() - setup.back() - solving - proving);
    }
    rank_times all{median(read), median(setup), median(iteration), median(verdict), median(proof)};
    add_checkpoint(solve, ranks, all);
    return all;
  }

  void add_checkpoint(const std::string& solve, int ranks, rank_times& all) const {
    constexpr int iterations = 20;
    const std::string file = folder_.file("saved");
    const nlohmann::json said = tool_.run(
        fmt::format("{} --fixed-iterations {} --checkpoint '{}' --checkpoint-every 0", solve, iterations, file),
        ranks);
    all.checkpoint = (said["time_s"]["solve"].get<double>() - iterations * all.iteration) /
                     said["checkpoint"]["written"].get<double>();
    all.checkpoint_bytes = static_cast<double>(std::filesystem::file_size(file));
  }

  // An iteration of the same method by another engine of the tool, where it has that one.
  class other_engine {
   public:
    std::optional<double> of(const tool_run& tool, const std::string& file, int ranks) {
      if (missing_) return {};
      try {
        const nlohmann::json said =
            tool.run(fmt::format("solve '{}' --engine petsc --method cg --precond none --json", file), ranks);
        return said["time_s"]["solve"].get<double>() / said["iterations"].get<double>();
      } catch (const value_error&) {
        missing_ = true;
        return {};
      }
    }

   private:
    bool missing_ = false;
  };

  const suite_options& options_;
  scratch_folder folder_;
  tool_run tool_;
  other_engine alone_;
};

void measure_gpus(const suite_options& options, suite_results& results) {
  if (!cuda_may_be_present() || cuda_devices().size() < 2) return;
  measure_shared_batches(options, results);
  measure_pairs(options, results);
}

}  // namespace

suite_results run_scale_suite(const suite_options& options) {
  suite_results results;
  results.suite = "scale";
  results.title = "Ranks and GPUs side by side";
  results.machine = measure_machine(options, open_devices(options));
  if (options.simulate) {
    add_simulation(options, results);
  } else {
    scale_run(options).measure_ranks(results);
    if (!options.stop()) measure_gpus(options, results);
  }
  results.interrupted = options.stop();
  return results;
}

}  // namespace vouch::bench
