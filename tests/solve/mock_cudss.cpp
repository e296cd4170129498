// A library that looks like cuDSS 1 and works on the CPU, by elimination of dense matrices; what the environment variable
// MOCK_CUDSS says it does wrong. It refuses what cuDSS does not bear: work out of order, several right-hand sides or host
// memory or interchanges within superpanels in deterministic mode, a handle for two types of numbers, another matrix than
// the one that was analysed. It counts its objects, analyses and solutions for the tests.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <vouch/solve/direct/cudss/interface.hpp>

#define VOUCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace vouch::cudss;

constexpr int invalid_value = 3, internal_error = 6;
constexpr std::int64_t too_much = std::int64_t{1} << 60, least_of_hybrid = 1000;

bool is_asked(const char* fault) {
  const char* const asked = std::getenv("MOCK_CUDSS");
  return asked != nullptr && std::string(asked) == fault;
}

struct mock_handle {
  int type = -1;
};
struct mock_config {
  bool deterministic = false, hybrid = false, interchanges = false, superpanels = true;
  std::int64_t device_limit = -1;
};
struct mock_matrix {
  std::int64_t rows, cols, ld;
  const void* values;
  int type;
  const std::int64_t* row_ptr;
  const std::int32_t* col;
  int kind, view;
};
using number = std::complex<double>;

struct mock_data {
  std::vector<number> factors;  // by rows, with the interchanges done
  std::vector<std::int64_t> pivots;
  const std::int32_t* interrupt = nullptr;
  const mock_matrix* analysed = nullptr;  // it wants that matrix ever after
  std::int64_t rows = -1;
  bool factorised = false;
  std::int32_t info = 0, perturbed = 0, signs[2] = {};
};

struct {
  int objects = 0, analyses = 0, solutions = 0;
} counted;

template <class T>
number number_at(const mock_matrix& A, std::int64_t k, bool complex) {
  const T* const values = static_cast<const T*>(A.values);
  return complex ? number(values[2 * k], values[2 * k + 1]) : number(values[k]);
}
bool is_complex(const mock_matrix& A) { return A.type == complex_double_type || A.type == complex_float_type; }
bool is_double(const mock_matrix& A) { return A.type == double_type || A.type == complex_double_type; }
number get(const mock_matrix& A, std::int64_t k) {
  return is_double(A) ? number_at<double>(A, k, is_complex(A)) : number_at<float>(A, k, is_complex(A));
}
template <class T>
void put_at(const mock_matrix& x, std::int64_t k, number value) {
  T* const values = static_cast<T*>(const_cast<void*>(x.values));
  if (!is_complex(x)) {
    values[k] = static_cast<T>(value.real());
    return;
  }
  values[2 * k] = static_cast<T>(value.real());
  values[2 * k + 1] = static_cast<T>(value.imag());
}
void put(const mock_matrix& x, std::int64_t k, number value) {
  is_double(x) ? put_at<double>(x, k, value) : put_at<float>(x, k, value);
}

std::vector<number> densify(const mock_matrix& A) {
  const bool conjugate = A.kind == hermitian || A.kind == hermitian_definite;
  std::vector<number> D(static_cast<std::size_t>(A.rows * A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      if (A.view == upper && j < i) continue;
      const number value = get(A, k);
      D[static_cast<std::size_t>(i * A.rows + j)] = value;
      if (A.view == upper) D[static_cast<std::size_t>(j * A.rows + i)] = conjugate ? std::conj(value) : value;
    }
  return D;
}

// The signs of pivots without interchanges, and the first that is not positive.
void look_at_pivots(std::vector<number> D, std::int64_t n, mock_data& made) {
  for (std::int64_t k = 0; k < n; ++k) {
    number& pivot = D[static_cast<std::size_t>(k * n + k)];
    if (!(pivot.real() > 0) && made.info == 0) made.info = static_cast<std::int32_t>(k + 1);
    if (std::abs(pivot) < 1e-13) {
      ++made.perturbed;
      pivot = 1e-13;
    }
    ++made.signs[pivot.real() > 0 ? 0 : 1];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const number factor = D[static_cast<std::size_t>(i * n + k)] / pivot;
      for (std::int64_t j = k; factor != 0.0 && j < n; ++j)
        D[static_cast<std::size_t>(i * n + j)] -= factor * D[static_cast<std::size_t>(k * n + j)];
    }
  }
}

