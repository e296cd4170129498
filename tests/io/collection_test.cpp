#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <data.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/io/vectors.hpp>

namespace vouch {
namespace {

using testing::data_file;

// Reads one file of a collection; "" or the complaint from its line on.
std::string complaint(const std::string& path, csr<double>& A) {
  try {
    A = read_csr(device::cpu(2), path);
  } catch (const parse_error& e) {
    return std::string(e.what()).substr(path.size());
  }
  return "";
}

struct parser_case {
  const char* name;
  std::int64_t rows, cols, nonzeros;
  double sum;
  const char* complaint = "";
};

constexpr const char* complex_field =
    ":1: the matrix is complex, and what was asked for takes real numbers alone";
constexpr const char* vector_object = ":1:16: unknown object 'vector'";

// Decided by the strict rule: what other readers permit (one percent sign, objects named vector, lone carriage
// returns) is refused.
const parser_case parser_cases[] = {
    {"eye3", 3, 3, 3, 3},
    {"eye3_complex", 0, 0, 0, 0, complex_field},
    {"eye3_str", 3, 3, 3, 3},
    {"graphblas__matrix_double", 3, 1, 3, 4},
    {"graphblas__matrix_float", 3, 1, 3, 4},
    {"graphblas__matrix_int16", 3, 1, 3, 4},
    {"graphblas__matrix_int64", 3, 1, 3, 4},
    {"graphblas__matrix_uint16", 3, 1, 3, 4},
    {"graphblas__matrix_uint64", 3, 1, 3, 4},
    {"invalid__invalid_bad_banner", 0, 0, 0, 0, ":1:1: expected %%MatrixMarket, found '%%__BadBanner'"},
    {"invalid__invalid_bad_field", 0, 0, 0, 0, ":1:34: unknown field '____'"},
    {"invalid__invalid_bad_object", 0, 0, 0, 0, ":1:16: unknown object '___'"},
    {"invalid__invalid_bad_value", 0, 0, 0, 0, ":1:34: unknown field 'double'"},
    {"invalid__invalid_bad_value_3", 0, 0, 0, 0, vector_object},
    {"invalid__invalid_dimensions_out_of_range_1", 0, 0, 0, 0, ":3:1: the number of rows cannot be negative"},
    {"invalid__invalid_dimensions_out_of_range_3", 0, 0, 0, 0,
     ":3:5: the number of entries cannot be negative"},
    {"invalid__invalid_indices_out_of_range_2", 0, 0, 0, 0, ":6:3: column 2000 exceeds 7 columns"},
    {"invalid__invalid_indices_out_of_range_4", 0, 0, 0, 0, ":6:3: column 0 is below 1"},
    {"invalid__invalid_indices_out_of_range_6", 0, 0, 0, 0, ":6:3: column -2 is below 1"},
    {"invalid__invalid_symmetry_vector", 0, 0, 0, 0, vector_object},
    {"invalid__invalid_truncated_header_2", 0, 0, 0, 0, ":1:33: the line ends before the symmetry"},
    {"invalid__invalid_truncated_line_2", 0, 0, 0, 0,
     ":2:5: 12 entries declared, the file has room for at most 3"},
    {"invalid__invalid_vector_array_too_long", 0, 0, 0, 0, vector_object},
    {"invalid__invalid_vector_index_out_of_range_1", 0, 0, 0, 0, vector_object},
    {"invalid__invalid_vector_negative_length", 0, 0, 0, 0, vector_object},
    {"nist_ex1", 5, 5, 8, 33.335},
    {"nist_ex1_more_freeformat", 5, 5, 8, 33.335},
    {"overflow__overflow_index_gt_int64", 0, 0, 0, 0, ":6:1: row 19223372036854775808 exceeds 1000 rows"},
    {"overflow__overflow_value_gt_complex128", 0, 0, 0, 0, complex_field},
    {"overflow__overflow_value_gt_float64", 0, 0, 0, 0, ":4:5: '1E310' overflows double precision"},
    {"overflow__overflow_value_gt_int64", 0, 0, 0, 0, ":6:5: '19223372036854775808' overflows 64-bit integers"},
    {"permissive__permissive_banner_one_percent_eye3", 0, 0, 0, 0,
     ":1:1: expected %%MatrixMarket with two percent signs"},
    {"permissive__windows_lineendings_nist_ex1_more_freeformat", 5, 5, 8, 33.335},
    {"py_long_double__longcomplex_array", 0, 0, 0, 0, complex_field},
    {"py_long_double__longdouble_array", 0, 0, 0, 0, ":4:1: '1E310' overflows double precision"},
    {"py_matrix_array_complex_general", 0, 0, 0, 0, complex_field},
    {"py_matrix_array_real_general", 3, 2, 6, 72},
    {"py_matrix_coordinate_complex_hermitian", 0, 0, 0, 0, complex_field},
    {"py_matrix_coordinate_pattern_general", 3, 3, 3, 3},
    {"py_matrix_coordinate_real_general", 3, 3, 3, 3},
    {"py_matrix_coordinate_real_skew-symmetric", 0, 0, 0, 0,
     ":6:3: an entry on the diagonal of a skew-symmetric matrix"},
    {"py_misc__windows_newlines", 0, 0, 0, 0, ":1:46: a carriage return inside the line"},
    {"py_scipy_crashes__vector_array_real_general", 0, 0, 0, 0, vector_object},
    {"row_3by4", 3, 4, 4, 10},
    {"symmetry__coordinate_hermitian_real_row_general", 3, 3, 5, 90},
    {"symmetry__coordinate_hermitian_real_row_general_zero", 3, 3, 5, 90},
    {"symmetry__coordinate_hermitian_row_general", 0, 0, 0, 0, complex_field},
    {"symmetry__coordinate_hermitian_row_general_zero", 0, 0, 0, 0, complex_field},
    {"symmetry__coordinate_pattern_symmetric_row_general", 3, 3, 4, 4},
    {"symmetry__coordinate_pattern_symmetric_row_general_zero", 3, 3, 4, 4},
    {"symmetry__coordinate_skew_symmetric_row_general", 3, 3, 4, 0},
    {"symmetry__coordinate_skew_symmetric_row_general_zero", 3, 3, 4, 0},
    {"symmetry__coordinate_symmetric_row_general", 3, 3, 5, 90},
    {"symmetry__coordinate_symmetric_row_general_zero", 3, 3, 5, 90},
    {"symmetry_array__array_hermitian_general", 0, 0, 0, 0, complex_field},
    {"symmetry_array__array_skew-symmetric_general", 3, 3, 6, 0},
    {"symmetry_array__array_symmetric_general", 3, 3, 9, 204},
    {"vector_coordinate", 0, 0, 0, 0, vector_object},
    {"vector_coordinate_complex_dupes", 0, 0, 0, 0, vector_object},
};

TEST(Collection, ReadsOrRefusesEveryParserFile) {
  VOUCH_NEEDS_DATA(data_file("parser"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(data_file("parser"))) ++files;
  EXPECT_EQ(files, std::size(parser_cases));
  for (const parser_case& expected : parser_cases) {
    csr<double> A;
    EXPECT_EQ(complaint(data_file(std::string("parser/") + expected.name + ".mtx"), A), expected.complaint)
        << expected.name;
    if (*expected.complaint != '\0') continue;
    double sum = 0;
    for (const double v : A.val) sum += v;
    EXPECT_EQ(A.rows, expected.rows) << expected.name;
    EXPECT_EQ(A.cols, expected.cols) << expected.name;
    EXPECT_EQ(A.nonzeros(), expected.nonzeros) << expected.name;
    EXPECT_DOUBLE_EQ(sum, expected.sum) << expected.name;
  }
}

struct matrix_case {
  const char* name;
  std::int64_t rows, cols, nonzeros;
};

// Dimensions and nonzeros of the collections' index; explicit zeros are stored entries.
const matrix_case matrices[] = {
    {"494_bus", 494, 494, 1666},
    {"685_bus", 685, 685, 3249},
    {"LFAT5", 14, 14, 46},
    {"arc130", 130, 130, 1282},
    {"ash219", 219, 85, 438},
    {"bcsstk01", 48, 48, 400},
    {"bcsstk02", 66, 66, 4356},
    {"bcsstk03", 112, 112, 640},
    {"bcsstk05", 153, 153, 2423},
    {"bcsstk08", 1074, 1074, 12960},
    {"bcsstk09", 1083, 1083, 18437},
    {"bcsstk10", 1086, 1086, 22070},
    {"bcsstk11", 1473, 1473, 34241},
    {"bcsstk13", 2003, 2003, 83883},
    {"bcsstk14", 1806, 1806, 63454},
    {"bcsstk15", 3948, 3948, 117816},
    {"bcsstk16", 4884, 4884, 290378},
    {"bcsstm10", 1086, 1086, 22092},
    {"bcsstm25", 15439, 15439, 15439},
    {"can_24", 24, 24, 160},
    {"cryg2500", 2500, 2500, 12349},
    {"gr_30_30", 900, 900, 7744},
    {"illc1033", 1033, 320, 4732},
    {"jgl009", 9, 9, 50},
    {"jpwh_991", 991, 991, 6027},
    {"nos1", 237, 237, 1017},
    {"nos2_reconstructed", 957, 957, 4137},
    {"nos3", 960, 960, 15844},
    {"nos5", 468, 468, 5172},
    {"orsirr_1", 1030, 1030, 6858},
    {"plskz362", 362, 362, 1760},
    {"pyamg_airfoil", 260, 260, 1682},
    {"pyamg_bar", 600, 600, 23402},
    {"pyamg_recirc_flow", 225, 225, 1849},
    {"pyamg_unit_cube", 125, 125, 1473},
    {"sherman1", 1000, 1000, 3750},
    {"sherman3", 5005, 5005, 20033},
    {"sherman5", 3312, 3312, 20793},
    {"utm300", 300, 300, 3155},
    {"wathenSmall", 7400, 7400, 113632},
    {"well1033", 1033, 320, 4732},
    {"west0067", 67, 67, 294},
    {"west0479", 479, 479, 1910},
};

TEST(Collection, ReadsEveryMatrix) {
  VOUCH_NEEDS_DATA(data_file("matrices"));
  for (const matrix_case& expected : matrices) {
    csr<double> A;
    EXPECT_EQ(complaint(data_file(std::string("matrices/") + expected.name + ".mtx"), A), "");
    EXPECT_EQ(A.rows, expected.rows) << expected.name;
    EXPECT_EQ(A.cols, expected.cols) << expected.name;
    EXPECT_EQ(A.nonzeros(), expected.nonzeros) << expected.name;
  }
}

TEST(Collection, RefusesComplexMatrices) {
  VOUCH_NEEDS_DATA(data_file("matrices"));
  csr<double> A;
  EXPECT_EQ(complaint(data_file("matrices/mhd1280b.mtx"), A), complex_field);
}

TEST(Collection, ReadsEveryRightHandSide) {
  VOUCH_NEEDS_DATA(data_file("matrices"));
  const std::pair<const char*, std::int64_t> sides[] = {
      {"illc1033_rhs1", 1033}, {"sherman5_rhs1", 3312}, {"utm300_rhs1", 300}, {"well1033_rhs1", 1033}};
  for (const auto& [name, rows] : sides) {
    const vectors b = read_vectors(device::cpu(2), data_file(std::string("matrices/") + name + ".mtx"));
    EXPECT_EQ(b.rows, rows) << name;
    EXPECT_EQ(b.cols, 1) << name;
  }
}

}  // namespace
}  // namespace vouch
