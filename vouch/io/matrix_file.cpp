#include <vouch/io/matrix_file.hpp>

#include <string_view>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/io/harwell_boeing.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/npz.hpp>

namespace vouch {

input_file open_part(const std::string& path, const char* suffix) {
  input_file file(path);
  if (is_tar(file.peek(tar_block))) enter_tar(file, suffix);
  return file;
}

file_content content_of(input_file& file) {
  const std::string_view start = file.peek(tar_block);
  if (is_npy(start)) return file_content::npy;
  if (is_zip(start)) return file_content::npz;
  if (start.starts_with('%')) return file_content::matrix_market;
  return is_harwell_boeing(start) ? file_content::harwell_boeing : file_content::other;
}

coo read_other_format(file_content content, const device& cpu, input_file file, matrix_market_header& header) {
  if (content == file_content::npz) return read_scipy_npz(cpu, file, read_as::double_nearest, header);
  harwell_boeing found = read_harwell_boeing(cpu, std::move(file), read_as::double_nearest);
  header = std::move(found.header);
  return std::move(found.A);
}

csr<double> read_other_format_csr(file_content content, const device& dev, input_file file,
                                  matrix_market_header& header) {
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  csr<double> A = content == file_content::npz
                      ? read_scipy_csr(cpu, file, header)
                      : to_csr(cpu, read_other_format(content, cpu, std::move(file), header));
  return dev.is_cuda() ? A.to(dev) : std::move(A);
}

vectors read_other_format_vectors(file_content content, const device& cpu, input_file file) {
  matrix_market_header unused;
  if (content == file_content::npz) return densified(cpu, read_scipy_csr(cpu, file, unused));
  const std::string path = file.path();
  vectors rhs = read_harwell_boeing(cpu, std::move(file), read_as::double_nearest).rhs;
  if (rhs.cols == 0) throw parse_error(path, 0, 0, "the file holds a matrix and no full right-hand side");
  return rhs;
}

vectors densified(const device& cpu, const csr<double>& A) {
  vectors result{A.rows, A.cols, array<double>::zeros(cpu, A.rows * A.cols)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      result.values[A.col[k] * A.rows + i] = A.val[k];
  return result;
}

}  // namespace vouch
