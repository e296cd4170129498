#include <vouch/fingerprint/model.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <span>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/big_endian.hpp>
#include <vouch/fingerprint/stages.hpp>
#include <vouch/fingerprint/whole_file.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch::fingerprint {
namespace {

constexpr std::size_t most_model_bytes = std::size_t{1} << 30;
constexpr int most_rows = 1 << 24, most_columns = 1 << 16;

// The text of a file, word by word and line by line.
class words {
 public:
  words(const std::string& name, std::string_view text) : name_(name), rest_(text) {}

  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail("the file ends early");
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    return text;
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n"), rest_.size());
    if (end == 0) fail("the file ends early");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return text;
  }
  int whole(int least, int most) {
    const std::string_view text = word();
    const auto n = parse_integer(text.data(), text.data() + text.size());
    if (n.error != number_error::none || n.end != text.data() + text.size())
      fail(quoted(text) + " is no whole number");
    if (n.value < least || n.value > most)
      fail(std::to_string(n.value) + " is not from " + std::to_string(least) + " to " + std::to_string(most));
    return static_cast<int>(n.value);
  }
  float real() {
    const std::string_view text = word();
    const auto x = parse_real(text.data(), text.data() + text.size());
    if (x.error != number_error::none || x.end != text.data() + text.size() ||
        !std::isfinite(static_cast<float>(x.value)))
      fail(quoted(text) + " is no number");
    return static_cast<float>(x.value);
  }
  void end() {
    skip_blanks();
    if (!rest_.empty()) fail("something follows what should be the last number");
  }
  std::string_view rest() const { return rest_; }
  [[noreturn]] void fail(const std::string& message) const { throw parse_error(name_, line_, 0, message); }

 private:
  void skip_blanks() {
    const std::size_t start = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
    line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(start), '\n');
    rest_.remove_prefix(start);
  }

  std::string name_;
  std::string_view rest_;
  std::int64_t line_ = 1;
};

feature_matrix binary_matrix(const words& file) {
  const std::string_view bytes = file.rest();
  if (bytes.size() < 8) file.fail("the file ends before its sizes");
  const std::uint32_t rows = big_endian(bytes), columns = big_endian(bytes.substr(4));
  const auto sizes = std::to_string(rows) + " x " + std::to_string(columns);
  if (rows < 1 || rows > most_rows || columns < 1 || columns > most_columns)
    file.fail(sizes + " is no size of a matrix; files are big-endian");
  const std::size_t count = std::size_t{rows} * columns;
  if (bytes.size() != 8 + 4 * count)
    file.fail(sizes + " numbers are " + std::to_string(4 * count) + " bytes, and " +
              std::to_string(bytes.size() - 8) + " are there");
  feature_matrix m{static_cast<int>(rows), static_cast<int>(columns), std::vector<float>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    m.values[i] = std::bit_cast<float>(big_endian(bytes.substr(8 + 4 * i)));
    if (!std::isfinite(m.values[i]))
      file.fail(std::string("element ") + std::to_string(i + 1) + " is not finite");
  }
  return m;
}

feature_matrix text_matrix(words& file) {
  feature_matrix m;
  m.rows = file.whole(1, most_rows);
  m.columns = file.whole(1, most_columns);
  const std::size_t count = static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns);
  if (count > file.rest().size()) file.fail("the file is shorter than its sizes say");
  m.values.resize(count);
  for (float& x : m.values) x = file.real();
  file.end();
  return m;
}

std::vector<float> numbers(words& file, int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = file.real();
  return values;
}

void expect(words& file, std::string_view key, std::string_view value) {
  const std::string_view found = file.word();
  if (found != key) file.fail(quoted(key) + " is expected");
  const std::string_view there = file.word();
  if (there != value) file.fail(quoted(there) + " is not supported here, " + quoted(value) + " is");
}

int expect_count(words& file, std::string_view key) {
  constexpr int most_nodes = 1 << 14;
  if (file.word() != key) file.fail(quoted(key) + " is expected");
  return file.whole(1, most_nodes);
}

