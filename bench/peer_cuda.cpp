#include <dlfcn.h>

#include <filesystem>

#include "peers.hpp"
#include "peers/cuda_cg.h"
#include "peers/cuda_dense.h"

namespace vouch::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "vouch_peers_cuda.so";

// The module, or nullptr and why. Loaded once: linked into the tool its libraries would cost every start tens
// of milliseconds.
struct peer_module {
  void* handle = nullptr;
  std::string why;

  peer_module() {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& path : {folder / module_name, folder / "../lib/vouch" / module_name}) {
      if (!fs::exists(path, ignored)) continue;
      handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      const char* problem = handle == nullptr ? dlerror() : nullptr;
      if (problem != nullptr) why = problem;
      return;
    }
    why = std::string(module_name) + " is neither beside the program nor in ../lib/vouch";
  }
};

// A function of the module, or nullptr and why.
template <class Function>
Function* find(const char* name, std::string& why) {
  static const peer_module module;
  if (module.handle == nullptr) {
    why = module.why;
    return nullptr;
  }
  auto* found = reinterpret_cast<Function*>(dlsym(module.handle, name));
  if (found == nullptr) why = std::string("the module has no ") + name;
  return found;
}

}  // namespace

template <real T>
std::optional<peer_answer<T>> cuda_library_cg(const device& gpu, csr_view<const T> A, std::span<const T> b,
                                              const peer_task& task, std::string& why) {
  auto* const cg = find<vouch_peer_cuda_cg_function>("vouch_peer_cuda_cg", why);
  if (cg == nullptr) return std::nullopt;
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  const vouch_peer_system system{A.rows,        A.nonzeros, reinterpret_cast<const long long*>(A.row_ptr),
                                 A.col,         A.val,      b.data(),
                                 sizeof(T) == 8};
  peer_answer<T> answer;
  answer.x.resize(b.size());
  vouch_peer_answer from{};
  if (cg(gpu.index(), &system, task.rtol, task.limit, task.repeats, answer.x.data(), &from) != 0) {
    why = from.message;
    return std::nullopt;
  }
  answer.seconds = from.seconds;
  answer.iterations = from.iterations;
  return answer;
}

template <real T>
std::optional<dense_peer> cuda_library_dense(const device& gpu, std::int64_t n, const T* A, const T* b,
                                             int sweeps, bool with_lu, std::string& why) {
  auto* const run = find<vouch_peer_cuda_dense_function>("vouch_peer_cuda_dense", why);
  if (run == nullptr) return std::nullopt;
  const vouch_peer_dense system{n, A, b, sizeof(T) == 8};
  vouch_peer_dense_answer answer{};
  constexpr int repeats = 3;
  if (run(gpu.index(), &system, sweeps, repeats, with_lu ? 1 : 0, &answer) != 0) {
    why = answer.message;
    return std::nullopt;
  }
  return dense_peer{answer.sweep_seconds, answer.lu_seconds};
}

template std::optional<dense_peer> cuda_library_dense(const device&, std::int64_t, const float*, const float*,
                                                      int, bool, std::string&);
template std::optional<dense_peer> cuda_library_dense(const device&, std::int64_t, const double*, const double*,
                                                      int, bool, std::string&);
template std::optional<peer_answer<float>> cuda_library_cg(const device&, csr_view<const float>,
                                                           std::span<const float>, const peer_task&,
                                                           std::string&);
template std::optional<peer_answer<double>> cuda_library_cg(const device&, csr_view<const double>,
                                                            std::span<const double>, const peer_task&,
                                                            std::string&);

}  // namespace vouch::bench
