// vouch/solve/direct/cudss/interface.hpp -- what we use of cuDSS 1, a library that is opened at run time: its functions and
// numbers as its manual has them; handles are opaque. tests/solve/cudss_header_test.cpp holds them against its header;
// private.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vouch::cudss {

inline constexpr int major_version = 1;  // the one whose numbers these are

using handle = void*;
using config_object = void*;
using data_object = void*;
using matrix_object = void*;

enum status : int { success = 0, alloc_failed = 2, not_supported = 4, execution_failed = 5 };

namespace setting {
enum which : int {
  pivoting = 7,
  hybrid_memory = 11,
  hybrid_device_limit = 12,
  host_threads = 14,
  superpanels = 20,
  deterministic = 24
};
}

namespace fact {
enum which : int {
  info = 0,
  entries = 1,        // int64
  perturbed = 2,      // int32, as the indices
  inertia = 3,        // two int32: positive, negative
  hybrid_least = 10,  // int64: bytes of a GPU that hybrid memory needs
  memory = 13,        // sixteen int64: see `memory_of`
  interrupt = 23,
  flops = 26  // int64
};
}

// Bytes in fact::memory.
namespace memory_of {
enum which : int { device_peak = 1, hybrid_host_most = 5, count = 16 };
}

enum phase : int { analysis = 3, factorisation = 4, refactorisation = 8, solution = 0x3f0 };

enum matrix_type : int { general = 0, symmetric = 1, hermitian = 2, definite = 3, hermitian_definite = 4 };
enum matrix_view : int { full = 0, upper = 2 };
enum pivot_type : int { bunch_kaufman = 6 };
enum index_base : int { from_zero = 0 };
enum layout : int { by_columns = 0 };
enum number_type : int {
  float_type = 0,
  double_type = 1,
  complex_float_type = 4,
  complex_double_type = 5,
  int32_type = 10,
  int64_type = 24
};
enum property : int { major = 0, minor = 1, patch = 2 };

using property_function = int(int property, int* value);
using create_function = int(handle*);
using set_stream_function = int(handle, void* stream);
using set_threading_function = int(handle, const char* file);
using create_config_function = int(config_object*);
using destroy_config_function = int(config_object);
using set_config_function = int(config_object, int setting, const void* value, std::size_t bytes);
using create_data_function = int(handle, data_object*);
using destroy_data_function = int(handle, data_object);
using set_data_function = int(handle, data_object, int fact, const void* value, std::size_t bytes);
using get_data_function = int(handle, data_object, int fact, void* value, std::size_t bytes,
                              std::size_t* written);
using create_dense_function = int(matrix_object*, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                                  const void* values, int type, int layout);
using create_csr_function = int(matrix_object*, std::int64_t rows, std::int64_t cols, std::int64_t nonzeros,
                                const void* row_start, const void* row_end, const void* col, const void* values,
                                int offset_type, int index_type, int value_type, int matrix_type, int view,
                                int base);
using destroy_matrix_function = int(matrix_object);
using execute_function = int(handle, int phase, config_object, data_object, matrix_object A, matrix_object x,
                             matrix_object b);

}  // namespace vouch::cudss