void require_transform(const std::string& path, const feature_matrix& m, int features) {
  if (m.columns != orientation_size)
    throw parse_error(path, 0, 0,
                      std::to_string(m.columns) + " numbers a row, and a print has " +
                          std::to_string(orientation_size) + " orientations");
  if (m.rows < features)
    throw parse_error(
        path, 0, 0,
        std::to_string(m.rows) + " features, and the network has " + std::to_string(features) + " inputs");
}

// A network takes the first of the features that a transform makes.
void keep_rows(feature_matrix& m, int rows) {
  m.rows = rows;
  m.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(m.columns));
}

bool all_exist(std::span<const std::string> files) {
  std::error_code ignored;
  return std::all_of(files.begin(), files.end(),
                     [&](const std::string& file) { return std::filesystem::exists(file, ignored); });
}

// The files of a model.
struct perceptron_names {
  explicit perceptron_names(const std::string& folder)
      : transform(folder + "/mlp_tmat.bin"), weights(folder + "/mlp_wts.bin") {}
  std::string transform, weights;
};
struct probabilistic_names {
  explicit probabilistic_names(const std::string& folder)
      : transform(folder + "/pnn_tmat.bin"),
        prototypes(folder + "/profvs.bin"),
        classes(folder + "/procls.asc"),
        smoothing(folder + "/osf.txt") {}
  std::string transform, prototypes, classes, smoothing;
};

mlp read_perceptron(const std::string& folder) {
  const perceptron_names files(folder);
  mlp network = read_mlp_weights(files.weights);
  network.transform = read_feature_matrix(files.transform);
  require_transform(files.transform, network.transform, network.hidden.columns);
  keep_rows(network.transform, network.hidden.columns);
  return network;
}

pnn read_probabilistic(const std::string& folder) {
  const probabilistic_names files(folder);
  pnn network;
  network.prototypes = read_feature_matrix(files.prototypes);
  network.classes = read_classes(files.classes);
  network.transform = read_feature_matrix(files.transform);
  if (network.classes.size() != static_cast<std::size_t>(network.prototypes.rows))
    throw parse_error(files.classes, 0, 0,
                      std::to_string(network.classes.size()) + " classes, and there are " +
                          std::to_string(network.prototypes.rows) + " prototypes");
  require_transform(files.transform, network.transform, network.prototypes.columns);
  keep_rows(network.transform, network.prototypes.columns);
  if (all_exist({&files.smoothing, 1})) {
    const std::string text = whole_file(files.smoothing, most_model_bytes);
    words file(files.smoothing, text);
    network.smoothing = file.real();
    file.end();
    if (!(network.smoothing > 0)) file.fail("a smoothing factor is positive");
  }
  return network;
}

std::string matrix_bytes(const char* description, const feature_matrix& m) {
  if (m.values.size() != static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns))
    throw shape_error("write_model: a matrix has rows * columns numbers");
  std::string bytes = description;
  bytes += "\nm b\n";
  bytes += big_endian_bytes(static_cast<std::uint32_t>(m.rows));
  bytes += big_endian_bytes(static_cast<std::uint32_t>(m.columns));
  for (const float x : m.values) bytes += big_endian_bytes(std::bit_cast<std::uint32_t>(x));
  return bytes;
}

}  // namespace

feature_matrix parse_feature_matrix(const std::string& name, std::string_view bytes) {
  const ieee_environment here;
  words file(name, bytes);
  file.line();
  const std::string_view kind = file.line();
  if (kind == "m b") return binary_matrix(file);
  if (kind == "m a") return text_matrix(file);
  file.fail("the second line of a matrix file is 'm b' or 'm a'");
}

feature_matrix read_feature_matrix(const std::string& path) {
  return parse_feature_matrix(path, whole_file(path, most_model_bytes));
}

