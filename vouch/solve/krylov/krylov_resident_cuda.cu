#include <cuda_runtime.h>

#include <memory>
#include <optional>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/krylov/bicgstab_steps.hpp>
#include <vouch/solve/krylov/chip_team.cuh>
#include <vouch/solve/krylov/minres_steps.hpp>
#include <vouch/solve/krylov/resident.cuh>
#include <vouch/solve/krylov/resident_engines.hpp>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch {
namespace {

using namespace resident;

template <class T>
struct minres_on_chip {
  using all_steps = minres_steps<T, chip_team<T>>;
  using facts = minres_facts;
  static constexpr int wide = 4, own = 4;  // without M, which adds one that is wide
  static std::string name() { return ""; }
  static __device__ all_steps steps(chip_team<T>& team, const facts& known) {
    return {team,
            {team.wide(0), team.own(0), team.wide(1), team.wide(2), team.wide(3), team.wide(wide), team.own(1),
             team.own(2), team.own(3)},
            known};
  }
};

template <class T, int L>
struct bicgstab_on_chip {
  using all_steps = bicgstab_steps<T, double, L, chip_team<T>>;
  using facts = bicgstab_facts;
  static constexpr int wide = 2 * (L + 1), own = 3;
  static std::string name() { return "l = " + std::to_string(L) + ", "; }
  static __device__ all_steps steps(chip_team<T>& team, const facts& known) {
    return {team,
            {team.wide(0), team.wide(L + 1), team.wide(1) - team.wide(0), team.own(1), team.wide(wide),
             team.own(0), team.own(2)},
            known,
            L};
  }
};

// And all bytes of a block.
template <class T>
chip_places places_of(const resident_plan<T>& plan, int wide, int own, bool diagonal, std::size_t& bytes) {
  const resident_strides& stride = plan.stride;
  bytes = 0;
  const auto place = [&](std::size_t size) {
    const std::size_t at = bytes;
    bytes += (size + 15) / 16 * 16;
    return static_cast<int>(at);
  };
  const auto count = [](std::int32_t n) { return static_cast<std::size_t>(n); };
  chip_places at{};
  place(sizeof(chip_state<T>));
  at.val = place(count(stride.entries) * sizeof(T));
  at.col = place(count(stride.entries) * sizeof(std::uint16_t));
  at.slice = place((count(stride.slices) + 1) * sizeof(std::uint32_t));
  at.push = place(count(stride.pushes) * sizeof(std::uint16_t));
  at.task = place(count(stride.tasks) * sizeof(resident_task));
  for (int& arriving : at.arriving) arriving = place(count(stride.slots) * sizeof(T));
  constexpr int even = 16 / sizeof(T);
  at.wide_stride = (stride.slots + even - 1) / even * even;
  at.own_stride = (stride.own + even - 1) / even * even;
  if (diagonal) wide += 2;  // M's images and M
  at.inverse = diagonal ? (wide - 1) * at.wide_stride : -1;
  at.own_vectors = wide * at.wide_stride;
  at.vectors = place(count(at.own_vectors + own * at.own_stride) * sizeof(T));
  while (1 << at.lane_bits < plan.shape.lanes) ++at.lane_bits;
  return at;
}

template <class T, class Method>
class chip_engine final : public inner_solver<T> {
 public:
  chip_engine(const device& dev, const resident_plan<T>& plan, const chip_places& places, std::size_t bytes,
              const T* minv)
      : dev_(dev),
        shape_(launch_shape_of(plan.shape, bytes)),
        placed_(dev, plan),
        facts_(array<typename Method::facts>::zeros(dev, 1)),
        box_(acquire_pinned_history()) {
    static_cast<placed_rows<T>&>(in_) = placed_.rows();
    in_.places = places;
    in_.minv = minv;
    in_.rows = plan.rows;
    in_.box = box_.get();
  }

  std::string name() const override {
    return Method::name() + "resident in a cluster of " + std::to_string(in_.blocks) + " blocks";
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    in_.r = r;
    in_.d = d;
    in_.rule = rule;
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "solve_on_chip", shape_, solve_on_chip<T, Method>, in_, facts_.data());
    follow(dev_, *box_, log);
    return {static_cast<solver_event>(box_->event), box_->iterations, box_->last_squared};
  }

 private:
  device dev_;
  launch_shape shape_;
  placed_plan<T> placed_;
  array<typename Method::facts> facts_;
  std::shared_ptr<pinned_history> box_;
  chip_parameters<T> in_{};
};

template <class Method, class T>
std::unique_ptr<inner_solver<T>> make_engine(const device& dev, csr_view<const T> A, const T* minv) {
  if (A.rows == 0) return nullptr;
  const resident_shape shape = choose_resident_shape(A.rows, A.nonzeros, dev.processors());
  if (!shape.cluster) return nullptr;
  const std::optional<resident_plan<T>> plan = plan_resident<T>(copy(device::cpu(1), dev, A).all(), shape);
  if (!plan) return nullptr;
  std::size_t bytes = 0;
  const chip_places places = places_of(*plan, Method::wide, Method::own, minv != nullptr, bytes);
  if (!fits(dev, reinterpret_cast<const void*>(solve_on_chip<T, Method>), shape, bytes)) return nullptr;
  return std::make_unique<chip_engine<T, Method>>(dev, *plan, places, bytes, minv);
}

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> minres_resident_cuda(const device& dev, csr_view<const T> A, const T* minv) {
  return make_engine<minres_on_chip<T>>(dev, A, minv);
}

template <real T>
std::unique_ptr<inner_solver<T>> bicgstab_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                        int l) {
  if (l == 1) return make_engine<bicgstab_on_chip<T, 1>>(dev, A, minv);
  if (l == 2) return make_engine<bicgstab_on_chip<T, 2>>(dev, A, minv);
  return nullptr;
}

#define VOUCH_RESIDENT_KRYLOV(T)                                                                               \
  template std::unique_ptr<inner_solver<T>> minres_resident_cuda(const device&, csr_view<const T>, const T*);  \
  template std::unique_ptr<inner_solver<T>> bicgstab_resident_cuda(const device&, csr_view<const T>, const T*, \
                                                                   int);
VOUCH_RESIDENT_KRYLOV(float)
VOUCH_RESIDENT_KRYLOV(double)
#undef VOUCH_RESIDENT_KRYLOV

}  // namespace vouch
