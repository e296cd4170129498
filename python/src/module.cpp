// The module vouchnum._core: what the library gives, for the Python sources beside it.
#include <omp.h>

#include <string_view>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/dense/lapack_routines.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/precond/make.hpp>

#include "bindings.hpp"

namespace {

// Of capsules by routine, whose names are C signatures; nullptr where its integers are no int.
void* routine_in(const nb::dict& capsules, const char* routine) {
  if (!capsules.contains(routine)) return nullptr;
  const nb::object capsule = capsules[routine];
  const char* const signature = PyCapsule_GetName(capsule.ptr());
  if (signature == nullptr || std::string_view(signature).find("int *") == std::string_view::npos) {
    PyErr_Clear();
    return nullptr;
  }
  return PyCapsule_GetPointer(capsule.ptr(), signature);
}

}  // namespace

NB_MODULE(_core, m) {
  using namespace vouchnum;
  bind_errors(m);
  bind_data(m);
  bind_solver(m);
  bind_prices(m);
  bind_intervals(m);
  m.def("method_names", [] {
    std::vector<std::string> names;
    for (const vouch::method* method : vouch::methods()) names.emplace_back(method->name);
    return names;
  });
  m.def("precondition_names", [] { return vouch::precondition_names(); });
  m.def("under_way", under_way::now);
  m.def("has_lapack", vouch::has_lapack);
  m.def("use_lapack", [](const std::string& name, const nb::dict& capsules) {
    vouch::use_lapack(name, [&](const char* routine) { return routine_in(capsules, routine); });
  });
  // The threads of OpenMP do not survive a fork: a child that waits for them hangs.
  m.def("release_threads", [] { omp_pause_resource_all(omp_pause_hard); });
}