std::vector<std::uint8_t> read_classes(const std::string& path) {
  const ieee_environment here;
  const std::string text = whole_file(path, most_model_bytes);
  words file(path, text);
  file.line();
  if (file.line() != "c a") file.fail("the second line of a class file is 'c a'");
  const int count = file.whole(1, most_rows);
  file.whole(1, 1);
  const int letters = file.whole(1, classes);
  std::vector<std::uint8_t> number_of;
  for (int i = 0; i < letters; ++i) {
    const std::string_view letter = file.word();
    const int known = letter.size() == 1 ? class_of(letter.front()) : -1;
    if (known < 0) file.fail(quoted(letter) + " is not one of A, L, R, S, T and W");
    number_of.push_back(static_cast<std::uint8_t>(known));
  }
  if (static_cast<std::size_t>(count) > text.size()) file.fail("the file is shorter than its count says");
  std::vector<std::uint8_t> result(static_cast<std::size_t>(count));
  for (std::uint8_t& c : result) c = number_of[static_cast<std::size_t>(file.whole(0, letters - 1))];
  file.end();
  return result;
}

mlp parse_mlp_weights(const std::string& name, std::string_view text) {
  const ieee_environment here;
  words file(name, text);
  expect(file, "network_type", "mlp");
  expect(file, "purpose", "classifier");
  const int inputs = expect_count(file, "ninps"), nodes = expect_count(file, "nhids");
  const int outputs = expect_count(file, "nouts");
  if (outputs != classes) file.fail(std::to_string(outputs) + " outputs, and there are six classes");
  expect(file, "acfunc_hids", "sinusoid");
  expect(file, "acfunc_outs", "sinusoid");
  if (static_cast<std::size_t>(inputs) * static_cast<std::size_t>(nodes) > text.size())
    file.fail("the file is shorter than its sizes say");
  mlp network;
  network.hidden = {nodes, inputs, numbers(file, nodes * inputs)};
  network.hidden_bias = numbers(file, nodes);
  network.output = {outputs, nodes, numbers(file, outputs * nodes)};
  network.output_bias = numbers(file, outputs);
  file.end();
  return network;
}

mlp read_mlp_weights(const std::string& path) {
  return parse_mlp_weights(path, whole_file(path, most_model_bytes));
}

std::vector<std::string> perceptron_files(const std::string& folder) {
  const perceptron_names files(folder);
  return {files.transform, files.weights};
}

std::vector<std::string> probabilistic_files(const std::string& folder) {
  const probabilistic_names files(folder);
  return {files.transform, files.prototypes, files.classes, files.smoothing};
}

model read_model(const std::string& folder) {
  const ieee_environment here;
  model m;
  if (all_exist(perceptron_files(folder))) m.perceptron = read_perceptron(folder);
  const std::vector<std::string> probabilistic = probabilistic_files(folder);
  if (all_exist(std::span(probabilistic).first(3))) m.probabilistic = read_probabilistic(folder);
  if (!m.perceptron && !m.probabilistic)
    throw file_error(
        folder + ": no model is there",
        "a model is a folder with mlp_tmat.bin and mlp_wts.bin, or with pnn_tmat.bin, profvs.bin and "
        "procls.asc");
  return m;
}

void write_model(const std::string& folder, const pnn& network) {
  const ieee_environment here;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const probabilistic_names names(folder);
  atomic_files files;
  files.open(names.transform)
      .write(matrix_bytes("Eigenvectors times regional weights, by vouch", network.transform));
  files.open(names.prototypes).write(matrix_bytes("Prototypes, by vouch", network.prototypes));
  std::string known =
      "Classes of the prototypes, by vouch\nc a\n" + std::to_string(network.classes.size()) + "\n1\n6\n";
  for (const char letter : std::string_view(class_letters)) (known += letter) += '\n';
  for (const std::uint8_t c : network.classes) (known += std::to_string(int{c})) += '\n';
  files.open(names.classes).write(known);
  files.open(names.smoothing).write(number_text(network.smoothing) + '\n');
  files.commit();
}

}  // namespace vouch::fingerprint
