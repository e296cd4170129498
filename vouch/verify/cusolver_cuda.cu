#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/error.hpp>
#include <vouch/verify/cusolver.hpp>

namespace vouch::detail::cusolver {
namespace {

// The functions as cusolverDn.h of CUDA 11.1 to 13 declares them: handles are opaque pointers, 0 is success.
using handle = void*;
using parameters = void*;
using create_function = int(handle*);
using create_parameters_function = int(parameters*);
using set_stream_function = int(handle, cudaStream_t);
using factor_size_function = int(handle, parameters, std::int64_t m, std::int64_t n, cudaDataType type_of_A,
                                 const void* A, std::int64_t ld, cudaDataType compute, std::size_t* on_device,
                                 std::size_t* on_host);
using factor_function = int(handle, parameters, std::int64_t m, std::int64_t n, cudaDataType type_of_A, void* A,
                            std::int64_t ld, std::int64_t* pivots, cudaDataType compute, void* on_device,
                            std::size_t device_bytes, void* on_host, std::size_t host_bytes, int* info);
using solve_function = int(handle, parameters, int transposed, std::int64_t n, std::int64_t columns,
                           cudaDataType type_of_A, const void* A, std::int64_t ld, const std::int64_t* pivots,
                           cudaDataType type_of_B, void* B, std::int64_t ldb, int* info);

// Loaded once and for ever.
struct library {
  void* file = nullptr;
  create_function* create = nullptr;
  create_parameters_function* create_parameters = nullptr;
  set_stream_function* set_stream = nullptr;
  factor_size_function* factor_size = nullptr;
  factor_function* factor = nullptr;
  solve_function* solve = nullptr;

  library() {
    for (const char* name :
         {"libcusolver.so.12", "libcusolver.so.11", "/usr/local/cuda/lib64/libcusolver.so.12",
          "/usr/local/cuda/lib64/libcusolver.so.11"}) {
      file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (file != nullptr) break;
    }
    find(create, "cusolverDnCreate");
    find(create_parameters, "cusolverDnCreateParams");
    find(set_stream, "cusolverDnSetStream");
    find(factor_size, "cusolverDnXgetrf_bufferSize");
    find(factor, "cusolverDnXgetrf");
    find(solve, "cusolverDnXgetrs");
  }
  bool complete() const {
    return create != nullptr && create_parameters != nullptr && set_stream != nullptr &&
           factor_size != nullptr && factor != nullptr && solve != nullptr;
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    if (file != nullptr) function = reinterpret_cast<Function*>(dlsym(file, name));
  }
};

const library& the_library() {
  static const library all;
  return all;
}

void succeeded(int status, const char* what) {
  if (status != 0)
    throw device_error(std::string(what) + " failed with status " + std::to_string(status), status);
}

// A handle for each GPU, made once: making one takes longer than most factorisations.
struct context {
  handle solver = nullptr;
  parameters options = nullptr;
  std::mutex in_use;
};

context& context_of(int index) {
  static std::mutex guard;
  static std::map<int, context> all;
  const std::lock_guard<std::mutex> lock(guard);
  context& of = all[index];
  if (of.solver != nullptr) return of;
  succeeded(the_library().create(&of.solver), "cusolverDnCreate");
  succeeded(the_library().create_parameters(&of.options), "cusolverDnCreateParams");
  return of;
}

}  // namespace

bool present(std::string& why) {
  if (the_library().complete()) return true;
  why = the_library().file == nullptr ? "libcusolver.so is not installed" : "libcusolver.so is too old";
  return false;
}

bool solve(const device& dev, std::int64_t n, double* A, std::int64_t columns, double* X) {
  std::string why;
  if (!present(why)) throw value_error(why);
  const library& call = the_library();
  check(cudaSetDevice(dev.index()), "choosing the GPU");
  context& with = context_of(dev.index());
  const std::lock_guard<std::mutex> lock(with.in_use);
  succeeded(call.set_stream(with.solver, static_cast<cudaStream_t>(dev.stream())), "cusolverDnSetStream");
  std::size_t device_bytes = 0, host_bytes = 0;
  succeeded(call.factor_size(with.solver, with.options, n, n, CUDA_R_64F, A, n, CUDA_R_64F, &device_bytes,
                             &host_bytes),
            "cusolverDnXgetrf_bufferSize");
  array<std::byte> scratch(dev, static_cast<std::int64_t>(device_bytes));
  std::vector<std::byte> host_scratch(host_bytes);
  array<std::int64_t> pivots(dev, n);
  array<int> info = array<int>::zeros(dev, 2);
  succeeded(call.factor(with.solver, with.options, n, n, CUDA_R_64F, A, n, pivots.data(), CUDA_R_64F,
                        scratch.data(), device_bytes, host_scratch.data(), host_bytes, info.data()),
            "cusolverDnXgetrf");
  succeeded(call.solve(with.solver, with.options, 0, n, columns, CUDA_R_64F, A, n, pivots.data(), CUDA_R_64F, X,
                       n, info.data() + 1),
            "cusolverDnXgetrs");
  const std::vector<int> found = info.to_vector();
  return found[0] == 0 && found[1] == 0;
}

}  // namespace vouch::detail::cusolver
