// vouch/io/npy.hpp -- NumPy's file format for one array.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/file.hpp>

namespace VOUCH_PUBLIC vouch {

/// Whether a file that starts so is an .npy file.
bool is_npy(std::string_view start);

/// See read_vectors. An array of one dimension is one vector.
/// Source  NumPy Enhancement Proposal 1; numpy.lib.format.
vectors read_npy(const device& cpu, input_file& file);
/// The same of any numbers, complex ones of 8 or 16 bytes, too.
std::variant<vectors, complex_vectors> read_any_npy(const device& cpu, input_file& file);

/// How far each element is from the double that read_npy() gives for it: not at all, but for integers beyond
/// 2^53.
vectors read_npy_radii(const device& cpu, input_file& file);

/// An array of one or two dimensions, the last index running fastest.
struct npy_array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// The .npy file whose bytes these are; name is what errors call it. Elements may be NaN or infinite.
npy_array parse_npy(const std::string& name, std::string_view bytes);

/// An array of f8 of one or two dimensions; by_columns: values are in Fortran order, as the file then says,
/// else in C order.
void write_npy(atomic_file& file, view<const double> values, std::span<const std::int64_t> shape,
               bool by_columns);
/// The same of c16.
void write_npy(atomic_file& file, view<const std::complex<double>> values, std::span<const std::int64_t> shape,
               bool by_columns);

}  // namespace vouch
