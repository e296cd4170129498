// vouch classify: the pattern of fingerprints.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/model.hpp>
#include <vouch/fingerprint/score.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "classify_files.hpp"
#include "classify_plot.hpp"
#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

namespace fp = vouch::fingerprint;

constexpr std::array<std::string_view, 2> network_names{"mlp", "pnn"};

struct request {
  common_options common;
  std::vector<std::string> files;
  std::string list;
  std::string model;
  std::string network;
  std::string orientation;
  std::string plot;
  std::string labels;
  std::string raw;
  fp::raw_size raw_size;
  bool json_lines = false;
  bool verify = false;
};

void declare(command_line& line, request& r) {
  line.example("vouch classify a.pgm b.pgm --model weights", "a line of CSV for each print");
  line.example("vouch classify --list all.txt --model weights --labels classes.txt", "with what is wrong");
  line.example("vouch classify a.pgm --model weights --orientation a.npy", "the field of orientations, too");
  line.arguments("FILE", r.files, "pages at 500 dpi, 512 x 480 or more: WSQ, PGM, grey PNG or raw", false);
  line.text("--list", "FILE", r.list, "more prints, a name a line");
  line.text("--model", "FOLDER", r.model, "trained networks in the published formats: mlp_tmat.bin and");
  line.note("", "mlp_wts.bin, or pnn_tmat.bin, profvs.bin and procls.asc");
  line.choice("--network", "N", r.network, network_names, "mlp or pnn [mlp where the folder has it]");
  line.text("--raw", "WxH", r.raw, "pixels of files without a header [832x768]");
  line.text("--labels", "FILE", r.labels, "known classes, a name and a letter a line: count what is wrong");
  line.flag("--verify", r.verify, "prove that rounding behind the orientations changes no class");
  line.note("train", "the first word: vouch classify train -h");
  line.section("Output");
  line.text("-o,--output", "FILE", r.common.output, "the CSV, in place of standard output");
  line.text("--orientation", "FILE", r.orientation,
            "averaged orientations, n x 1680, as .npy: x of 28 x 30 squares,");
  line.note("", "then y");
  line.text("--plot", "FILE", r.plot, "one print with its ridges and core, as SVG or .png");
  add_device_options(line, r.common);
  line.note("", "--device auto is the CPU, which reads and decodes the files in any case");
  line.flag("--json-lines", r.json_lines, "an object for each print as it is done");
  add_report_options(line, r.common);
}

void check(request& r) {
  if (r.files.empty() && r.list.empty())
    throw usage_error("FILE is missing", "usage: vouch classify FILE... --model FOLDER, or --list FILE");
  if (r.model.empty())
    throw usage_error("--model FOLDER is missing",
                      "a folder with mlp_tmat.bin and mlp_wts.bin, as NIST publishes them with PCASYS");
  if (r.common.json && r.json_lines) throw usage_error("--json and --json-lines exclude each other");
  parse_device(r.common.device);
  r.raw_size = parse_raw_size(r.raw);
  if (!r.list.empty()) append_list(r.list, r.files);
  std::vector<std::string> inputs = r.files;
  inputs.push_back(r.list);
  inputs.push_back(r.labels);
  for (const auto& of_the_model : {fp::perceptron_files(r.model), fp::probabilistic_files(r.model)})
    inputs.insert(inputs.end(), of_the_model.begin(), of_the_model.end());
  check_picture(r.plot, true);
  check_outputs({r.common.output, r.orientation, r.plot}, inputs);
  if (!r.plot.empty() && r.files.size() != 1) throw usage_error("--plot is for one print");
}

