#include <vouch/solve/linear_system.hpp>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <utility>
#include <variant>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/sparsify.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

array<double> filled(const device& cpu, std::int64_t size, double value) {
  array<double> v(cpu, size);
  std::fill(v.begin(), v.end(), value);
  return v;
}

// As many numbers; of a complex system their imaginary parts are 0.
array<double> filled(const device& cpu, const linear_system& system, std::int64_t size, double value) {
  array<double> v = filled(cpu, size, value);
  for (std::int64_t k = 1; system.complex_entries && k < v.size(); k += 2) v[k] = 0;
  return v;
}

// A*ones. The residual of b = 0 at x = -1 is just that, every row summed in double-double and rounded once.
array<double> row_sums(const device& cpu, const linear_system& system) {
  const array<double> zeros = array<double>::zeros(cpu, system.rows());
  const array<double> minus_ones = filled(cpu, system, system.cols(), -1);
  array<double> sums(cpu, system.rows());
  if (system.dense)
    residual<double>(cpu, transpose::no, system.entries(), zeros, minus_ones, nullptr, sums);
  else if (system.A.where().is_cuda())  // the CPU's bits
    residual<double>(cpu, system.A.to(cpu), zeros, minus_ones, nullptr, sums);
  else
    residual<double>(cpu, system.A, zeros, minus_ones, nullptr, sums);
  return sums;
}

// length: the rows of the matrix, or its columns.
void require_length(const std::string& path, std::int64_t rows, std::int64_t cols, const linear_system& system,
                    std::int64_t length) {
  if (rows == length) return;
  const bool lying = rows == 1 && cols == length;
  throw shape_error(
      path + ": " + std::to_string(rows) + (rows == 1 ? " row" : " rows") + ", but " + system.file + " has " +
          std::to_string(length) + (length == system.equations() ? " rows" : " columns"),
      lying ? "its one row holds " + std::to_string(cols) + " numbers; put each on a line of its own" : "");
}

// Real and imaginary parts in turns, of numbers that are real.
vectors with_parts(const device& cpu, const vectors& v) {
  vectors parts{2 * v.rows, v.cols, array<double>::zeros(cpu, 2 * v.values.size())};
  for (std::int64_t k = 0; k < v.values.size(); ++k) parts.values[2 * k] = v.values[k];
  return parts;
}

vectors with_parts(const device& cpu, const complex_vectors& v) {
  vectors parts{2 * v.rows, v.cols, array<double>(cpu, 2 * v.values.size())};
  for (std::int64_t k = 0; k < v.values.size(); ++k) {
    parts.values[2 * k] = v.values[k].real();
    parts.values[2 * k + 1] = v.values[k].imag();
  }
  return parts;
}

// Of every complex column a real one of its real and one of its imaginary parts.
vectors by_parts(const device& cpu, const complex_vectors& v) {
  vectors columns{v.rows, 2 * v.cols, array<double>(cpu, 2 * v.values.size())};
  for (std::int64_t j = 0; j < v.cols; ++j)
    for (std::int64_t i = 0; i < v.rows; ++i) {
      columns.values[2 * j * v.rows + i] = v.values[j * v.rows + i].real();
      columns.values[(2 * j + 1) * v.rows + i] = v.values[j * v.rows + i].imag();
    }
  return columns;
}

// What a file holds as the vectors of the system are.
vectors as_in(const device& cpu, const linear_system& system, const std::string& path, std::int64_t length,
              std::variant<vectors, complex_vectors> read) {
  std::visit([&](const auto& v) { require_length(path, v.rows, v.cols, system, length); }, read);
  if (system.complex_entries) return std::visit([&](const auto& v) { return with_parts(cpu, v); }, read);
  if (auto* numbers = std::get_if<complex_vectors>(&read)) {
    if (system.complex_columns) return by_parts(cpu, *numbers);
    throw shape_error(path + ": complex numbers, but matrix and right-hand side are real");
  }
  vectors real = std::get<vectors>(std::move(read));
  if (!system.complex_columns) return real;
  vectors columns{real.rows, 2 * real.cols, array<double>::zeros(cpu, 2 * real.values.size())};
  for (std::int64_t k = 0; k < real.values.size(); ++k)
    columns.values[k / real.rows * 2 * real.rows + k % real.rows] = real.values[k];
  return columns;
}

}  // namespace

vectors read_system_vectors(const device& cpu, const std::string& path, const linear_system& system,
                            std::int64_t length) {
  const ieee_environment here;
  return as_in(cpu, system, path, length, read_any_vectors(cpu, path, system.complex_entries.has_value()));
}

void write_solution(atomic_file& file, const linear_system& system, const array<double>& x) {
  using complex = std::complex<double>;
  if (system.complex_entries) {
    const view<const complex> values(reinterpret_cast<const complex*>(x.data()), x.size() / 2);
    return write_vectors(file, values, system.unknowns(), system.columns);
  }
  if (!system.complex_columns) return write_vectors(file, x, system.cols(), system.columns);
  const std::int64_t n = system.cols(), columns = system.columns / 2;
  array<complex> joined(device::cpu(1), n * columns);
  for (std::int64_t k = 0; k < joined.size(); ++k) {
    const std::int64_t i = k % n, j = k / n;
    joined[k] = {x[2 * j * n + i], x[(2 * j + 1) * n + i]};
  }
  write_vectors(file, view<const complex>(joined), n, columns);
}

