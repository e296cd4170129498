// vouch convert: the same numbers in another format or order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <optional>
#include <utility>
#include <variant>

#include <vouch/dense/sparsify.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/scipy_npz.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/transpose.hpp>
#include <vouch/text/file.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

constexpr std::array<std::string_view, 3> orders{"natural", "random", "rcm"};
constexpr std::array<std::string_view, 3> formats{"auto", "coordinate", "array"};
constexpr std::array<std::string_view, 5> stores{"auto", "general", "symmetric", "skew-symmetric", "hermitian"};

struct convert_options {
  common_options common;
  std::string in, out;
  std::string format = "auto";
  std::string store = "auto";
  std::string order = "natural";
  std::optional<std::int64_t> seed;
  std::int64_t block = 1;
  std::string permutation;
  bool transposed = false;
};

/// What was read, with the form in which the file had it.
struct content {
  any_matrix A;
  symmetry stored_as = symmetry::general;
};

template <class M>
concept dense_matrix = std::same_as<M, vectors> || std::same_as<M, complex_vectors>;

content read(const device& cpu, const std::string& path) {
  std::optional<matrix_market_header> header;
  any_matrix read = read_any_numbers(cpu, path, &header);
  return {std::move(read), header ? header->stored_as : symmetry::general};
}

symmetry store_of(const convert_options& o, const content& c) {
  for (const symmetry known :
       {symmetry::general, symmetry::symmetric, symmetry::skew_symmetric, symmetry::hermitian})
    if (o.store == name(known)) return known;
  return c.stored_as;
}

template <class T>
const csr<T>& sparse(const device&, const csr<T>& A) {
  return A;
}
template <dense_matrix M>
auto sparse(const device& cpu, const M& A) {
  return sparsify(cpu, matrix_view{A.values.data(), A.rows, A.cols, std::max<std::int64_t>(1, A.rows)});
}

template <class T>
std::int64_t nonzeros(const csr<T>& A) {
  return A.nonzeros();
}
template <dense_matrix M>
std::int64_t nonzeros(const M& A) {
  return std::count_if(A.values.begin(), A.values.end(), [](const auto& v) { return v != 0.0; });
}

template <class T>
csr<T> transposed(const device& cpu, const csr<T>& A) {
  return transpose(cpu, A.all());
}
template <dense_matrix M>
M transposed(const device& cpu, const M& A) {
  M B{A.cols, A.rows, {cpu, A.values.size()}};
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) B.values[i * B.rows + j] = A.values[j * A.rows + i];
  return B;
}

template <class T>
csr<T> permuted(const device& cpu, const csr<T>& A, const array<std::int32_t>& order) {
  return permute(cpu, A.all(), order);
}
template <dense_matrix M>
M permuted(const device& cpu, const M& A, const array<std::int32_t>& order) {
  M B{A.rows, A.cols, {cpu, A.values.size()}};
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) B.values[j * A.rows + i] = A.values[order[j] * A.rows + order[i]];
  return B;
}

template <class T>
void write_dense(const device& cpu, atomic_file& file, const csr<T>& A) {
  array<T> values = array<T>::zeros(cpu, A.rows * A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) values[A.col[k] * A.rows + i] = A.val[k];
  write_vectors(file, view<const T>(values), A.rows, A.cols);
}
template <dense_matrix M>
void write_dense(const device&, atomic_file& file, const M& A) {
  write_vectors(file, A.values.all(), A.rows, A.cols);
}

template <class T>
array<std::int32_t> narrow_order(const device& cpu, const csr<T>& A, int block) {
  if constexpr (std::same_as<T, double>)
    return reverse_cuthill_mckee<double>(cpu, A, block);
  else
    return reverse_cuthill_mckee<double>(cpu, moduli(cpu, A), block);
}

// The new order of the unknowns, where one is asked for.
template <class M>
std::optional<array<std::int32_t>> new_order(const device& cpu, const convert_options& o, const M& A) {
  if (o.order == "natural") return std::nullopt;
  if (A.rows != A.cols)
    throw value_error(
        fmt::format("--order {} needs a square matrix, {} is {} by {}", o.order, o.in, A.rows, A.cols));
  const int block = static_cast<int>(o.block);
  if (o.order == "rcm") return narrow_order(cpu, sparse(cpu, A), block);
  return random_order(cpu, A.rows, static_cast<std::uint64_t>(o.seed.value_or(1)), block);
}

void write_permutation(const device& cpu, atomic_file& file, const array<std::int32_t>& order) {
  array<double> numbers(cpu, order.size());
  for (std::int64_t i = 0; i < order.size(); ++i) numbers[i] = order[i] + 1;
  write_vectors(file, numbers, numbers.size());
}

