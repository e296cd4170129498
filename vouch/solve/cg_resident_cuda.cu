// Conjugate gradients for small systems: sends the plan to the GPU and runs the kernel of cg_resident.cuh.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/cg_resident.cuh>

namespace vouch {
namespace {

using namespace resident;

template <class T>
using kernel = void (*)(const parameters<T>);

template <class T, int Lanes>
kernel<T> pick(bool cluster, bool diagonal) {
  if (cluster) return diagonal ? resident_cg<T, Lanes, true, true> : resident_cg<T, Lanes, true, false>;
  return diagonal ? resident_cg<T, Lanes, false, true> : resident_cg<T, Lanes, false, false>;
}

template <class T>
kernel<T> pick(const resident_shape& shape, bool diagonal) {
  switch (shape.lanes) {
    case 1:
      return pick<T, 1>(shape.cluster, diagonal);
    case 2:
      return pick<T, 2>(shape.cluster, diagonal);
    case 4:
      return pick<T, 4>(shape.cluster, diagonal);
    default:
      return pick<T, 8>(shape.cluster, diagonal);
  }
}

template <class T>
launch_shape shape_of(const resident_plan<T>& plan, bool diagonal) {
  const resident_shape& shape = plan.shape;
  return {shape.blocks, static_cast<unsigned>(shape.threads), plan.shared_bytes(diagonal),
          shape.cluster ? static_cast<unsigned>(shape.blocks) : 1, !shape.cluster};
}

// Whether the GPU can hold all blocks at once; sets the kernel up for its shared memory.
template <class T>
bool fits(const device& dev, const resident_plan<T>& plan, bool diagonal) {
  const auto run = reinterpret_cast<const void*>(pick<T>(plan.shape, diagonal));
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, run), "resident_cg");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev.index()), "resident_cg");
  const std::size_t bytes = plan.shared_bytes(diagonal);
  if (bytes + facts.sharedSizeBytes > static_cast<std::size_t>(most)) return false;
  check(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "resident_cg");
  if (!plan.shape.cluster) return true;
  check(cudaFuncSetAttribute(run, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "resident_cg");
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(plan.shape.blocks);
  config.blockDim = static_cast<unsigned>(plan.shape.threads);
  config.dynamicSmemBytes = bytes;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {config.gridDim.x, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  return cudaOccupancyMaxActiveClusters(&clusters, run, &config) == cudaSuccess && clusters > 0;
}

template <class T>
class resident_engine final : public cg_engine<T> {
 public:
  resident_engine(const device& dev, const resident_plan<T>& plan, const T* minv)
      : dev_(dev),
        shape_(shape_of(plan, minv != nullptr)),
        kernel_(pick<T>(plan.shape, minv != nullptr)),
        cluster_(plan.shape.cluster),
        block_(send(plan.block)),
        val_(send(plan.val)),
        col_(send(plan.col)),
        slice_(send(plan.slice)),
        row_(send(plan.row)),
        push_(send(plan.push)),
        task_(send(plan.task)),
        q_out_(dev, cluster_ ? 0 : 2 * plan.rows),
        sum_out_(dev, cluster_ ? 0 : 2 * plan.shape.blocks * 8),
        counter_(array<unsigned>::zeros(dev, 1)),
        box_(make_mailbox()) {
    in_.stride = plan.stride;
    in_.blocks = plan.shape.blocks;
    in_.block = block_.data();
    in_.val = val_.data();
    in_.col = col_.data();
    in_.slice = slice_.data();
    in_.row = row_.data();
    in_.push = push_.data();
    in_.task = task_.data();
    in_.minv = minv;
    in_.q_out = q_out_.data();
    in_.sum_out = sum_out_.data();
    in_.counter = counter_.data();
    in_.rows = plan.rows;
    in_.box = box_.get();
  }

  std::string name() const override {
    return (cluster_ ? "resident in a cluster of " : "resident in ") + std::to_string(in_.blocks) + " blocks";
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    in_.r = r;
    in_.d = d;
    in_.rule = rule;
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "resident_cg", shape_, kernel_, in_);
    follow(dev_, *box_, log);
    in_.meetings += static_cast<unsigned>(box_->iterations) + 1;
    return {static_cast<cg_event>(box_->event), box_->iterations, box_->last_squared};
  }

 private:
  template <class Piece>
  array<Piece> send(const std::vector<Piece>& pieces) {
    return array<Piece>::from(dev_, pieces);
  }

  device dev_;
  launch_shape shape_;
  kernel<T> kernel_;
  bool cluster_;
  array<resident_block> block_;
  array<T> val_;
  array<std::uint16_t> col_;
  array<std::uint32_t> slice_;
  array<std::int32_t> row_;
  array<std::uint16_t> push_;
  array<resident_task> task_;
  array<T> q_out_;
  array<double> sum_out_;
  array<unsigned> counter_;
  std::shared_ptr<device_mailbox> box_;
  parameters<T> in_{};
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> cg_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                               const resident_shape* wanted) {
  constexpr std::int64_t most_rows = 250000;  // 16-bit slots and 132 x 227 KB end well before
  if (A.rows == 0 || A.rows > most_rows || A.nonzeros > 20 * most_rows) return nullptr;
  const csr<T> on_host = copy(device::cpu(1), dev, A);
  std::vector<resident_shape> shapes;
  if (wanted != nullptr) {
    shapes.push_back(*wanted);
  } else {
    shapes.push_back(choose_resident_shape(A.rows, A.nonzeros, dev.processors()));
    if (shapes[0].cluster) shapes.push_back(grid_resident_shape(A.rows, A.nonzeros, dev.processors()));
  }
  for (const resident_shape& shape : shapes)
    if (const auto plan = plan_resident<T>(on_host.all(), shape); plan && fits(dev, *plan, minv != nullptr))
      return std::make_unique<resident_engine<T>>(dev, *plan, minv);
  return nullptr;
}

template std::unique_ptr<cg_engine<float>> cg_resident_cuda(const device&, csr_view<const float>, const float*,
                                                            const resident_shape*);
template std::unique_ptr<cg_engine<double>> cg_resident_cuda(const device&, csr_view<const double>,
                                                             const double*, const resident_shape*);

}  // namespace vouch