fp::network_kind choose_network(const request& r, const fp::model& networks) {
  if (r.network.empty())
    return networks.perceptron ? fp::network_kind::perceptron : fp::network_kind::probabilistic;
  const bool wants_perceptron = r.network == "mlp";
  if (wants_perceptron ? !networks.perceptron : !networks.probabilistic)
    throw value_error(fmt::format("{} holds no {}", r.model, r.network),
                      wants_perceptron ? "mlp_tmat.bin and mlp_wts.bin are needed"
                                       : "pnn_tmat.bin, profvs.bin and procls.asc are needed");
  return wants_perceptron ? fp::network_kind::perceptron : fp::network_kind::probabilistic;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

constexpr std::string_view csv_head =
    "file,class,confidence,whorl,core_x,core_y,network_class,A,L,R,S,T,W,proved,reason\n";

std::string csv_line(const std::string& file, const fp::classification& c, bool verified) {
  if (c.pattern < 0) return fmt::format("{},unknown,,,,,,,,,,,,,{}\n", csv_text(file), csv_text(c.reason));
  std::string line =
      fmt::format("{},{},{},{},{},{},{}", csv_text(file), fp::letter(c.pattern), number_text(c.confidence),
                  c.whorl ? 1 : 0, c.core.x, c.core.y, fp::letter(c.network_pattern));
  for (const float output : c.outputs) (line += ',') += number_text(output);
  return line + (!verified ? ",,\n" : c.proved ? ",1,\n" : ",0,\n");
}

json describe(const std::string& file, const fp::classification& c, bool verified) {
  if (c.pattern < 0)
    return {{"file", file},      {"class", "unknown"},   {"confidence", nullptr},    {"whorl", nullptr},
            {"core", nullptr},   {"placement", nullptr}, {"network_class", nullptr}, {"outputs", nullptr},
            {"proved", nullptr}, {"reason", c.reason}};
  json outputs;
  for (std::size_t k = 0; k < fp::classes; ++k) outputs[std::string(1, fp::class_letters[k])] = c.outputs[k];
  return {{"file", file},
          {"class", std::string(1, fp::letter(c.pattern))},
          {"confidence", c.confidence},
          {"whorl", c.whorl},
          {"core", {{"x", c.core.x}, {"y", c.core.y}}},
          {"placement", {{"x", c.place.centre_x}, {"y", c.place.centre_y}, {"radians", c.place.radians}}},
          {"network_class", std::string(1, fp::letter(c.network_pattern))},
          {"outputs", outputs},
          {"proved", known_if(verified, c.proved)},
          {"reason", nullptr}};
}

// Where lines go as prints are done: standard output, which has them at once, or a file.
class line_output {
 public:
  line_output(const std::string& path, atomic_files& files)
      : file_(path.empty() ? nullptr : &files.open(path)) {}
  void write(const std::string& text) {
    if (file_ != nullptr) return file_->write(text);
    fmt::print("{}", text);
    std::fflush(stdout);
  }

 private:
  atomic_file* file_;
};

std::string one_line(const json& object) { return dump(object, -1) + '\n'; }

// What comes out of a run beside its lines.
struct outcome {
  std::vector<fp::classification> results;
  std::vector<float> orientations;
  fp::grey_image page;  // the one that is drawn
  std::int64_t unread = 0;
  std::int64_t unknown = 0;
  std::int64_t unproved = 0;
};

// The one print of --plot, whose page is kept.
void classify_plotted(const request& r, const device& dev, const fp::model& networks, fp::network_kind kind,
                      outcome& all) {
  const std::string reason = fp::grey_image_reader().try_read(r.files.front(), r.raw_size, all.page);
  fp::classify(dev, networks, kind, {&all.page, 1}, all.results, all.orientations, r.verify);
  if (reason.empty()) return;
  all.results.front().unread = true;
  all.results.front().reason = reason;
}

outcome classify_files(const request& r, const device& dev, const fp::model& networks, fp::network_kind kind,
                       line_output* lines) {
  outcome all;
  const std::size_t n = r.files.size();
  constexpr std::size_t files_of_a_thread = 32, files_of_a_gpu = 4096;
  const std::size_t chunk = !r.plot.empty() ? 1
                            : dev.is_cuda() ? files_of_a_gpu
                                            : files_of_a_thread * static_cast<std::size_t>(dev.threads());
  all.results.resize(n);
  if (!r.orientation.empty() || !r.plot.empty()) all.orientations.resize(n * fp::orientation_size);
  const cancellation_probe stop;
  for (std::size_t first = 0; first < n; first += chunk) {
    stop.check();
    const std::size_t count = std::min(chunk, n - first);
    const std::span files = std::span(r.files).subspan(first, count);
    const std::span results = std::span(all.results).subspan(first, count);
    const std::span orientations =
        all.orientations.empty()
            ? std::span<float>()
            : std::span(all.orientations).subspan(first * fp::orientation_size, count * fp::orientation_size);
    if (r.plot.empty())
      fp::classify_files(dev, networks, kind, files, r.raw_size, results, orientations, r.verify);
    else
      classify_plotted(r, dev, networks, kind, all);
    for (std::size_t i = 0; i < count; ++i) {
      all.unread += results[i].unread;
      all.unknown += results[i].pattern < 0;
      all.unproved += r.verify && results[i].pattern >= 0 && !results[i].proved;
      if (lines != nullptr)
        lines->write(r.json_lines ? one_line(describe(files[i], results[i], r.verify))
                                  : csv_line(files[i], results[i], r.verify));
    }
  }
  return all;
}

std::vector<int> truths_of(const request& r) {
  const std::map<std::string, int> labels = fp::read_labels(r.labels);
  std::vector<int> truths;
  for (const std::string& file : r.files) {
    const auto at = labels.find(fp::label_name(file));
    truths.push_back(at == labels.end() ? -1 : at->second);
  }
  return truths;
}

void write_orientations(atomic_file& file, const outcome& all, std::size_t prints) {
  const std::vector<double> values(all.orientations.begin(), all.orientations.end());
  const std::array<std::int64_t, 2> shape{static_cast<std::int64_t>(prints), fp::orientation_size};
  write_npy(file, {values.data(), static_cast<std::int64_t>(values.size())}, shape, false);
}

void write_plot(const request& r, const outcome& all, atomic_files& files, const console& log) {
  const fp::classification& found = all.results.front();
  if (found.pattern < 0)
    log.warning(fmt::format("{} is not written: there is no print to be drawn", r.plot));
  else
    files.open(r.plot).write(print_plot(r.plot, all.page, found, all.orientations));
}

void print_object(const request& r, const outcome& all, fp::network_kind kind,
                  const std::optional<fp::score>& score, const device& dev, double read_seconds, double total) {
  json prints = json::array();
  for (std::size_t i = 0; i < r.files.size(); ++i)
    prints.push_back(describe(r.files[i], all.results[i], r.verify));
  print_json(object_of(
      "classify", {{"model", r.model},
                   {"network", network_names[kind == fp::network_kind::perceptron ? 0 : 1]},
                   {"prints", prints},
                   {"unread", all.unread},
                   {"unknown", all.unknown},
                   {"unproved", known_if(r.verify, all.unproved)},
                   {"score", score ? score_json(*score) : json()},
                   {"device", to_json(dev)},
                   {"time_s", {{"read", read_seconds}, {"classify", total - read_seconds}, {"total", total}}},
                   {"memory_bytes", {{"host_peak", host_peak_bytes()}}}}));
}

}  // namespace

