// Our numbers and functions of cuDSS are those of its header.
#include <cudss.h>
#include <gtest/gtest.h>

#include <type_traits>

#include <vouch/solve/direct/cudss/interface.hpp>

namespace vouch::cudss {
namespace {

static_assert(major_version == CUDSS_VERSION_MAJOR);
static_assert(int{success} == CUDSS_STATUS_SUCCESS && int{alloc_failed} == CUDSS_STATUS_ALLOC_FAILED &&
              int{not_supported} == CUDSS_STATUS_NOT_SUPPORTED &&
              int{execution_failed} == CUDSS_STATUS_EXECUTION_FAILED);
static_assert(int{setting::pivoting} == CUDSS_CONFIG_PIVOT_TYPE &&
              int{bunch_kaufman} == CUDSS_PIVOT_BUNCH_KAUFMAN &&
              int{setting::hybrid_memory} == CUDSS_CONFIG_HYBRID_MEMORY_MODE &&
              int{setting::hybrid_device_limit} == CUDSS_CONFIG_HYBRID_DEVICE_MEMORY_LIMIT &&
              int{setting::host_threads} == CUDSS_CONFIG_HOST_NTHREADS &&
              int{setting::superpanels} == CUDSS_CONFIG_USE_SUPERPANELS &&
              int{setting::deterministic} == CUDSS_CONFIG_DETERMINISTIC_MODE);
static_assert(int{fact::info} == CUDSS_DATA_INFO && int{fact::entries} == CUDSS_DATA_LU_NNZ &&
              int{fact::perturbed} == CUDSS_DATA_NPIVOTS && int{fact::inertia} == CUDSS_DATA_INERTIA &&
              int{fact::hybrid_least} == CUDSS_DATA_HYBRID_DEVICE_MEMORY_MIN &&
              int{fact::memory} == CUDSS_DATA_MEMORY_ESTIMATES &&
              int{fact::interrupt} == CUDSS_DATA_USER_HOST_INTERRUPT && int{fact::flops} == CUDSS_DATA_FLOPS);
static_assert(int{analysis} == CUDSS_PHASE_ANALYSIS && int{factorisation} == CUDSS_PHASE_FACTORIZATION &&
              int{refactorisation} == CUDSS_PHASE_REFACTORIZATION && int{solution} == CUDSS_PHASE_SOLVE);
static_assert(int{general} == CUDSS_MTYPE_GENERAL && int{symmetric} == CUDSS_MTYPE_SYMMETRIC &&
              int{hermitian} == CUDSS_MTYPE_HERMITIAN && int{definite} == CUDSS_MTYPE_SPD &&
              int{hermitian_definite} == CUDSS_MTYPE_HPD);
static_assert(int{full} == CUDSS_MVIEW_FULL && int{upper} == CUDSS_MVIEW_UPPER &&
              int{from_zero} == CUDSS_BASE_ZERO && int{by_columns} == CUDSS_LAYOUT_COL_MAJOR);
static_assert(int{float_type} == CUDA_R_32F && int{double_type} == CUDA_R_64F &&
              int{complex_float_type} == CUDA_C_32F && int{complex_double_type} == CUDA_C_64F &&
              int{int32_type} == CUDA_R_32I && int{int64_type} == CUDA_R_64I);
static_assert(int{major} == MAJOR_VERSION && int{minor} == MINOR_VERSION && int{patch} == PATCH_LEVEL);

// As many arguments, and each of the same size and kind: pointers for its handles, numbers for its enumerators.
template <class Ours, class Theirs>
constexpr bool alike = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;
template <class Ours, class Theirs>
struct same_calls : std::false_type {};
template <class Return, class Status, class... Ours, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct same_calls<Return(Ours...), Status(Theirs...)>
    : std::bool_constant<alike<Return, Status> && (alike<Ours, Theirs> && ...)> {
};

TEST(cudss_header, declares_the_functions_that_we_call) {
  EXPECT_TRUE((same_calls<property_function, decltype(cudssGetProperty)>::value));
  EXPECT_TRUE((same_calls<create_function, decltype(cudssCreate)>::value));
  EXPECT_TRUE((same_calls<set_stream_function, decltype(cudssSetStream)>::value));
  EXPECT_TRUE((same_calls<set_threading_function, decltype(cudssSetThreadingLayer)>::value));
  EXPECT_TRUE((same_calls<create_config_function, decltype(cudssConfigCreate)>::value));
  EXPECT_TRUE((same_calls<destroy_config_function, decltype(cudssConfigDestroy)>::value));
  EXPECT_TRUE((same_calls<set_config_function, decltype(cudssConfigSet)>::value));
  EXPECT_TRUE((same_calls<create_data_function, decltype(cudssDataCreate)>::value));
  EXPECT_TRUE((same_calls<destroy_data_function, decltype(cudssDataDestroy)>::value));
  EXPECT_TRUE((same_calls<set_data_function, decltype(cudssDataSet)>::value));
  EXPECT_TRUE((same_calls<get_data_function, decltype(cudssDataGet)>::value));
  EXPECT_TRUE((same_calls<create_dense_function, decltype(cudssMatrixCreateDn)>::value));
  EXPECT_TRUE((same_calls<create_csr_function, decltype(cudssMatrixCreateCsr)>::value));
  EXPECT_TRUE((same_calls<destroy_matrix_function, decltype(cudssMatrixDestroy)>::value));
  EXPECT_TRUE((same_calls<execute_function, decltype(cudssExecute)>::value));
}

}  // namespace
}  // namespace vouch::cudss
