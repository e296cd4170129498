// The module vouchnum._core: what the library gives, for the Python sources beside it.
#include <omp.h>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/precond/make.hpp>

#include "bindings.hpp"

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
  // The threads of OpenMP do not survive a fork: a child that waits for them hangs.
  m.def("release_threads", [] { omp_pause_resource_all(omp_pause_hard); });
}
