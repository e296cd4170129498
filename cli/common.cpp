#include "common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/text/file.hpp>

#include "command_line.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 3> device_kinds{"auto", "cpu", "cuda"};

// "all" or "0,1"
device_request several_gpus(const std::string& list) {
  try {
    const std::vector<int> gpus = gpus_named(list);
    return {false, true, gpus.front(), gpus};
  } catch (const value_error& e) {
    throw usage_error(fmt::format("option --device: {}", e.what()), "cuda:all, or cuda:0,1 by numbers");
  }
}

}  // namespace

void add_threads_option(command_line& line, common_options& common) {
  constexpr std::int64_t most = 4096;
  line.count("--threads", common.threads, 1, "CPU threads [OMP_NUM_THREADS, else all cores it may use]", most);
}

void add_device_options(command_line& line, common_options& common, const char* about_gpus) {
  line.text("--device", "D", common.device, std::string("auto, cpu, cuda or cuda:K") + about_gpus + " [auto]");
  line.suggest({device_kinds.begin(), device_kinds.end()});
  add_threads_option(line, common);
}

void add_precision_option(command_line& line, common_options& common, const char* about_mixed) {
  line.choice("--precision", "P", common.precision, precision_words,
              std::string("double, single or mixed") + about_mixed + " [double]");
}

void add_report_options(command_line& line, common_options& common) {
  line.flag("--json", common.json, "print one JSON object instead of the summary");
  line.flag("-q", common.quiet, "no log, no warnings; the log even with --json");
  line.flag("-v", common.verbose, "");
}

console make_console(const common_options& common) {
  if (common.quiet) return console(verbosity::silent);
  return console(common.json && !common.verbose ? verbosity::warnings : verbosity::normal);
}

device_request parse_device(const std::string& text, bool takes_several) {
  if (text == "auto") return {true, false, 0};
  if (text == "cpu") return {false, false, 0};
  if (text == "cuda") return {false, true, 0};
  const bool several = names_several_gpus(text);
  if (several && !takes_several)
    throw usage_error(fmt::format("option --device: one device, not {}", text),
                      "several GPUs share conjugate gradients, dense proofs, tridiagonal batches, books of "
                      "options and vouch reduce");
  if (several) return several_gpus(text.substr(5));
  if (text.starts_with("cuda:"))
    return {false, true, static_cast<int>(parse_count("--device cuda:K", text.substr(5), 0, 1023))};
  throw usage_error(fmt::format("option --device: unknown value '{}'", text),
                    did_you_mean(text, device_kinds, "valid values: auto, cpu, cuda or cuda:K"));
}

device_group open_gpus(const device_request& asked) {
  return asked.gpus.empty() ? device::cuda(asked.index) : device_group::cuda(asked.gpus);
}

device open_cpu(const common_options& common) { return device::cpu(static_cast<int>(common.threads)); }

device open_device(const common_options& common) {
  const device_request wanted = parse_device(common.device, true);
  return wanted.cuda ? device::cuda(wanted.index) : open_cpu(common);
}

void check_writable(const std::string& path) {
  if (path.empty()) return;
  if (path.ends_with(".gz"))
    throw usage_error(fmt::format("{}: files are written as they are, not compressed", path),
                      "leave .gz off, and pack the file with gzip afterwards");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw file_error(path + ": is a directory");
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind != std::filesystem::file_type::not_found) {
    if (access(path.c_str(), W_OK) != 0) throw file_error(path + ": is not writable");
    if (kind != std::filesystem::file_type::regular) return;  // a pipe or a terminal, written directly
  }
  const std::filesystem::path parent = std::filesystem::path(file_behind(path)).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!std::filesystem::is_directory(folder, ignored))
    throw file_error(fmt::format("{}: there is no folder {}", path, folder));
  if (access(folder.c_str(), W_OK) != 0)
    throw file_error(fmt::format("{}: the folder {} is not writable", path, folder));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) || file_behind(a) == file_behind(b);
}

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  std::vector<std::string> before;
  for (const std::string& output : outputs) {
    if (output == "-")
      throw usage_error("an output is called '-', which is no file",
                        "/dev/stdout is standard output, ./- a file of that name");
    check_writable(output);
    if (output.empty() || output.starts_with("/dev/")) continue;
    const auto takes_place_of = [&](const std::string& other) {
      return !other.empty() && is_same_file(output, other);
    };
    if (std::any_of(inputs.begin(), inputs.end(), takes_place_of))
      throw usage_error(fmt::format("'{}' is read, and an output would take its place", output),
                        "name another file");
    if (std::any_of(before.begin(), before.end(), takes_place_of))
      throw usage_error(fmt::format("two outputs go to the same file '{}'", output));
    before.push_back(output);
  }
}

void check_picture(const std::string& file, bool knows_png) {
  std::string name = file;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* other : {".png", ".jpg", ".jpeg", ".gif", ".pdf", ".eps"})
    if (name.ends_with(other) && !(knows_png && file.ends_with(".png")))
      throw usage_error(
          fmt::format("'{}': the picture is SVG{}, not {}", file, knows_png ? " or PNG" : "", other + 1),
          "name it with .svg");
}

}  // namespace vouch::cli
