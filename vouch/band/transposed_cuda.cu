#include <algorithm>

#include <vouch/band/transposed.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/core/transposed_copies.cuh>

namespace vouch::detail {
namespace {

constexpr std::int64_t transposed_from = 2048;  // rows
constexpr std::int64_t gaps_from = 4606;        // rows: longer ones are solved faster where all begin in lines
template <real T>
constexpr std::int64_t slab_rows = (std::int64_t{32} << 20) /
                                   static_cast<std::int64_t>(sizeof(T));  // of a slab's systems together

}  // namespace

template <real T>
bool solve_transposed(const device& dev, const band_task<T>& task,
                      const std::function<void(const band_task<T>&)>& solve) {
  constexpr int least_systems = 16;  // of a slab, so that lines are worth moving
  const batch_shape &a = task.A.shape, &b = task.b.shape, &x = task.x.shape;
  for (const batch_shape* its : {&a, &b, &x})
    if (its->offsets != nullptr || its->system_stride != 1 || its->row_stride < its->systems) return false;
  const std::int64_t n = b.n, systems = b.systems, most = slab_rows<T> / n;
  if (task.A.periodic || n < transposed_from || systems < least_systems || most < least_systems) return false;
  const std::int64_t slabs = ceil_div(systems, most), each = ceil_div(systems, slabs);
  const std::int64_t pitch = n < gaps_from ? n : ceil_div<std::int64_t>(n, line_size<T>) * line_size<T>;
  const std::int64_t size = each * pitch;
  const scratch<T> room(dev, 5 * size);
  T* const copies[] = {room.data(), room.data() + size, room.data() + 2 * size, room.data() + 3 * size,
                       room.data() + 4 * size};
  for (std::int64_t first = 0; first < systems; first += each) {
    const std::int64_t count = std::min(each, systems - first);
    copy_transposed<T, 4>(dev,
                          {count,
                           n,
                           {task.A.dl + first, task.A.d + first, task.A.du + first, task.b.data + first},
                           {a.row_stride, a.row_stride, a.row_stride, b.row_stride},
                           {copies[0], copies[1], copies[2], copies[3]},
                           pitch},
                          4);
    const batch_shape shape{n, count, 1, pitch, nullptr};
    solve({{copies[0], copies[1], copies[2], shape, false},
           {copies[3], shape},
           {copies[4], shape},
           task.broken != nullptr ? task.broken + first : nullptr});
    copy_transposed<T, 1>(dev, {n, count, {copies[4]}, {pitch}, {task.x.data + first}, x.row_stride});
  }
  return true;
}

template bool solve_transposed(const device&, const band_task<float>&,
                               const std::function<void(const band_task<float>&)>&);
template bool solve_transposed(const device&, const band_task<double>&,
                               const std::function<void(const band_task<double>&)>&);

}  // namespace vouch::detail
