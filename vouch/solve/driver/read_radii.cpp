// How far the data of a system may be from what was read, entry by entry.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <variant>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/sparsify.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/io/decimal_radii.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/linear_system.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

struct radius_at {
  std::int64_t row = 0;
  std::int32_t col = 0;
  double radius = 0;
};

std::string by(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " by " + std::to_string(cols);
}

// What can be read a second time, for its decimals.
bool stays(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// The radii of a file, to which what its decimals are away from these doubles is added later; where that cannot
// be read, at least the decimals.
class radius_file {
 public:
  explicit radius_file(const std::string& path) : path_(path), stays_(stays(path)) {}

  bool has_decimals() const { return stays_; }
  double at_least(double radius) const {
    if (!(radius >= 0)) throw value_error(path_ + ": the radius " + number_text(radius) + " is negative");
    return stays_ ? radius : std::nextafter(radius, HUGE_VAL);
  }

 private:
  const std::string& path_;
  bool stays_;
};

void add_matrix(const csr<double>& R, double factor, std::vector<radius_at>& list) {
  for (std::int64_t i = 0; i < R.rows; ++i)
    for (std::int64_t k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k)
      if (R.val[k] != 0) list.push_back({i, R.col[k], mul_up(factor, std::fabs(R.val[k]))});
}

void add_file(const device& cpu, const std::string& path, const linear_system& system,
              std::vector<radius_at>& list) {
  const std::variant<csr<double>, vectors> read = read_matrix(cpu, path);
  const auto* const dense = std::get_if<vectors>(&read);
  const std::int64_t rows = dense ? dense->rows : std::get<csr<double>>(read).rows;
  const std::int64_t cols = dense ? dense->cols : std::get<csr<double>>(read).cols;
  if (rows != system.rows() || cols != system.cols())
    throw shape_error(path + ": " + by(rows, cols) + ", but " + system.file + " is " +
                      by(system.rows(), system.cols()));
  const radius_file file(path);
  if (file.has_decimals()) add_matrix(read_matrix_radii(cpu, path), 1, list);
  if (!dense) {
    const csr<double>& R = std::get<csr<double>>(read);
    for (std::int64_t i = 0; i < R.rows; ++i)
      for (std::int64_t k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k)
        if (const double radius = file.at_least(R.val[k]); radius > 0) list.push_back({i, R.col[k], radius});
    return;
  }
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const double radius = file.at_least(dense->values[j * rows + i]);
      if (radius > 0) list.push_back({i, static_cast<std::int32_t>(j), radius});
    }
}

// Radii of the same entry added, rounded upwards.
csr<double> summed(const device& cpu, std::int64_t rows, std::int64_t cols, std::vector<radius_at> list) {
  std::stable_sort(list.begin(), list.end(), [](const radius_at& a, const radius_at& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(rows + 1));
  std::vector<std::int32_t> col;
  std::vector<double> val;
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (k > 0 && list[k].row == list[k - 1].row && list[k].col == list[k - 1].col) {
      val.back() = add_up(val.back(), list[k].radius);
      continue;
    }
    col.push_back(list[k].col);
    val.push_back(list[k].radius);
    ++row_ptr[static_cast<std::size_t>(list[k].row) + 1];
  }
  for (std::size_t i = 1; i < row_ptr.size(); ++i) row_ptr[i] += row_ptr[i - 1];
  return {rows, cols, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
          array<double>::from(cpu, val)};
}

// radii := radii plus factor times those of a file of as many rows, whose one column serves all.
void add_vectors(const std::string& path, const vectors& given, double factor, const linear_system& system,
                 array<double>& radii) {
  if (given.rows != system.rows() || (given.cols != system.columns && given.cols != 1))
    throw shape_error(path + ": " + by(given.rows, given.cols) + ", but the right-hand side is " +
                      by(system.rows(), system.columns));
  for (std::int64_t k = 0; k < radii.size(); ++k)
    radii[k] = add_up(radii[k], mul_up(factor, given.values[k % given.values.size()]));
}

void add_vector_file(const device& cpu, const std::string& path, const linear_system& system,
                     array<double>& radii) {
  const radius_file file(path);
  vectors given = read_vectors(cpu, path);
  for (double& radius : given.values) radius = file.at_least(radius);
  add_vectors(path, given, 1, system, radii);
  if (file.has_decimals()) add_vectors(path, read_vector_radii(cpu, path), 1, system, radii);
}

bool is_file(const std::string& rhs) { return rhs != "ones" && rhs != "row-sums"; }

void require_decimals(const std::string& path) {
  if (!stays(path)) throw value_error(path + ": decimal numbers are read twice, as only a file can be");
}

}  // namespace

data_radii read_radii(const device& cpu, const radii_request& request, const linear_system& system) {
  const ieee_environment here;
  const uncertainty& within = request.within;  // of the decimals, where these count
  std::vector<radius_at> list;
  if (!request.matrix_file.empty()) add_file(cpu, request.matrix_file, system, list);
  if (request.decimal) {
    require_decimals(system.file);
    add_matrix(read_matrix_radii(cpu, system.file), add_up(1.0, within.matrix), list);
  }
  if (within.matrix > 0)
    add_matrix(system.dense ? sparsify(cpu, system.entries()) : system.A.to(cpu), within.matrix, list);
  data_radii radii{summed(cpu, system.rows(), system.cols(), std::move(list)),
                   array<double>::zeros(cpu, system.b.size())};
  if (!request.rhs_file.empty()) add_vector_file(cpu, request.rhs_file, system, radii.rhs);
  if (request.decimal && is_file(system.rhs)) {
    require_decimals(system.rhs);
    add_vectors(system.rhs, read_vector_radii(cpu, system.rhs), add_up(1.0, within.rhs), system, radii.rhs);
  }
  for (std::int64_t k = 0; k < system.b.size() && within.rhs > 0; ++k)
    radii.rhs[k] = add_up(radii.rhs[k], mul_up(within.rhs, std::fabs(system.b[k])));
  return radii;
}

}  // namespace vouch
