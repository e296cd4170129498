// vouch reduce: element-wise reductions over the matrices of text files.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <vouch/core/device_group.hpp>
#include <vouch/interval/text.hpp>
#include <vouch/reduce/choose_reduce_device.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

struct request {
  common_options common;
  std::vector<std::string> files;
  std::string operations = "min";
  std::string shape;
  reduce_options options;
};

// What it runs on.
struct place {
  device_group devices;
  std::string why;  // one line for the log
};

// Seconds. Reading, transfer and parsing overlap: they are all in reduce.
struct timings {
  double setup = 0, reduce = 0, write = 0, total = 0;
};

reduction operation_of(std::string_view typed) {
  std::vector<std::string_view> names;
  for (const reduction r : reductions()) {
    if (name(r) == typed) return r;
    names.push_back(name(r));
  }
  throw usage_error(fmt::format("option --op: unknown operation '{}'", typed),
                    did_you_mean(typed, names, "valid operations: " + either(names)));
}

void check(request& r) {
  r.options.operations.clear();
  for (std::size_t start = 0; start <= r.operations.size();) {
    const std::size_t comma = std::min(r.operations.find(',', start), r.operations.size());
    const reduction operation = operation_of(std::string_view(r.operations).substr(start, comma - start));
    if (std::ranges::find(r.options.operations, operation) == r.options.operations.end())
      r.options.operations.push_back(operation);
    start = comma + 1;
  }
  if (!r.shape.empty()) r.options.shape = parse_shape("--shape", r.shape);
  for (std::string& file : r.files)
    if (file == "-") file = "/dev/stdin";
  const auto enclosed = [](reduction o) { return o == reduction::sum || o == reduction::mean; };
  if (r.options.rigorous && std::ranges::none_of(r.options.operations, enclosed))
    throw usage_error("--rigorous encloses sums and means, and --op asks for neither", "add --op sum,mean");
  parse_device(r.common.device, true);
  check_outputs({r.common.output}, r.files);
}

