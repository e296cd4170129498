#include <vouch/generate/assembly.hpp>

namespace vouch {

incidence elements_around_nodes(const device& dev, const mesh& m) {
  const int n = corners(m.kind);
  incidence around{array<std::int64_t>::zeros(dev, m.node_count() + 1),
                   array<std::int32_t>(dev, m.nodes.size())};
  for (const std::int32_t node : m.nodes) ++around.start[node + 1];
  std::partial_sum(around.start.begin(), around.start.end(), around.start.begin());
  array<std::int64_t> next = around.start.to(dev);
  for (std::int64_t e = 0; e < m.element_count(); ++e)
    for (int a = 0; a < n; ++a) around.elements[next[m.nodes[e * n + a]]++] = static_cast<std::int32_t>(e);
  return around;
}

free_nodes nodes_off_faces(const device& dev, const mesh& m, unsigned faces) {
  std::int64_t count = 0;
  for (const std::uint8_t f : m.faces) count += (f & faces) == 0;
  free_nodes free{array<std::int32_t>(dev, m.node_count()), array<std::int32_t>(dev, count)};
  std::int32_t next = 0;
  for (std::int64_t i = 0; i < m.node_count(); ++i) {
    const bool is_free = (m.faces[i] & faces) == 0;
    free.number[i] = is_free ? next : -1;
    if (is_free) free.node[next++] = static_cast<std::int32_t>(i);
  }
  return free;
}

}  // namespace vouch
