#include "solve_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/sparsify.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch::cli {
namespace {

array<double> filled(const device& cpu, std::int64_t size, double value) {
  array<double> v(cpu, size);
  std::fill(v.begin(), v.end(), value);
  return v;
}

// A*ones. The residual of b = 0 at x = -1 is just that, every row summed in double-double and rounded once.
array<double> row_sums(const device& cpu, const linear_system& system) {
  const array<double> zeros = array<double>::zeros(cpu, system.rows());
  const array<double> minus_ones = filled(cpu, system.cols(), -1);
  array<double> sums(cpu, system.rows());
  if (system.dense)
    residual<double>(cpu, transpose::no, system.entries(), zeros, minus_ones, nullptr, sums);
  else if (system.A.where().is_cuda())  // the CPU's bits
    residual<double>(cpu, system.A.to(cpu), zeros, minus_ones, nullptr, sums);
  else
    residual<double>(cpu, system.A, zeros, minus_ones, nullptr, sums);
  return sums;
}

// length: the rows of the matrix, or its columns
vectors read_vectors_of_length(const device& cpu, const std::string& path, const linear_system& system,
                               std::int64_t length) {
  vectors v = read_vectors(cpu, path);
  if (v.rows == length) return v;
  const bool lying = v.rows == 1 && v.cols == length;
  throw shape_error(
      fmt::format("{}: {} {}, but {} has {} {}", path, v.rows, v.rows == 1 ? "row" : "rows", system.file,
                  length, length == system.rows() ? "rows" : "columns"),
      lying ? fmt::format("its one row holds {} numbers; put each on a line of its own", v.cols) : "");
}

// One start serves all columns.
void take_start(const device& cpu, const std::string& from, linear_system& system) {
  const std::int64_t n = system.cols();
  if (from == "zeros" || from == "ones") {
    system.start = filled(cpu, n * system.columns, from == "ones" ? 1 : 0);
    return;
  }
  vectors given = read_vectors_of_length(cpu, from, system, system.cols());
  if (given.cols != system.columns && given.cols != 1)
    throw shape_error(
        fmt::format("{}: {} columns, but the right-hand side has {}", from, given.cols, system.columns));
  if (given.cols == system.columns) {
    system.start = std::move(given.values);
    return;
  }
  system.start = array<double>(cpu, n * system.columns);
  for (std::int64_t j = 0; j < system.columns; ++j)
    std::copy(given.values.begin(), given.values.end(), system.start.begin() + j * n);
}

bool is_file(const std::string& rhs_or_start) {
  return rhs_or_start != "ones" && rhs_or_start != "row-sums" && rhs_or_start != "zeros";
}

}  // namespace

csr<double> read_sparse(const device& cpu, const std::string& path,
                        std::optional<matrix_market_header>* header) {
  std::variant<csr<double>, vectors> read = read_matrix(cpu, path, header);
  if (auto* sparse = std::get_if<csr<double>>(&read)) return std::move(*sparse);
  const auto& dense = std::get<vectors>(read);
  return sparsify(cpu, {dense.values.data(), dense.rows, dense.cols, std::max<std::int64_t>(1, dense.rows)});
}

void take_rhs(const device& cpu, const std::string& from, linear_system& system) {
  system.rhs = from;
  if (from == "ones") {
    system.b = filled(cpu, system.rows(), 1);
  } else if (from == "row-sums") {
    system.b = row_sums(cpu, system);
  } else {
    vectors given = read_vectors_of_length(cpu, from, system, system.rows());
    if (given.cols < 1) throw shape_error(fmt::format("{}: there is no column", from));
    system.columns = given.cols;
    system.b = std::move(given.values);
  }
}

namespace {

// A GPU may have no room for what the CPU has; the solver then says what it would take. A pipe is not read twice.
std::variant<csr<double>, vectors> read_where_there_is_room(const device& cpu, const device& dev,
                                                            const std::string& path) {
  try {
    return read_matrix(dev.is_cuda() ? dev : cpu, path);
  } catch (const out_of_memory&) {
    std::error_code ignored;
    if (!dev.is_cuda() || !std::filesystem::is_regular_file(path, ignored)) throw;
    return read_matrix(cpu, path);
  }
}

}  // namespace

linear_system read_system_matrix(const device& cpu, const device& dev, const std::string& path) {
  const stopwatch clock;
  linear_system system;
  system.file = path;
  std::variant<csr<double>, vectors> read = read_where_there_is_room(cpu, dev, path);
  if (auto* dense = std::get_if<vectors>(&read))
    system.dense = std::move(*dense);
  else
    system.A = std::move(std::get<csr<double>>(read));
  system.seconds.read = clock.seconds();
  return system;
}

solver make_solver(const device& cpu, const linear_system& system, const solve_options& options) {
  if (system.dense) return solver(cpu, system.entries(), options);
  return solver(system.A.where().is_cuda() ? system.A.where() : cpu, system.A, options);
}

void take_vectors(const device& cpu, const solve_request& request, linear_system& system) {
  const stopwatch rhs;
  take_rhs(cpu, request.rhs, system);
  (is_file(request.rhs) ? system.seconds.read : system.seconds.setup) += rhs.seconds();
  const stopwatch start;
  take_start(cpu, request.initial, system);
  (is_file(request.initial) ? system.seconds.read : system.seconds.setup) += start.seconds();
}

}  // namespace vouch::cli
