#include <vouch/sparse/ordering.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/shared_library.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

using node_nd_function = int(std::int32_t* vertices, std::int32_t* start, std::int32_t* neighbour,
                             std::int32_t* weight, std::int32_t* options, std::int32_t* order,
                             std::int32_t* inverse);
constexpr int metis_ok = 1;

// A build with indices of 64 bits would write twice as much for two vertices without an edge, and reads zeros where
// more is needed.
bool has_short_indices(node_nd_function& node_nd) {
  std::array<std::int32_t, 8> vertices{2}, start{}, neighbour{};
  std::array<std::int32_t, 8> order, inverse;
  order.fill(-1);
  inverse.fill(-1);
  const int code =
      node_nd(vertices.data(), start.data(), neighbour.data(), nullptr, nullptr, order.data(), inverse.data());
  return code == metis_ok && order[0] + order[1] == 1 && order[2] == -1 && order[3] == -1;
}

node_nd_function* metis() {
  static node_nd_function* const found = []() -> node_nd_function* {
    static const shared_library library{"libmetis.so.5"};
    auto* const node_nd = library.find<node_nd_function>("METIS_NodeND");
    return node_nd != nullptr && has_short_indices(*node_nd) ? node_nd : nullptr;
  }();
  return found;
}

}  // namespace

template <real T>
std::optional<array<std::int32_t>> nested_dissection(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  if (dev.is_cuda()) throw value_error("nested_dissection: the matrix has to live on the CPU");
  const valid_csr valid("nested_dissection", dev, A);
  if (A.rows != A.cols) throw shape_error("nested_dissection: the matrix is not square");
  if (A.rows == 0 || A.nonzeros > std::numeric_limits<std::int32_t>::max() || metis() == nullptr) return {};
  std::vector<std::int32_t> start{0}, neighbour;
  neighbour.reserve(static_cast<std::size_t>(A.nonzeros));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    std::copy_if(A.col + A.row_ptr[i], A.col + A.row_ptr[i + 1], std::back_inserter(neighbour),
                 [i](std::int32_t j) { return j != i; });
    start.push_back(static_cast<std::int32_t>(neighbour.size()));
  }
  auto vertices = static_cast<std::int32_t>(A.rows);
  array<std::int32_t> order(dev, A.rows), inverse(dev, A.rows);
  if (metis()(&vertices, start.data(), neighbour.data(), nullptr, nullptr, order.data(), inverse.data()) !=
      metis_ok)
    return {};
  return order;
}

template VOUCH_PUBLIC std::optional<array<std::int32_t>> nested_dissection(const device&,
                                                                           csr_view<const float>);
template VOUCH_PUBLIC std::optional<array<std::int32_t>> nested_dissection(const device&,
                                                                           csr_view<const double>);

}  // namespace vouch
