// Matrices and vectors from files, to files, and from generators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <variant>

#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/scipy_npz.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/reduce/matrix_set.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/text/tokens.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

template <class T>
nb::tuple csr_parts(vouch::csr<T>&& A) {
  const std::int64_t rows = A.rows, cols = A.cols;
  return nb::make_tuple(rows, cols, to_numpy(std::move(A.row_ptr)), to_numpy(std::move(A.col)),
                        to_numpy(std::move(A.val)));
}

vouch::csr_view<const double> csr_of(std::int64_t rows, std::int64_t cols,
                                     const vector_in<std::int64_t>& indptr,
                                     const vector_in<std::int32_t>& indices, const vector_in<double>& data) {
  return {rows, cols, static_cast<std::int64_t>(data.size()), indptr.data(), indices.data(), data.data()};
}

template <class Offset>
bool is_canonical(std::int64_t rows, std::int64_t cols, const vector_in<Offset>& indptr,
                  const vector_in<std::int32_t>& indices) {
  const auto entries = static_cast<std::int64_t>(indices.size());
  const Offset* const start = indptr.data();
  if (rows < 0 || indptr.size() != static_cast<std::size_t>(rows) + 1 || start[0] != 0 ||
      start[rows] != entries)
    return false;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (start[i + 1] < start[i] || start[i + 1] > entries) return false;
    std::int64_t before = -1;
    for (auto k = start[i]; k < start[i + 1]; ++k) {
      const std::int64_t col = indices.data()[k];
      if (col <= before || col >= cols) return false;
      before = col;
    }
  }
  return true;
}

// Whether arrays of any kind are a matrix as the library takes it: doubles, columns of 32 bits that ascend in each row.
bool is_canonical_csr(std::int64_t rows, std::int64_t cols, const nb::object& indptr, const nb::object& indices,
                      const nb::object& data) {
  vector_in<std::int32_t> columns, narrow;
  vector_in<std::int64_t> wide;
  vector_in<double> values;
  if (!nb::try_cast(indices, columns, false) || !nb::try_cast(data, values, false) ||
      columns.size() != values.size())
    return false;
  if (nb::try_cast(indptr, narrow, false)) return is_canonical(rows, cols, narrow, columns);
  return nb::try_cast(indptr, wide, false) && is_canonical(rows, cols, wide, columns);
}

nb::tuple real_form(std::int64_t rows, std::int64_t cols, const vector_in<std::int64_t>& indptr,
                    const vector_in<std::int32_t>& indices, const vector_in<std::complex<double>>& data) {
  if (rows < 0 || indptr.size() != static_cast<std::size_t>(rows) + 1)
    throw vouch::shape_error("indptr does not fit the rows");
  const vouch::csr_view<const std::complex<double>> A{
      rows, cols, static_cast<std::int64_t>(data.size()), indptr.data(), indices.data(), data.data()};
  return csr_parts(without_lock([&] { return vouch::real_form(vouch::device::cpu(), A); }));
}

nb::dict header_parts(const vouch::matrix_market_header& h) {
  nb::dict parts;
  parts["format"] = vouch::name(h.format);
  parts["field"] = vouch::name(h.field);
  parts["symmetry"] = vouch::name(h.stored_as);
  parts["rows"] = h.rows;
  parts["cols"] = h.cols;
  parts["entries"] = h.entries;
  return parts;
}

template <class T>
nb::object matrix_to_numpy(vouch::array<T>&& values, std::int64_t rows, std::int64_t cols) {
  auto* const kept = new vouch::array<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<vouch::array<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(
      kept->data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)}, owner, {1, rows}));
}

// What a file holds: a tuple for sparse matrices.
struct as_numpy {
  template <class T>
  nb::object operator()(vouch::csr<T>&& A) const {
    return csr_parts(std::move(A));
  }
  nb::object operator()(vouch::vectors&& v) const {
    return matrix_to_numpy(std::move(v.values), v.rows, v.cols);
  }
  nb::object operator()(vouch::complex_vectors&& v) const {
    return matrix_to_numpy(std::move(v.values), v.rows, v.cols);
  }
};

nb::object read_any(const std::string& path, int threads) {
  return std::visit(as_numpy{}, without_lock([&] { return vouch::read_any_matrix(cpu_of(threads), path); }));
}

