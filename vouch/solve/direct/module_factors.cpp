#include <vouch/solve/direct/module_factors.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include <vouch/solve/direct/backends/backend.h>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/shared_library.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/direct/factored_solve.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/sparse/inverse_norm.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

namespace fs = std::filesystem;

constexpr const char* known[] = {"cholmod", "umfpack", "klu"};

// Where modules may be, the nearest first.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  if (const char* asked = std::getenv("VOUCH_BACKENDS"); asked != nullptr && *asked != 0)
    all.emplace_back(asked);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  all.push_back(program);
  all.push_back(program / "../lib/vouch");
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&sparse_backend_names), &here) != 0 && here.dli_fname != nullptr)
    all.push_back(fs::path(here.dli_fname).parent_path() / "vouch");
  return all;
}

struct module_state {
  const vouch_backend* backend = nullptr;
  std::string missing;
};

module_state load(const std::string& name) {
  const std::string file = "vouch-backend-" + name + ".so";
  std::error_code ignored;
  for (const fs::path& folder : folders()) {
    const fs::path path = folder / file;
    if (!fs::exists(path, ignored)) continue;
    const ieee_environment here;  // what a library sets on being loaded ends here
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const problem = dlerror();
      return {nullptr, file + " does not load: " + (problem != nullptr ? problem : "no reason is given")};
    }
    auto* const function = reinterpret_cast<vouch_backend_function*>(dlsym(handle, VOUCH_BACKEND_FUNCTION));
    const vouch_backend* const backend = function != nullptr ? function() : nullptr;
    if (backend == nullptr || backend->abi != VOUCH_BACKEND_ABI || backend->name != name)
      return {nullptr, path.string() + " is no module of this version of Vouch: build both anew"};
    return {backend, ""};
  }
  return {nullptr, file + " is not there: install libsuitesparse-dev and build Vouch anew"};
}

const std::vector<module_state>& modules() {
  static const std::vector<module_state> all = [] {
    std::vector<module_state> loaded;
    for (const char* name : known) loaded.push_back(load(name));
    return loaded;
  }();
  return all;
}

}  // namespace

const std::vector<sparse_backend>& sparse_backends() {
  static const std::vector<sparse_backend> all = [] {
    std::vector<sparse_backend> list{{"own", "Vouch", ""}};
    for (std::size_t k = 0; k < std::size(known); ++k) {
      const module_state& m = modules()[k];
      list.push_back({known[k], m.backend != nullptr ? m.backend->library : "", m.missing});
    }
    return list;
  }();
  return all;
}

std::span<const std::string_view> sparse_backend_names() {
  static constexpr std::string_view names[] = {"auto", "own", "cholmod", "umfpack", "klu"};
  return names;
}

const vouch_backend* find_backend(const std::string& name) {
  for (std::size_t k = 0; k < std::size(known); ++k)
    if (name == known[k]) return modules()[k].backend;
  return nullptr;
}

bool needs_definite(const vouch_backend& backend) { return backend.needs_definite != 0; }

void require_backend(const std::string& name) {
  if (name == "auto" || name == "own") return;
  for (const sparse_backend& b : sparse_backends()) {
    if (b.name != name) continue;
    if (b.missing.empty()) return;
    throw value_error("the back end " + name + " cannot be had: " + b.missing,
                      "--backend auto takes what there is");
  }
  throw value_error("there is no back end " + name, "take one of auto, own, cholmod, umfpack, klu");
}

// For one solve; A, its residuals and the factors live elsewhere.
class module_factors::factors final : public factorisation<double> {
 public:
  explicit factors(module_factors& all) : all_(all) {}
  std::int64_t failed() const override { return all_.failed_; }
  bool needs_definite() const override { return all_.needs_definite(); }
  void solve(double* x) override { apply(x, false); }
  // Made once; of large factors never, as it takes some ten solves.
  double inverse_norm() override {
    constexpr double most_entries = 0x1p22;
    if (all_.entries_ > most_entries) return std::numeric_limits<double>::quiet_NaN();
    if (!all_.inverse_norm_)
      all_.inverse_norm_ = estimate_inverse_norm<double>(
          all_.rows_, [&](double* x) { apply(x, false); }, [&](double* x) { apply(x, true); });
    return *all_.inverse_norm_;
  }
  std::string name() const override { return all_.name_; }
  std::string backend() const override { return all_.backend_->name; }
  bool reproducible() const override { return false; }

 private:
  void apply(double* x, bool transposed) const {
    if (all_.backend_->solve(all_.made_, transposed ? 1 : 0, x) != 0)
      throw value_error(std::string(all_.backend_->library) + " could not solve with its factors");
  }

  module_factors& all_;
};

module_factors::module_factors(const vouch_backend& backend, csr_view<const double> A)
    : backend_(&backend), rows_(A.rows) {
  const ieee_environment here;
  for (std::int64_t k = 0; k < A.nonzeros; ++k)
    if (!std::isfinite(A.val[k])) throw value_error("the matrix holds a NaN or an infinity");
  vouch_backend_result result{};
  const int status = backend.factorise(A.rows, A.row_ptr, A.col, A.val, &result);
  name_ = backend.library;
  switch (status) {
    case VOUCH_BACKEND_DONE:
      made_ = result.factors;
      entries_ = result.entries;
      name_ += string_printf(", %.4g entries in the factors, %.3g operations", result.entries, result.flops);
      return;
    case VOUCH_BACKEND_SINGULAR:
    case VOUCH_BACKEND_INDEFINITE:
      failed_ = std::max<std::int64_t>(1, result.failed_at);
      return;
    case VOUCH_BACKEND_OUT_OF_MEMORY:
      throw out_of_memory(backend.library, static_cast<std::int64_t>(result.bytes),
                          device::cpu(1).memory_free());
    default:
      throw value_error(std::string(backend.library) + " does not take this matrix", "take --backend own");
  }
}

module_factors::module_factors(module_factors&& other) noexcept
    : backend_(other.backend_),
      made_(std::exchange(other.made_, nullptr)),
      rows_(other.rows_),
      failed_(other.failed_),
      entries_(other.entries_),
      inverse_norm_(other.inverse_norm_),
      name_(std::move(other.name_)) {}

module_factors::~module_factors() {
  if (made_ != nullptr) backend_->release(made_);
}

solve_report module_factors::solve(const device& dev, csr_view<const double> A, view<const double> b,
                                   view<double> x, const stopping_criterion& goal) {
  const ieee_environment here;
  const stopwatch setup;
  check_direct_request(A.rows, b.size(), x.size(), goal);
  const auto residuals = [&](const double* hi, const double* lo, double* r) {
    return residual<double>(dev, A, b, {hi, A.rows}, lo, {r, A.rows});
  };
  return factored_solve<double>(
      {dev, A.rows, residuals}, "sparse-lu", setup, [&] { return std::make_unique<factors>(*this); }, x, goal);
}

}  // namespace vouch
