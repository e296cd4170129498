// vouch classify train.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/fingerprint/model.hpp>
#include <vouch/fingerprint/score.hpp>
#include <vouch/fingerprint/train.hpp>

#include "classify_files.hpp"
#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

namespace fp = vouch::fingerprint;

struct request {
  common_options common;
  std::vector<std::string> files;
  std::string list, labels, groups, raw;
  fp::training_options training;
  std::int64_t features = 64, folds = 0;
  bool no_mirror = false, no_weights = false;
};

void declare(command_line& line, request& r) {
  line.example("vouch classify train --list all.txt --labels classes.txt -o weights",
               "a model of known prints");
  line.example("vouch classify train a*.pgm --labels c.txt --folds 10 -o weights",
               "and how often it would err");
  line.arguments("FILE", r.files, "prints, as vouch classify takes them", false);
  line.text("--list", "FILE", r.list, "more prints, a name a line");
  line.text("--labels", "FILE", r.labels, "their classes, a name and a letter a line");
  line.text("--groups", "FILE", r.groups, "prints that belong together, as of one card: a name and a");
  line.note("", "number a line [each print by itself]");
  line.text("--raw", "WxH", r.raw, "pixels of files without a header [832x768]");
  line.section("Training");
  line.count("--features", r.features, 1, "of a print [64]", fp::orientation_size);
  line.flag("--no-mirror", r.no_mirror, "without mirror images of the prints");
  line.flag("--no-weights", r.no_weights, "without regional weights");
  line.count("--folds", r.folds, 2, "of a cross-validation by groups [none]");
  line.section("Output");
  line.text("-o,--output", "FOLDER", r.common.output, "pnn_tmat.bin, profvs.bin, procls.asc and osf.txt");
  add_threads_option(line, r.common);
  add_report_options(line, r.common);
}

// Prints whose class is known, and how many could be read.
struct known_prints {
  std::vector<std::string> files;
  std::vector<std::uint8_t> classes;
  std::vector<int> groups;
  std::size_t read = 0;
};

known_prints choose_known(const request& r, const console& log) {
  const std::map<std::string, int> labels = fp::read_labels(r.labels);
  const std::map<std::string, int> groups =
      r.groups.empty() ? std::map<std::string, int>() : fp::read_groups(r.groups);
  known_prints known;
  for (std::size_t i = 0; i < r.files.size(); ++i) {
    const std::string name = fp::label_name(r.files[i]);
    const auto label = labels.find(name), group = groups.find(name);
    if (label == labels.end()) {
      log.warning(r.files[i] + ": its class is not known");
      continue;
    }
    known.files.push_back(r.files[i]);
    known.classes.push_back(static_cast<std::uint8_t>(label->second));
    known.groups.push_back(group == groups.end() ? -1 - static_cast<int>(i) : group->second);
  }
  return known;
}

fp::training_prints prepare(const request& r, const device& cpu, const console& log, known_prints& known) {
  std::vector<std::string> reasons(known.files.size());
  fp::training_prints all = fp::prepare_files(cpu, known.files, parse_raw_size(r.raw), known.classes,
                                              known.groups, !r.no_mirror, reasons);
  for (const std::string& reason : reasons) {
    if (!reason.empty()) log.warning(reason);
    known.read += reason.empty();
  }
  return all;
}

// Fails before hours of work where the model could not be written: its files, or folders that are still to be made.
void check_model_folder(const std::string& folder, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored))
    check_outputs(fp::probabilistic_files(folder), inputs);
  else
    for (std::filesystem::path made = folder;; made = made.parent_path()) {
      const std::filesystem::path parent = made.parent_path();
      if (!parent.empty() && !std::filesystem::exists(parent, ignored)) continue;
      return check_writable(made.string());
    }
}

}  // namespace

int classify_train(std::span<const char* const> arguments) {
  request r;
  command_line line("classify train", "a probabilistic network out of prints whose classes are known");
  declare(line, r);
  if (!line.parse(arguments)) return goal_reached;
  if (r.common.output.empty() || r.labels.empty())
    throw usage_error("--labels FILE or -o FOLDER is missing",
                      "usage: vouch classify train FILE... --labels FILE -o FOLDER");
  if (!r.list.empty()) append_list(r.list, r.files);
  if (r.files.empty()) throw usage_error("FILE is missing", "name prints, or a --list of them");
  std::vector<std::string> inputs = r.files;
  inputs.insert(inputs.end(), {r.list, r.labels, r.groups});
  check_model_folder(r.common.output, inputs);
  r.training.features = static_cast<int>(r.features);
  r.training.regional_weights = !r.no_weights;

  const stopwatch clock;
  const device cpu = open_cpu(r.common);
  const console log = make_console(r.common);
  known_prints known = choose_known(r, log);
  const fp::training_prints prints = prepare(r, cpu, log, known);
  log.line(fmt::format("{} prints, {} with their mirror images, {:.2f} s", known.read, prints.size(),
                       clock.seconds()));
  std::optional<fp::score> score;
  if (r.folds > 0)
    score = fp::score_results(fp::cross_validate(cpu, prints, static_cast<int>(r.folds), r.training));
  if (score) log_score(log, *score);
  const fp::pnn network = fp::train(cpu, prints, r.training);
  fp::write_model(r.common.output, network);
  log.line(fmt::format("{}: {} prototypes of {} features, smoothing factor {:.4g}, {:.2f} s", r.common.output,
                       prints.size(), r.features, network.smoothing, clock.seconds()));
  if (r.common.json)
    print_json(object_of("classify-train", {{"model", r.common.output},
                                            {"prints", known.read},
                                            {"prototypes", prints.size()},
                                            {"features", r.features},
                                            {"smoothing", network.smoothing},
                                            {"folds", known_if(r.folds > 0, r.folds)},
                                            {"score", score ? score_json(*score) : json()},
                                            {"device", to_json(cpu)},
                                            {"time_s", {{"total", clock.seconds()}}}}));
  return known.read == r.files.size() ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
