// vouch/core/while_graph.cuh -- a loop that the GPU runs by itself: a CUDA graph with a conditional WHILE node.
#pragma once
#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>

namespace vouch {

/// Whether loops are to be run by the host, turn by turn: for compute-sanitizer, which cannot follow a graph
/// that loops.
inline bool loop_on_host() {
  const char* wanted = std::getenv("VOUCH_LOOP_ON_HOST");
  return wanted != nullptr && *wanted == '1';
}

/// Records work once and repeats it until a kernel of it calls cudaGraphSetConditional(handle, 0).
class while_graph {
 public:
  /// record(handle) enqueues one turn of the loop on dev's stream: kernels, memset and copies on the GPU only.
  template <class Record>
  while_graph(const device& dev, Record record) : dev_(dev) {
    check(cudaSetDevice(dev.index()), "selecting the GPU");
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "creating a graph");
    const std::shared_ptr<void> owner(graph, [](void* g) { cudaGraphDestroy(static_cast<cudaGraph_t>(g)); });
    cudaGraphConditionalHandle handle{};
    check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
          "creating a graph loop");
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), "creating a graph loop");
    const auto stream = static_cast<cudaStream_t>(dev.stream());
    cudaGraph_t body = params.conditional.phGraph_out[0];
    check(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
          "recording a graph");
    try {
      record(handle);
    } catch (...) {
      cudaStreamEndCapture(stream, &body);
      throw;
    }
    check(cudaStreamEndCapture(stream, &body), "recording a graph");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
    executable_ = {executable, [](void* g) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g)); }};
  }

  /// Enqueues the whole loop.
  void launch() const {
    check(cudaSetDevice(dev_.index()), "selecting the GPU");
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_.get()),
                          static_cast<cudaStream_t>(dev_.stream())),
          "launching a graph");
  }

 private:
  device dev_;
  std::shared_ptr<void> executable_;
};

}  // namespace vouch