// Behind the stored entries the mirror images of those off the diagonal.
vouch::coo both_triangles(const vouch::device& cpu, vouch::coo&& A) {
  const std::int64_t stored = A.val.size();
  std::int64_t k = stored;
  for (std::int64_t i = 0; i < stored; ++i) k += A.row[i] != A.col[i];
  vouch::coo B{A.rows,
               A.cols,
               vouch::symmetry::general,
               vouch::array<std::int32_t>(cpu, k),
               vouch::array<std::int32_t>(cpu, k),
               vouch::array<double>(cpu, k)};
  std::copy(A.row.begin(), A.row.end(), B.row.data());
  std::copy(A.col.begin(), A.col.end(), B.col.data());
  std::copy(A.val.begin(), A.val.end(), B.val.data());
  const double sign = A.stored_as == vouch::symmetry::skew_symmetric ? -1 : 1;
  k = stored;
  for (std::int64_t i = 0; i < stored; ++i) {
    if (A.row[i] == A.col[i]) continue;
    B.row[k] = A.col[i];
    B.col[k] = A.row[i];
    B.val[k++] = sign * A.val[i];
  }
  return B;
}

nb::tuple read_triplets(const std::string& path, int threads) {
  vouch::matrix_market_header header;
  vouch::coo A = without_lock([&] {
    vouch::coo read = vouch::read_coo(cpu_of(threads), path, &header);
    if (header.stored_as == vouch::symmetry::general) return read;
    return both_triangles(cpu_of(threads), std::move(read));
  });
  return nb::make_tuple(header_parts(header), to_numpy(std::move(A.row)), to_numpy(std::move(A.col)),
                        to_numpy(std::move(A.val)));
}

void write_csr(const std::string& path, std::int64_t rows, std::int64_t cols, vector_in<std::int64_t> indptr,
               vector_in<std::int32_t> indices, vector_in<double> data, const std::string& stored_as) {
  const vouch::symmetry kind = stored_as == "symmetric"        ? vouch::symmetry::symmetric
                               : stored_as == "skew-symmetric" ? vouch::symmetry::skew_symmetric
                                                               : vouch::symmetry::general;
  without_lock([&] {
    vouch::write_matrix_market(path, csr_of(rows, cols, indptr, indices, data), kind);
    return true;
  });
}

void write_npz(const std::string& path, std::int64_t rows, std::int64_t cols, vector_in<std::int64_t> indptr,
               vector_in<std::int32_t> indices, vector_in<double> data) {
  without_lock([&] {
    vouch::atomic_file file(path);
    vouch::write_scipy_npz(file, csr_of(rows, cols, indptr, indices, data));
    file.commit();
    return true;
  });
}

void write_dense(const std::string& path, vector_in<double> values, std::int64_t rows, std::int64_t cols) {
  without_lock([&] {
    vouch::write_vectors(path, read(values), rows, cols);
    return true;
  });
}

nb::tuple generate(const std::string& problem, const nb::dict& given, int threads) {
  vouch::problem_options options;
  for (auto [key, value] : given) {
    const std::string option = nb::cast<std::string>(key);
    if (option == "nx" || option == "ny" || option == "nz")
      (option == "nx" ? options.nx : option == "ny" ? options.ny : options.nz) = nb::cast<std::int64_t>(value);
    else if (option == "boundary")
      options.boundary = nb::cast<std::string>(value);
    else if (option == "coefficient")
      options.coefficient = nb::cast<std::string>(value);
    else if (option == "element")
      options.element = nb::cast<std::string>(value);
    else if (option == "epsilon")
      options.epsilon = nb::cast<double>(value);
    else if (option == "contrast")
      options.contrast = nb::cast<double>(value);
    else if (option == "young")
      options.young = nb::cast<double>(value);
    else if (option == "poisson_ratio")
      options.poisson_ratio = nb::cast<double>(value);
    else if (option == "stretch")
      options.stretch = nb::cast<double>(value);
    else if (option == "perturb")
      options.perturb = nb::cast<double>(value);
    else if (option == "peclet")
      options.peclet = nb::cast<double>(value);
    else if (option == "flow")
      options.flow = nb::cast<std::string>(value);
    else if (option == "order")
      options.order = nb::cast<std::string>(value);
    else if (option == "seed")
      options.seed = nb::cast<std::uint64_t>(value);
    else
      throw vouch::value_error("generate: there is no option " + option);
  }
  return csr_parts(without_lock([&] { return vouch::generate_problem(cpu_of(threads), problem, options); }));
}

nb::list problem_list() {
  nb::list all;
  for (const vouch::problem_facts& p : vouch::problems()) {
    nb::list options;
    for (const std::string_view option : p.options) options.append(nb::str(option.data(), option.size()));
    all.append(nb::make_tuple(nb::str(p.name.data(), p.name.size()),
                              nb::str(p.summary.data(), p.summary.size()), p.dimension, options));
  }
  return all;
}