void take_rhs(const device& cpu, const std::string& from, linear_system& system) {
  const ieee_environment here;
  system.rhs = from;
  if (from == "ones") {
    system.b = filled(cpu, system, system.rows(), 1);
  } else if (from == "row-sums") {
    system.b = row_sums(cpu, system);
  } else {
    std::variant<vectors, complex_vectors> read =
        read_any_vectors(cpu, from, system.complex_entries.has_value());
    system.complex_columns = !system.complex_entries && std::holds_alternative<complex_vectors>(read);
    vectors given = as_in(cpu, system, from, system.equations(), std::move(read));
    if (given.cols < 1) throw shape_error(from + ": there is no column");
    system.columns = given.cols;
    system.b = std::move(given.values);
  }
}

void take_start(const device& cpu, const std::string& from, linear_system& system) {
  const ieee_environment here;
  const std::int64_t n = system.cols();
  if (from == "zeros" || from == "ones") {
    system.start = filled(cpu, system, n * system.columns, from == "ones" ? 1 : 0);
    return;
  }
  vectors given = read_system_vectors(cpu, from, system, system.unknowns());
  if (given.cols != system.columns && given.cols != 1)
    throw shape_error(from + ": " + std::to_string(given.cols) + " columns, but the right-hand side has " +
                      std::to_string(system.columns));
  if (given.cols == system.columns) {
    system.start = std::move(given.values);
    return;
  }
  system.start = array<double>(cpu, n * system.columns);
  for (std::int64_t j = 0; j < system.columns; ++j)
    std::copy(given.values.begin(), given.values.end(), system.start.begin() + j * n);
}

namespace {

// A GPU may have no room for what the CPU has; the solver then says what it would take. A pipe is not read twice.
any_matrix read_where_there_is_room(const device& cpu, const device& dev, const std::string& path) {
  try {
    return read_any_matrix(dev.is_cuda() ? dev : cpu, path);
  } catch (const out_of_memory&) {
    std::error_code ignored;
    if (!dev.is_cuda() || !std::filesystem::is_regular_file(path, ignored)) throw;
    return read_any_matrix(cpu, path);
  }
}

}  // namespace

linear_system read_linear_system(const device& cpu, const device& dev, const std::string& path) {
  const ieee_environment here;
  linear_system system;
  system.file = path;
  any_matrix read = read_where_there_is_room(cpu, dev, path);
  if (auto* dense = std::get_if<vectors>(&read)) system.dense = std::move(*dense);
  if (auto* sparse = std::get_if<csr<double>>(&read)) system.A = std::move(*sparse);
  if (const auto* sparse = std::get_if<csr<std::complex<double>>>(&read)) {
    system.A = real_form(cpu, *sparse);
    system.complex_entries = sparse->nonzeros();
  }
  if (const auto* dense = std::get_if<complex_vectors>(&read)) {
    const matrix_view<const std::complex<double>> A{dense->values.data(), dense->rows, dense->cols,
                                                    std::max<std::int64_t>(1, dense->rows)};
    const matrix<double> form = real_form(cpu, A);
    system.dense = vectors{form.rows(), form.cols(), array<double>(cpu, form.rows() * form.cols())};
    std::copy_n(form.data(), system.dense->values.size(), system.dense->values.data());
    system.complex_entries = std::count_if(dense->values.begin(), dense->values.end(),
                                           [](const std::complex<double>& value) { return value != 0.0; });
  }
  return system;
}

namespace {

void require_real(const linear_system& system) {
  if (system.complex_entries)
    throw value_error(system.file + ": complex systems take no near-nullspace and no coordinates");
}

}  // namespace

near_nullspace read_near_nullspace(const device& cpu, const std::string& path, const linear_system& system) {
  const ieee_environment here;
  require_real(system);
  const vectors given = read_vectors(cpu, path);
  require_length(path, given.rows, given.cols, system, system.rows());
  return {given.cols, 0, given.values.to_vector()};
}

near_nullspace read_rigid_body_modes(const device& cpu, const std::string& path, const linear_system& system) {
  const ieee_environment here;
  require_real(system);
  const vectors places = read_vectors(cpu, path);
  if (places.cols != 2 && places.cols != 3)
    throw shape_error(
        path + ": " + std::to_string(places.cols) + (places.cols == 1 ? " number" : " numbers") + " a node",
        "coordinates are 2 or 3 a line");
  if (places.rows * places.cols != system.rows())
    throw shape_error(path + ": " + std::to_string(places.rows) + " nodes of " + std::to_string(places.cols) +
                          " unknowns, but " + system.file + " has " + std::to_string(system.rows()) + " rows",
                      "a line for each node that has unknowns, in their order");
  return rigid_body_modes(places.values, static_cast<int>(places.cols));
}

solver make_solver(const device& cpu, const linear_system& system, const solve_options& asked) {
  const ieee_environment here;
  solve_options options = asked;
  if (system.complex_entries)
    options.names.matrix = system.file + ", by its real form";  // whose rows errors name
  if (system.dense) return solver(cpu, system.entries(), options);
  return solver(system.A.where().is_cuda() ? system.A.where() : cpu, system.A, options);
}

}  // namespace vouch