int cmd_classify(std::span<const char* const> arguments) {
  if (!arguments.empty() && std::string_view(arguments.front()) == "train")
    return classify_train(arguments.subspan(1));
  request r;
  command_line line("classify",
                    "the pattern of fingerprints: arch, left or right loop, scar, tented arch, whorl");
  declare(line, r);
  if (!line.parse(arguments)) return goal_reached;
  check(r);

  const stopwatch clock;
  const device dev = open_device(r.common);
  const console log = make_console(r.common);
  const fp::model networks = fp::read_model(r.model);
  const fp::network_kind kind = choose_network(r, networks);
  const std::vector<int> truths = r.labels.empty() ? std::vector<int>() : truths_of(r);
  const double read_seconds = clock.seconds();
  atomic_files files;
  line_output lines(r.common.output, files);
  const bool wants_lines = !r.common.json || !r.common.output.empty();
  if (wants_lines && !r.json_lines) lines.write(std::string(csv_head));
  const outcome all = classify_files(r, dev, networks, kind, wants_lines ? &lines : nullptr);
  if (!r.orientation.empty()) write_orientations(files.open(r.orientation), all, r.files.size());
  if (!r.plot.empty()) write_plot(r, all, files, log);
  files.commit();
  std::optional<fp::score> score;
  if (!r.labels.empty()) score = fp::score_results(all.results, truths);
  if (score && !r.common.json) log_score(log, *score);
  const double total = clock.seconds();
  const auto n = static_cast<double>(r.files.size());
  log.line(fmt::format("{} prints in {:.2f} s, {:.0f} a second; {} could not be read, {} show no print",
                       r.files.size(), total, n / total, all.unread, all.unknown - all.unread));
  const std::int64_t known = static_cast<std::int64_t>(r.files.size()) - all.unknown;
  if (r.verify) log.line(fmt::format("{} of {} classes proved", known - all.unproved, known));
  if (r.common.json) print_object(r, all, kind, score, dev, read_seconds, total);
  return all.unknown == 0 && all.unproved == 0 ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