void declare(command_line& line, convert_options& o) {
  line.example("vouch convert A.mtx.gz A.mtx", "unpack; comments go, duplicates are summed");
  line.example("vouch convert A.mtx B.mtx --order rcm", "renumber the unknowns for a narrow band");
  line.example("vouch convert x.mtx x.npy", "vectors between .mtx, .npy and text");
  line.argument("IN", o.in, "a matrix or vectors: .mtx, .npy, text, SciPy's .npz, Harwell-Boeing, .tar.gz");
  line.argument("OUT", o.out, ".mtx, .npy, SciPy's sparse .npz or text, by its name");
  line.choice("--format", "F", o.format, formats, "of a .mtx: coordinate or array [as IN; array from vectors]");
  line.choice("--store", "S", o.store, stores,
              "of coordinates: general, symmetric, skew-symmetric, hermitian [as IN]");
  line.choice("--order", "O", o.order, orders, "natural, random or rcm [natural]");
  line.count("--block", o.block, 1, "keep groups of so many unknowns together [1]", 1024);
  line.count("--seed", o.seed, 0, "of --order random [1]");
  line.text("--permutation", "FILE", o.permutation, "old number of each new unknown, counted from 1");
  line.flag("--transpose", o.transposed, "write the transpose");
  add_threads_option(line, o.common);
  add_report_options(line, o.common);
}

void check(const convert_options& o) {
  if (!o.permutation.empty() && o.order == "natural")
    throw usage_error("--permutation without --order", "give --order rcm or random");
  if (o.block != 1 && o.order == "natural")
    throw usage_error("--block without --order", "give --order rcm or random");
  if (o.seed && o.order != "random") throw usage_error("--seed without --order random");
  if (o.format != "auto" && !o.out.ends_with(".mtx"))
    throw usage_error("--format is of .mtx files", o.out + " is written as its name says");
  check_outputs({o.out, o.permutation}, {o.in});
}

bool writes_coordinates(const convert_options& o, bool dense) {
  return o.out.ends_with(".mtx") && o.format != "array" && (o.format == "coordinate" || !dense);
}

template <class M>
void convert(const device& cpu, const console& log, const convert_options& o, symmetry stored_as, M& A,
             const stopwatch& clock) {
  const double read_seconds = clock.seconds();
  if (o.transposed) A = transposed(cpu, A);
  atomic_files files;
  if (const auto order = new_order(cpu, o, A)) {
    A = permuted(cpu, A, *order);
    if (!o.permutation.empty()) write_permutation(cpu, files.open(o.permutation), *order);
  }
  const double work_seconds = clock.seconds() - read_seconds;
  const bool coordinate = writes_coordinates(o, dense_matrix<M>);
  if (!coordinate && o.store != "auto")
    throw usage_error("--store is of coordinates", "give --format coordinate and a name that ends with .mtx");
  with_sign_of_life(log, "writing", [&] {
    if (coordinate)
      write_matrix_market(files.open(o.out), sparse(cpu, A), stored_as);
    else if (o.out.ends_with(".npz"))
      write_scipy_npz(files.open(o.out), sparse(cpu, A));
    else
      write_dense(cpu, files.open(o.out), A);
  });
  files.commit();

  const std::int64_t entries = nonzeros(A);
  log.line(fmt::format("{}: {} by {}, {} nonzeros, {:.3f} s", o.out, A.rows, A.cols, entries, clock.seconds()));
  if (!o.common.json) return;
  json object = object_of("convert");
  object["matrix"] =
      matrix_json(o.out, A.rows, A.cols, entries, stored_as == symmetry::symmetric,
                  std::same_as<M, csr<std::complex<double>>> || std::same_as<M, complex_vectors>);
  object["order"] = o.order;
  object["time_s"] = {{"read", read_seconds},
                      {"work", work_seconds},
                      {"write", clock.seconds() - read_seconds - work_seconds},
                      {"total", clock.seconds()}};
  print_json(object);
}

}  // namespace

int cmd_convert(std::span<const char* const> arguments) {
  convert_options o;
  command_line line("convert", "rewrite a matrix or vectors in another format or order");
  declare(line, o);
  if (!line.parse(arguments)) return goal_reached;
  check(o);

  const stopwatch clock;
  const device cpu = open_cpu(o.common);
  const console log = make_console(o.common);
  content c = with_sign_of_life(log, "reading", [&] { return read(cpu, o.in); });
  std::visit([&](auto& A) { convert(cpu, log, o, store_of(o, c), A, clock); }, c.A);
  return goal_reached;
}

}  // namespace vouch::cli