// Digits of an integer; json has none beyond 64 bits.
std::string text_of(int128 value) {
  if (value == 0) return "0";
  std::string digits;
  for (int128 rest = value; rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (value < 0) digits += '-';
  std::ranges::reverse(digits);
  return digits;
}

std::string text_of(const reduced& values, std::size_t element) {
  if (values.integral) return text_of(values.integers[element]);
  return number_text(values.reals[element]);
}

// Reals keep a point or an exponent, so that what is read from them is a real again.
std::string json_number(const reduced& values, std::size_t element) {
  std::string text = text_of(values, element);
  if (!values.integral && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string json_matrix(const reduced& values, const reduce_result& r) {
  if (!values.failure.empty()) return "null";
  if (values.operation == reduction::count) return text_of(values, 0);
  std::string text = "[";
  std::size_t element = 0;
  for (std::int64_t i = 0; i < r.rows; ++i) {
    text += i == 0 ? "[" : ", [";
    for (std::int64_t j = 0; j < r.cols; ++j) text += (j == 0 ? "" : ", ") + json_number(values, element++);
    text += "]";
  }
  return text + "]";
}

std::string json_results(const reduce_result& r) {
  std::string text = "{";
  for (const reduced& values : r.results)
    text += fmt::format("{}\n    \"{}\": {}", text.size() == 1 ? "" : ",", name(values.operation),
                        json_matrix(values, r));
  return text + "\n  }";
}

// {"mean": {"lower": [[...], ...], "upper": ...}}; null without --rigorous.
json enclosures_json(const reduce_result& r) {
  json all;
  const auto cols = static_cast<std::size_t>(r.cols);
  for (const reduced& values : r.results) {
    for (std::size_t e = 0; e < values.enclosures.size(); ++e) {
      auto& of = all[std::string(name(values.operation))];
      of["lower"][e / cols].push_back(values.enclosures[e].lo());
      of["upper"][e / cols].push_back(values.enclosures[e].hi());
    }
  }
  return all;
}

// The members of an object as they stand in its dump.
std::string members(const json& object) {
  const std::string text = dump(object);
  return text.substr(1, text.size() - 3);
}

// The object of --json. Results are written here: they may have more digits than the library's numbers.
std::string json_text(const request& q, const reduce_result& r, const place& where, const timings& times) {
  const json head = object_of("reduce", {{"files", q.files},
                                         {"count", r.count},
                                         {"rows", r.rows},
                                         {"cols", r.cols},
                                         {"type", r.integers ? "integer" : "real"}});
  const json tail{{"enclosure", enclosures_json(r)},
                  {"first_matrix", 0},  // argmin and argmax count from here
                  {"sample", q.options.sample},
                  {"reproducible", true},
                  {"device", to_json(where.devices)},
                  {"device_reason", where.why},
                  {"method", r.method},
                  {"bytes", r.bytes},
                  {"time_s",
                   {{"read", 0.0},
                    {"setup", times.setup},
                    {"transfer", 0.0},
                    {"reduce", times.reduce},
                    {"write", times.write},
                    {"total", times.total}}},
                  {"memory_bytes", memory_json()}};
  return "{" + members(head) + ",\n  \"result\": " + json_results(r) + "," + members(tail) + "\n}\n";
}

// The matrices alone, one number after the other, right-aligned by column.
std::string plain_matrix(const reduced& values, const reduce_result& r, std::string_view indent) {
  std::string text;
  const auto cols = static_cast<std::size_t>(r.cols);
  std::vector<std::size_t> widths(cols);
  for (std::size_t e = 0; e < static_cast<std::size_t>(r.rows) * cols; ++e)
    widths[e % cols] = std::max(widths[e % cols], text_of(values, e).size());
  for (std::size_t e = 0; e < static_cast<std::size_t>(r.rows) * cols; ++e) {
    if (e % cols == 0) text += indent;
    text += fmt::format("{:>{}}{}", text_of(values, e), widths[e % cols], e % cols + 1 < cols ? " " : "\n");
  }
  return text;
}

// Where they were asked for: a line of bounds for each row.
std::string enclosure_lines(const reduced& values, const reduce_result& r) {
  std::string text = values.enclosures.empty() ? "" : fmt::format("{} lies within\n", name(values.operation));
  for (std::size_t e = 0; e < values.enclosures.size(); ++e)
    text += (e % static_cast<std::size_t>(r.cols) == 0 ? "  " : " ") + interval_text(values.enclosures[e]) +
            ((e + 1) % static_cast<std::size_t>(r.cols) == 0 ? "\n" : "");
  return text;
}

std::string summary(const reduce_result& r, double seconds) {
  std::string text =
      fmt::format("{} matrices, {} by {}, {}\n", r.count, r.rows, r.cols, r.integers ? "integers" : "reals");
  for (const reduced& values : r.results) {
    if (values.operation == reduction::count)
      text += fmt::format("count  {}\n", r.count);
    else if (!values.failure.empty())
      text += fmt::format("{}\n  none: {}\n", name(values.operation), values.failure);
    else
      text += fmt::format("{}\n{}{}", name(values.operation), plain_matrix(values, r, "  "),
                          enclosure_lines(values, r));
  }
  const double gigabytes = static_cast<double>(r.bytes) * 1e-9;
  return text + fmt::format("{:.3f} GB in {:.3f} s: {:.2f} GB/s, {:.1f} million matrices/s, parsed by {}\n",
                            gigabytes, seconds, gigabytes / seconds,
                            static_cast<double>(r.count) * 1e-6 / seconds, r.method);
}

// The results as a set that vouch reduce reads: the count of results, and each behind a separator.
std::string output_text(const reduce_result& r) {
  const auto matrices =
      std::ranges::count_if(r.results, [](const reduced& v) { return v.operation != reduction::count; });
  std::string text = fmt::format("{}\n", matrices);
  for (const reduced& values : r.results)
    if (values.operation != reduction::count) text += "***\n" + plain_matrix(values, r, "");
  return text;
}

void declare(command_line& line, request& r) {
  line.example("vouch reduce set.txt", "the smallest value of each element over all matrices");
  line.example("vouch reduce a.txt b.txt.gz --op min,max,mean", "several in one pass over several files");
  line.example("vouch reduce - --op stddev --sample --json", "standard input, for programs");
  line.arguments("FILE", r.files, "sets: the count, then matrices behind lines of ***; also .gz, - is stdin");
  line.text("--op", "LIST", r.operations, "operations, by commas [min]:");
  line.note("", "count min max sum mean range variance stddev argmin argmax product");
  line.note("", "norm1 norm2 norm-inf; argmin and argmax number matrices from 0");
  line.text("--shape", "RxC", r.shape, "rows and columns of each matrix [those of the first]");
  line.flag("--sample", r.options.sample, "variance and stddev divide by N - 1");
  line.flag("--rigorous", r.options.rigorous, "sum and mean also as enclosures of what the decimals say");
  line.text("-o,--output", "FILE", r.common.output, "write the results here too, as a set");
  add_device_options(line, r.common, several_gpus_share);
  add_report_options(line, r.common);
}

place choose(const request& q) {
  const device_request asked = parse_device(q.common.device, true);
  if (asked.cuda) return {open_gpus(asked), "as asked"};
  if (!asked.automatic) return {open_cpu(q.common), "as asked"};
  const reduce_device_choice chosen =
      choose_reduce_device(q.files, q.options, static_cast<int>(q.common.threads));
  return {chosen.dev, chosen.why};
}

}  // namespace

int cmd_reduce(std::span<const char* const> arguments) {
  request q;
  command_line line("reduce", "reduce sets of small matrices element by element");
  declare(line, q);
  if (!line.parse(arguments)) return goal_reached;
  check(q);

  const stopwatch clock;
  const place where = choose(q);
  const console log = make_console(q.common);
  log.line("device: " + where.why);
  matrix_set_reducer reduce(where.devices, static_cast<int>(q.common.threads));
  const double opened_in = clock.seconds();
  const reduce_result r = with_sign_of_life(log, "reducing", [&] { return reduce(q.files, q.options); });
  const double reduced_in = clock.seconds();
  const bool complete =
      std::ranges::all_of(r.results, [](const reduced& values) { return values.failure.empty(); });
  for (const reduced& values : r.results)
    if (!values.failure.empty()) log.warning(fmt::format("{}: {}", name(values.operation), values.failure));
  if (!complete && !q.common.output.empty())
    log.warning(fmt::format("{} is not written: a result is missing", q.common.output));
  if (complete && !q.common.output.empty()) {
    atomic_file file(q.common.output);
    file.write(output_text(r));
    file.commit();
  }
  const timings times{opened_in, reduced_in - opened_in, clock.seconds() - reduced_in, clock.seconds()};
  fmt::print("{}", q.common.json ? json_text(q, r, where, times) : summary(r, times.reduce));
  return complete ? goal_reached : goal_missed;
}

}  // namespace vouch::cli