nb::tuple known_solution(std::int64_t rows, std::int64_t cols, vector_in<std::int64_t> indptr,
                         vector_in<std::int32_t> indices, vector_in<double> data, const std::string& kind,
                         std::uint64_t seed, int threads) {
  const auto wanted = vouch::find_word<vouch::known_solution>(vouch::known_solution_words, kind);
  if (!wanted) throw vouch::value_error("solution \"" + kind + "\" is none of ones, smooth, random, integers");
  vouch::array<double> x, b;
  without_lock([&] {
    const vouch::device cpu = cpu_of(threads);
    x = vouch::make_solution(cpu, *wanted, cols, seed);
    b = vouch::right_hand_side(cpu, csr_of(rows, cols, indptr, indices, data), x);
    return true;
  });
  return nb::make_tuple(to_numpy(std::move(b)), to_numpy(std::move(x)));
}

nb::dict info(std::int64_t rows, std::int64_t cols, vector_in<std::int64_t> indptr,
              vector_in<std::int32_t> indices, vector_in<double> data, int threads) {
  const vouch::structure_facts f = without_lock(
      [&] { return vouch::structure<double>(cpu_of(threads), csr_of(rows, cols, indptr, indices, data)); });
  nb::dict facts;
  facts["rows"] = f.rows;
  facts["cols"] = f.cols;
  facts["nonzeros"] = f.nonzeros;
  facts["square"] = f.square;
  facts["pattern_symmetric"] = f.pattern_symmetric;
  facts["symmetric"] = f.symmetric;
  facts["diagonal_positive"] = f.diagonal_positive;
  facts["dominance"] = vouch::name(f.dominant);
  facts["dominance_ratio"] = f.dominance_ratio;
  facts["bandwidth_lower"] = f.bandwidth_lower;
  facts["bandwidth_upper"] = f.bandwidth_upper;
  facts["entries_min"] = f.entries_min;
  facts["entries_max"] = f.entries_max;
  facts["entries_mean"] = f.entries_mean;
  facts["empty_rows"] = f.empty_rows;
  facts["row_sums_zero"] = f.row_sums_zero;
  return facts;
}

nb::object python_integer(vouch::int128 value) {
  const auto high = static_cast<std::int64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return nb::steal((PyNumber_Lshift(nb::int_(high).ptr(), nb::int_(64).ptr()))) + nb::int_(low);
}

nb::tuple reduce(const std::vector<std::string>& files, const std::vector<std::string>& operations,
                 std::optional<std::pair<std::int64_t, std::int64_t>> shape, bool sample, bool rigorous,
                 int threads) {
  vouch::reduce_options options;
  options.operations.clear();
  for (const std::string& wanted : operations) {
    const auto all = vouch::reductions();
    const auto found = std::find_if(all.begin(), all.end(), [&](auto r) { return vouch::name(r) == wanted; });
    if (found == all.end()) throw vouch::value_error("reduce: there is no operation " + wanted);
    options.operations.push_back(*found);
  }
  if (shape) options.shape = vouch::set_shape{shape->first, shape->second};
  options.sample = sample;
  options.rigorous = rigorous;
  const vouch::reduce_result r =
      without_lock([&] { return vouch::reduce_matrix_sets(cpu_of(threads), files, options); });
  nb::list results;
  for (const vouch::reduced& one : r.results) {
    nb::dict entry;
    entry["operation"] = nb::str(vouch::name(one.operation).data(), vouch::name(one.operation).size());
    entry["failure"] = one.failure;
    if (one.integral) {
      nb::list integers;
      for (const vouch::int128 value : one.integers) integers.append(python_integer(value));
      entry["values"] = integers;
    } else {
      entry["values"] = nb::cast(one.reals);
    }
    nb::list bounds;
    for (const vouch::interval<double>& x : one.enclosures) bounds.append(nb::make_tuple(x.lo(), x.hi()));
    entry["enclosures"] = bounds;
    results.append(entry);
  }
  return nb::make_tuple(r.count, r.rows, r.cols, r.integers, results);
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("is_canonical", is_canonical_csr);
  m.def("read_any", read_any);
  m.def("read_header",
        [](const std::string& path) { return header_parts(vouch::read_matrix_market_header(path)); });
  m.def("read_triplets", read_triplets);
  m.def("write_csr", write_csr);
  m.def("write_npz", write_npz);
  m.def("real_form", real_form);
  m.def("write_dense", write_dense);
  m.def("generate", generate);
  m.def("problem_list", problem_list);
  m.def("known_solution", known_solution);
  m.def("info", info);
  m.def("reduce", reduce);
}

}  // namespace vouchnum
