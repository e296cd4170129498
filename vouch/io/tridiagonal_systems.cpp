#include <vouch/io/tridiagonal_systems.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/named_arrays.hpp>
#include <vouch/io/npz.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

double take_number(const std::string& path, std::int64_t line, const token& word) {
  const char* const end = word.text.data() + word.text.size();
  const parsed_number<double> number = parse_real(word.text.data(), end);
  if (number.error == number_error::none && number.end == end) return number.value;
  throw parse_error(path, line, word.column, not_a_number(word.text));
}

// "dl d du b"; text that begins with # is a remark.
void take_row(const std::string& path, std::int64_t line, std::string_view text, tridiagonal_systems& into) {
  std::vector<double>* const columns[] = {&into.dl, &into.d, &into.du, &into.b};
  tokens words(text);
  token word;
  for (int k = 0; k < 4; ++k) {
    if (!words.next(word))
      throw parse_error(path, line, word.column, std::to_string(k) + " numbers where a row has 4",
                        "a row is: dl d du b; a blank line ends a system");
    columns[k]->push_back(take_number(path, line, word));
  }
  if (words.next(word)) throw parse_error(path, line, word.column, "more than 4 numbers in a row");
}

tridiagonal_systems read_text(const std::string& path, input_file&& file) {
  line_reader reader{std::move(file)};
  tridiagonal_systems batch;
  batch.offsets = {0};
  const auto end_system = [&] {
    const auto rows = static_cast<std::int64_t>(batch.d.size());
    if (rows > batch.offsets.back()) batch.offsets.push_back(rows);
  };
  std::string line;
  while (reader.next_line(line)) {
    const std::string_view row = std::string_view(line).substr(0, line.find('#'));
    if (is_blank(line))
      end_system();
    else if (!is_blank(row))
      take_row(path, reader.lines(), row, batch);
  }
  end_system();
  batch.systems = static_cast<std::int64_t>(batch.offsets.size()) - 1;
  return batch;
}

using detail::shape_text;

class batch_arrays {
  static constexpr std::string_view names[] = {"dl", "d", "du", "b", "offsets"};

 public:
  explicit batch_arrays(const std::string& path)
      : path_(path),
        arrays_(path, names,
                "a batch has the arrays dl, d, du and b, as by numpy.savez(FILE, dl=dl, d=d, du=du, b=b), or, "
                "of sparse "
                "systems of one pattern, indptr, indices, data and b") {}

  tridiagonal_systems batch() const {
    const npy_array &d = arrays_.need("d"), &b = arrays_.need("b");
    for (const char* name : {"dl", "du"})
      if (arrays_.need(name).shape != d.shape)
        throw parse_error(
            path_, 0, 0,
            std::string(name) + " is " + shape_text(arrays_.need(name)) + ", d is " + shape_text(d),
            "the three diagonals have one shape; dl[0] and du[n-1] are there and not used");
    const bool shared = d.shape.size() == 1 && b.shape.size() == 2;
    if (shared ? d.shape[0] != b.shape[1] : d.shape != b.shape)
      throw parse_error(path_, 0, 0, "b is " + shape_text(b) + ", d is " + shape_text(d),
                        "a row of b has a right-hand side; d has the same shape, or that of one row");
    const bool table = b.shape.size() == 2;
    tridiagonal_systems all{
        arrays_.need("dl").values, d.values, arrays_.need("du").values, b.values, 0, shared, table, {}};
    const std::int64_t n = b.shape.back();
    all.systems = table ? b.shape[0] : n > 0 ? 1 : 0;
    if (n == 0) all.systems = 0;
    if (arrays_.find("offsets") != nullptr) take_offsets(*arrays_.find("offsets"), b, all);
    return all;
  }

 private:
  void take_offsets(const npy_array& offsets, const npy_array& b, tridiagonal_systems& all) const {
    const std::vector<double>& at = offsets.values;
    const bool fits = b.shape.size() == 1 && offsets.shape.size() == 1 && at.size() > 1 && at.front() == 0 &&
                      at.back() == static_cast<double>(b.values.size()) &&
                      std::is_sorted(at.begin(), at.end()) &&
                      std::all_of(at.begin(), at.end(), [](double x) { return x == std::floor(x); });
    if (!fits)
      throw parse_error(path_, 0, 0, "offsets do not cut b into systems",
                        "they ascend from 0 to the length of b, which has one dimension");
    for (const double x : at) all.offsets.push_back(static_cast<std::int64_t>(x));
    all.systems = static_cast<std::int64_t>(at.size()) - 1;
  }

  const std::string& path_;
  detail::named_arrays arrays_;
};

}  // namespace

batch_shape tridiagonal_systems::shape() const {
  if (!offsets.empty()) return ragged(offsets);
  return contiguous(static_cast<std::int64_t>(b.size()) / std::max<std::int64_t>(systems, 1), systems);
}

batch_shape tridiagonal_systems::matrix_shape() const {
  return shared ? contiguous(static_cast<std::int64_t>(d.size())) : shape();
}

std::int64_t tridiagonal_systems::nonzeros() const {
  const batch_shape all = shape();
  std::int64_t count = 0;
  for (std::int64_t s = 0; s < all.systems; ++s) count += std::max<std::int64_t>(3 * all.rows(s) - 2, 0);
  return count;
}

tridiagonal_systems read_tridiagonal_systems(const std::string& path) {
  const ieee_environment here;
  input_file file(path);
  tridiagonal_systems batch =
      is_zip(file.peek(4)) ? batch_arrays(path).batch() : read_text(path, std::move(file));
  if (batch.systems == 0) throw parse_error(path, 0, 0, "there is no system in the file");
  return batch;
}

}  // namespace vouch