void eliminate(const mock_matrix& A, mock_data& made) {
  const std::int64_t n = A.rows;
  made.info = made.perturbed = made.signs[0] = made.signs[1] = 0;
  made.factors = densify(A);
  look_at_pivots(made.factors, n, made);
  if (A.kind != definite && A.kind != hermitian_definite) made.info = 0;
  if (A.kind == general) made.perturbed = 0;
  made.pivots.resize(static_cast<std::size_t>(n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> number& {
    return made.factors[static_cast<std::size_t>(i * n + j)];
  };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(best, k))) best = i;
    made.pivots[static_cast<std::size_t>(k)] = best;
    for (std::int64_t j = 0; best != k && j < n; ++j) std::swap(at(k, j), at(best, j));
    if (std::abs(at(k, k)) < 1e-13) {
      if (A.kind == general) ++made.perturbed;
      at(k, k) = 1e-13;
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      const number factor = at(i, k) /= at(k, k);
      for (std::int64_t j = k + 1; factor != 0.0 && j < n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
}

// Column c.
void substitute(const mock_data& made, const mock_matrix& x, const mock_matrix& b, std::int64_t c) {
  const std::int64_t n = made.rows;
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return made.factors[static_cast<std::size_t>(i * n + j)];
  };
  std::vector<number> y(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = get(b, c * b.ld + i);
  for (std::int64_t k = 0; k < n; ++k)
    std::swap(y[static_cast<std::size_t>(k)],
              y[static_cast<std::size_t>(made.pivots[static_cast<std::size_t>(k)])]);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      y[static_cast<std::size_t>(i)] -= at(i, j) * y[static_cast<std::size_t>(j)];
  for (std::int64_t i = n - 1; i >= 0; --i) {
    for (std::int64_t j = i + 1; j < n; ++j)
      y[static_cast<std::size_t>(i)] -= at(i, j) * y[static_cast<std::size_t>(j)];
    y[static_cast<std::size_t>(i)] /= at(i, i);
  }
  for (std::int64_t i = 0; i < n; ++i)
    put(x, c * x.ld + i,
        is_asked("wrong") ? get(b, c * b.ld + i) / 8.0
        : is_asked("nan") ? number(std::numeric_limits<double>::quiet_NaN())
                          : y[static_cast<std::size_t>(i)]);
}

template <class Object>
int create(void** made, Object* object) {
  ++counted.objects;
  *made = object;
  return success;
}
template <class Object>
int destroy(void* object) {
  --counted.objects;
  delete static_cast<Object*>(object);
  return success;
}

// Until it is asked to end.
int wait_for_the_end(const mock_data& made) {
  while (made.interrupt != nullptr && __atomic_load_n(made.interrupt, __ATOMIC_ACQUIRE) == 0) {
  }
  return execution_failed;
}

}  // namespace

VOUCH_EXPORT int cudssGetProperty(int property, int* value) {
  *value = property == major ? (is_asked("old") ? 0 : 1) : property == minor ? 2 : 3;
  return success;
}
VOUCH_EXPORT int cudssCreate(handle* made) {
  *made = new mock_handle;
  return success;
}
VOUCH_EXPORT int cudssSetStream(handle, void*) { return success; }
VOUCH_EXPORT int cudssSetThreadingLayer(handle, const char*) { return invalid_value; }
VOUCH_EXPORT int cudssConfigCreate(config_object* made) { return create(made, new mock_config); }
VOUCH_EXPORT int cudssConfigDestroy(config_object config) { return destroy<mock_config>(config); }
VOUCH_EXPORT int cudssConfigSet(config_object config, int which, const void* value, std::size_t bytes) {
  auto& set = *static_cast<mock_config*>(config);
  std::int64_t number = 0;
  if (bytes > sizeof number) return invalid_value;
  std::memcpy(&number, value, bytes);
  const std::size_t wanted = which == setting::hybrid_device_limit ? 8 : 4;
  if (bytes != wanted) return invalid_value;
  if (which == setting::deterministic) set.deterministic = number != 0;
  if (which == setting::superpanels) set.superpanels = number != 0;
  if (which == setting::pivoting) set.interchanges = number == bunch_kaufman;
  if (which == setting::hybrid_memory) set.hybrid = number != 0;
  if (which == setting::hybrid_device_limit) set.device_limit = number;
  return success;
}
VOUCH_EXPORT int cudssDataCreate(handle, data_object* made) {
  return is_asked("no-data") ? static_cast<int>(alloc_failed) : create(made, new mock_data);
}
VOUCH_EXPORT int cudssDataDestroy(handle, data_object data) { return destroy<mock_data>(data); }
VOUCH_EXPORT int cudssDataSet(handle, data_object data, int which, const void* value, std::size_t) {
  if (which != fact::interrupt || value == nullptr || is_asked("no-interrupt")) return invalid_value;
  static_cast<mock_data*>(data)->interrupt = static_cast<const std::int32_t*>(value);
  return success;
}
VOUCH_EXPORT int cudssDataGet(handle, data_object data, int which, void* value, std::size_t bytes,
                              std::size_t* written) {
  const auto& made = *static_cast<mock_data*>(data);
  const auto give = [&](const void* from, std::size_t size) {
    if (bytes < size) return invalid_value;
    std::memcpy(value, from, size);
    *written = size;
    return static_cast<int>(success);
  };
  switch (which) {
    case fact::info:
      return give(&made.info, 4);
    case fact::entries: {
      const std::int64_t entries = made.rows * made.rows;
      return give(&entries, 8);
    }
    case fact::perturbed:
      return give(&made.perturbed, 4);
    case fact::inertia:
      return give(made.signs, 8);
    case fact::flops: {
      const std::int64_t flops = 2 * made.rows * made.rows * made.rows / 3;
      return give(&flops, 8);
    }
    case fact::memory: {
      std::int64_t all[memory_of::count] = {};
      if (is_asked("large") || is_asked("hybrid")) all[memory_of::device_peak] = too_much;
      return give(all, sizeof all);
    }
    case fact::hybrid_least: {
      const std::int64_t least = is_asked("large") ? too_much : least_of_hybrid;
      return give(&least, sizeof least);
    }
    default:
      return invalid_value;
  }
}
VOUCH_EXPORT int cudssMatrixCreateDn(matrix_object* made, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                                     const void* values, int type, int) {
  return create(made, new mock_matrix{rows, cols, ld, values, type, nullptr, nullptr, 0, 0});
}
VOUCH_EXPORT int cudssMatrixCreateCsr(matrix_object* made, std::int64_t rows, std::int64_t cols, std::int64_t,
                                      const void* row_start, const void*, const void* col, const void* values,
                                      int offset_type, int index_type, int type, int kind, int view, int) {
  if (offset_type != int64_type || index_type != int32_type) return not_supported;
  if (is_asked("no-matrix")) return alloc_failed;
  return create(made, new mock_matrix{rows, cols, 0, values, type, static_cast<const std::int64_t*>(row_start),
                                      static_cast<const std::int32_t*>(col), kind, view});
}
VOUCH_EXPORT int cudssMatrixDestroy(matrix_object object) { return destroy<mock_matrix>(object); }
VOUCH_EXPORT int cudssExecute(handle handle, int phase, config_object config, data_object data, matrix_object A,
                              matrix_object x, matrix_object b) {
  auto& made = *static_cast<mock_data*>(data);
  auto& by = *static_cast<mock_handle*>(handle);
  const auto& set = *static_cast<mock_config*>(config);
  const auto& matrix = *static_cast<mock_matrix*>(A);
  if (by.type >= 0 && by.type != matrix.type) return internal_error;
  by.type = matrix.type;
  if (set.deterministic && (set.hybrid || static_cast<mock_matrix*>(b)->cols != 1)) return not_supported;
  if (phase != analysis && made.analysed != &matrix) return internal_error;
  if (set.interchanges && phase == factorisation &&
      (is_asked("no-interchanges") || (set.deterministic && set.superpanels)))
    return not_supported;
  if (is_asked("hybrid") && phase != analysis && (!set.hybrid || set.device_limit < least_of_hybrid))
    return alloc_failed;
  switch (phase) {
    case analysis:
      ++counted.analyses;
      if (is_asked("no-memory-to-analyse")) return alloc_failed;
      made.rows = matrix.rows;
      made.analysed = &matrix;
      return is_asked("endless") ? wait_for_the_end(made) : static_cast<int>(success);
    case factorisation:
    case refactorisation:
      if (made.rows != matrix.rows || made.factorised != (phase == refactorisation)) return invalid_value;
      if (is_asked("no-memory")) return alloc_failed;
      if (is_asked("fails")) return internal_error;
      if (is_asked("refuses")) return not_supported;
      eliminate(matrix, made);
      made.factorised = true;
      return success;
    case solution:
      if (!made.factorised) return invalid_value;
      if (is_asked("no-solution")) return execution_failed;
      ++counted.solutions;
      for (std::int64_t c = 0; c < static_cast<mock_matrix*>(b)->cols; ++c)
        substitute(made, *static_cast<mock_matrix*>(x), *static_cast<mock_matrix*>(b), c);
      return success;
    default:
      return invalid_value;
  }
}

// For tests.
VOUCH_EXPORT int mock_cudss_objects() { return counted.objects; }
VOUCH_EXPORT int mock_cudss_analyses() { return counted.analyses; }
VOUCH_EXPORT int mock_cudss_solutions() { return counted.solutions; }
