#include "command.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include <vouch/text/file.hpp>

#include "html_report.hpp"
#include "readme_table.hpp"
#include "suite.hpp"

#include <cli/command.hpp>
#include <cli/command_line.hpp>
#include <cli/common.hpp>
#include <cli/interrupt.hpp>
#include <cli/json.hpp>
#include <cli/usage.hpp>

namespace vouch::bench {

using namespace cli;

namespace {

struct bench_arguments {
  std::vector<std::string> words;  // the suite, then files
  std::string devices;
  std::string html;
  suite_options suite;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    items.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

bool parse(std::span<const char* const> arguments, common_options& common, bench_arguments& mine) {
  command_line line("bench", "measure, and compare with published figures, peers and the hardware");
  line.example("vouch bench cg --quick", "a minute on a small machine");
  line.example("vouch bench cg A.mtx B.mtx", "the published tables for matrices of your own");
  line.example("vouch bench cg --data DIR -o cg.json --html cg.html", "all of it, with the published matrices");
  line.example("vouch bench table cg.json", "the bars of earlier runs as Markdown");
  line.arguments("SUITE", mine.words,
                 "one of the suites or table; then Matrix Market files, for table results in JSON");
  line.section("Suites");
  for (const suite& s : suites()) line.note(s.name, s.summary);
  line.section("What is measured");
  line.text("--data", "DIR", mine.suite.data, "folder with the published matrices [VOUCH_DATA]");
  line.text("--devices", "LIST", mine.devices, "some of cpu1,cpu,gpu [all that are there]");
  line.count("--repeat", mine.suite.repeat, 1, "solves a table cell [as many as fit half a second]", 1000000);
  line.flag("--quick", mine.suite.quick, "small systems only");
  line.flag("--simulate", mine.suite.simulate, "of scale: a model's predictions, to 10,000 GPUs and ranks");
  line.count("--threads", common.threads, 1, "CPU threads of cpu [OMP_NUM_THREADS, else all cores it may use]",
             4096);
  line.section("What is said");
  line.text("-o,--output", "FILE.json", common.output, "write the results as JSON");
  line.text("--html", "FILE", mine.html, "write a report with plots, one self-contained page");
  add_report_options(line, common);
  return line.parse(arguments);
}

void write_whole(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  atomic_file file(path);
  file.write(text);
  file.commit();
}

const suite& find_suite(const std::string& name) {
  std::vector<std::string_view> names;
  for (const suite& s : suites()) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  names.push_back("table");
  const std::string meant = did_you_mean(name, names);
  throw usage_error(fmt::format("unknown suite '{}'", name),
                    meant.empty() ? "valid suites: " + either(names) : meant);
}

int run_suite(const suite& suite, const common_options& common, bench_arguments& mine) {
  if (mine.suite.simulate && suite.name != "scale")
    throw usage_error("option --simulate: only the suite scale has a model");
  check_outputs({common.output, mine.html}, {mine.words.begin() + 1, mine.words.end()});
  const console log = make_console(common);
  mine.suite.matrices.assign(mine.words.begin() + 1, mine.words.end());
  mine.suite.devices = split(mine.devices);
  mine.suite.threads = static_cast<int>(common.threads);
  if (const char* data = std::getenv("VOUCH_DATA"); data != nullptr && mine.suite.data.empty())
    mine.suite.data = data;
  const stopwatch clock;
  mine.suite.progress = [&](std::string_view what) {
    log.line(fmt::format("{:7.1f} s  {}", clock.seconds(), what));
  };
  mine.suite.interrupted = [] { return interrupt_signal() != 0; };

  const suite_results results = suite.run(mine.suite);
  if (results.interrupted) {
    log.warning("interrupted: no results written");
    return 128 + interrupt_signal();
  }
  const nlohmann::ordered_json object = to_json(results);
  if (!common.output.empty()) write_whole(common.output, dump(object, 1) + '\n');
  if (!mine.html.empty()) write_whole(mine.html, to_html(results));
  if (common.json)
    print_json(object);
  else
    fmt::print("{}", to_text(results));
  return goal_reached;
}

}  // namespace

int run_command(std::span<const char* const> arguments) {
  common_options common;
  bench_arguments mine;
  if (!parse(arguments, common, mine)) return goal_reached;
  const std::string& name = mine.words.front();
  if (name != "table") return run_suite(find_suite(name), common, mine);
  if (mine.words.size() < 2) throw usage_error("no results given", "usage: vouch bench table RESULTS.json...");
  fmt::print("{}", readme_table({mine.words.begin() + 1, mine.words.end()}));
  return goal_reached;
}

}  // namespace vouch::bench
