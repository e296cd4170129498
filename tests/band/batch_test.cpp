#include <gtest/gtest.h>

#include <vouch/band/solve.hpp>

#include "band/families.hpp"
#include "band/on_device.hpp"
#include "devices.hpp"

namespace {

using namespace vouch;
using vouch::testing::backward_error;
using vouch::testing::band_system;
using vouch::testing::gpus;
using vouch::testing::on_device;
using vouch::testing::random_system;
using vouch::testing::rows_of;
using vouch::testing::runs_sm90_code;
using vouch::testing::unit;

// As many systems as make a GPU solve them in tiles.
constexpr const char* tiles = "tiles of whole systems";

template <class T>
struct BandBatch : ::testing::Test {};
TYPED_TEST_SUITE(BandBatch, vouch::testing::reals);

// A batch on a GPU, made of one that lies on the host as shape says, behind `shift` numbers.
template <class T>
struct batch : on_device<T> {
  batch_shape shape;
  std::int64_t shift;
  band_system<T> all;

  batch(const device& dev, const band_system<T>& from, const batch_shape& of, std::int64_t behind = 0)
      : on_device<T>(dev, poisoned(from, of, behind), of, behind), shape(of), shift(behind), all(from) {}
  std::size_t index(std::int64_t s, std::int64_t i) const {
    return static_cast<std::size_t>(shift + shape.at(s, i));
  }
  tridiagonal_report solved(const device& dev, const tridiagonal_options& options) {
    return solve(dev, this->A, this->rhs, {this->x.data() + shift, shape}, options);
  }
  band_system<T> system(std::int64_t s) const { return system_of(all, shape, s, shift); }
  std::vector<T> of(const std::vector<T>& v, std::int64_t s) const { return rows_of(v, shape, s, shift); }

 private:
  static band_system<T> poisoned(band_system<T> of, const batch_shape& shape, std::int64_t shift) {
    vouch::testing::poison(of, shape, shift);
    return of;
  }
};

struct size {
  std::int64_t n, systems;
};
std::vector<batch_shape> both_layouts(const size& of) {
  return {contiguous(of.n, of.systems), interleaved(of.n, of.systems)};
}

// Rows that dominate, but for some in the last third of every third system.
template <class T>
band_system<T> dominant_in_part(const batch_shape& shape) {
  band_system<T> all = random_system<T>(shape.n * shape.systems, 0.25, 5);
  for (std::int64_t s = 0; s < shape.systems; s += 3)
    for (std::int64_t i = 2 * shape.n / 3; i < shape.n; i += 2)
      all.d[static_cast<std::size_t>(shape.at(s, i))] *= static_cast<T>(0.01);
  return all;
}

// Counts that fill tiles and that do not, lengths around those of segments and of what a block holds.
TYPED_TEST(BandBatch, ManySystemsOfAnyLength) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of : {size{4, 17000}, size{16, 17004}, size{20, 8504}, size{64, 9004}, size{136, 2140},
                         size{140, 1104}, size{512, 1100}, size{560, 536}, size{1024, 560}})
    for (const double dominance : {0.0, 0.25, -1.0})
      for (const batch_shape& shape : both_layouts(of)) {
        const auto all = dominance < 0
                             ? dominant_in_part<T>(shape)
                             : random_system<T>(of.n * of.systems, dominance, static_cast<unsigned>(of.n));
        batch<T> here(dev, all, shape);
        const auto report = here.solved(dev, {.max_refinements = 0});
        EXPECT_NE(report.status, solve_status::breakdown) << report.reason;
        if (of.n * sizeof(T) <= 4096) {
          EXPECT_TRUE(report.engine == tiles || !runs_sm90_code(dev)) << of.n << ": " << report.engine;
        }
        const std::vector<T> x = here.x.to_vector();
        for (std::int64_t s = 0; s < of.systems; ++s)
          ASSERT_LE(backward_error(here.system(s), here.of(x, s)), 32 * unit<T>)
              << of.n << " x " << of.systems << ", system " << s << ", dominance " << dominance
              << ", row stride " << shape.row_stride;
      }
}

// Rows that do not follow each other at once, lie off any line, or fill no tile.
TYPED_TEST(BandBatch, SideBySideAnywhereInMemory) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of : {size{50, 1100}, size{300, 1101}, size{1000, 540}})
    for (const std::int64_t pad : {0, 3, 4})
      for (const std::int64_t shift : {0, 1})
        for (const double dominance : {0.0, 0.25}) {
          const batch_shape shape{of.n, of.systems, of.systems + pad, 1, nullptr};
          batch<T> here(dev, random_system<T>(shift + shape.extent(), dominance, static_cast<unsigned>(of.n)),
                        shape, shift);
          const auto report = here.solved(dev, {.max_refinements = 0});
          EXPECT_EQ(report.engine == tiles,
                    runs_sm90_code(dev) && of.systems % 4 == 0 && pad != 3 && shift == 0)
              << of.n;
          const std::vector<T> x = here.x.to_vector();
          for (std::int64_t s = 0; s < of.systems; ++s)
            ASSERT_LE(backward_error(here.system(s), here.of(x, s)), 32 * unit<T>)
                << of.n << ", system " << s << ", pad " << pad << ", shift " << shift;
          for (std::int64_t i = 0; i + 1 < of.n; ++i)
            for (std::int64_t k = 0; k < pad; ++k) ASSERT_EQ(x[here.index(of.systems + k, i)], 0);
        }
}

// The families of the literature: never worse than ten times gtsv, nor worse than rounding.
TYPED_TEST(BandBatch, AsGoodAsLapack) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const auto& family : vouch::testing::families<T>())
    for (const size& of : {size{20, 8504}, size{512, 540}}) {
      const auto one = family.make(of.n);
      const std::vector<T> theirs = vouch::testing::gtsv<T>(one);
      if (theirs.empty()) continue;  // singular to gtsv
      const double bound = std::max(10 * backward_error(one, theirs), 4 * unit<T>);
      for (const batch_shape& shape : both_layouts(of)) {
        band_system<T> all;
        for (std::vector<T>* v : {&all.dl, &all.d, &all.du, &all.b})
          v->resize(static_cast<std::size_t>(of.n * of.systems));
        for (std::int64_t s = 0; s < shape.systems; ++s)
          for (std::int64_t i = 0; i < of.n; ++i) {
            const auto to = static_cast<std::size_t>(shape.at(s, i)), from = static_cast<std::size_t>(i);
            all.dl[to] = one.dl[from];
            all.d[to] = one.d[from];
            all.du[to] = one.du[from];
            all.b[to] = one.b[from];
          }
        batch<T> here(dev, all, shape);
        const auto report = here.solved(dev, {.method = tridiagonal_method::partition, .max_refinements = 0});
        EXPECT_TRUE(report.engine == tiles || !runs_sm90_code(dev)) << report.engine;
        const std::vector<T> x = here.x.to_vector(), first = here.of(x, 0);
        EXPECT_LE(backward_error(one, first), bound) << family.name << " " << of.n;
        for (std::int64_t s = 1; s < shape.systems; ++s)
          ASSERT_EQ(here.of(x, s), first) << family.name << " " << of.n << " system " << s;
      }
    }
}

TYPED_TEST(BandBatch, OneSingularSystemAmongMany) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const double dominance : {0.0, 0.25})
    for (const batch_shape& shape : both_layouts({64, 9004})) {
      auto all = random_system<T>(shape.n * shape.systems, dominance, 7);
      for (const std::int64_t i : {29, 30, 31})
        for (std::vector<T>* v : {&all.dl, &all.d, &all.du})
          (*v)[static_cast<std::size_t>(shape.at(37, i))] = 0;
      batch<T> here(dev, all, shape);
      const auto report = here.solved(dev, {});
      EXPECT_TRUE(report.engine == tiles || !runs_sm90_code(dev)) << report.engine;
      EXPECT_EQ(report.status, solve_status::breakdown);
      EXPECT_EQ(std::count(report.first_missed.begin(), report.first_missed.end(), 37), 1);
    }
}

// Also where x takes the place of b, and where one matrix serves all.
TYPED_TEST(BandBatch, SameBitsEveryTime) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const double dominance : {0.0, 0.25})
    for (const batch_shape& shape :
         {contiguous(512, 1100), interleaved(512, 1100), interleaved(1024, 1100), contiguous(511, 1101)}) {
      batch<T> here(dev, random_system<T>(shape.n * shape.systems, dominance, 9), shape);
      tridiagonal_options plain;
      plain.check = false;
      here.solved(dev, plain);
      const std::vector<T> x = here.x.to_vector();
      here.solved(dev, plain);
      EXPECT_EQ(here.x.to_vector(), x);
      here.x = array<T>::from(dev, here.all.b);
      solve<T>(dev, here.A, {here.x.data(), shape}, {here.x.data(), shape}, plain);
      EXPECT_EQ(here.x.to_vector(), x);
    }
}

TYPED_TEST(BandBatch, OneMatrixForManyRightHandSides) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  const batch_shape shape = contiguous(512, 1100), one{512, 1100, 1, 0, nullptr};
  batch<T> here(dev, random_system<T>(shape.n * shape.systems, 0, 11), shape);
  tridiagonal_options plain;
  plain.check = false;
  const auto report =
      solve<T>(dev, {here.dl.data(), here.d.data(), here.du.data(), one}, here.rhs, here.to, plain);
  EXPECT_EQ(report.engine, tiles);
  const std::vector<T> x = here.x.to_vector();
  for (const std::int64_t s : {0, 1, 7, 1000, 1099}) {
    band_system<T> of = here.system(0);
    of.b = here.of(here.all.b, s);
    EXPECT_LE(backward_error(of, here.of(x, s)), 32 * unit<T>) << s;
  }
}

// Systems with gaps between them, which stay as they are, of one warp and of several.
TYPED_TEST(BandBatch, OneAfterAnotherWithGaps) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of : {size{36, 4401}, size{500, 1101}, size{576, 301}, size{580, 301}, size{1152, 301},
                         size{1156, 133}, size{2308, 133}, size{4608, 133}})
    for (const std::int64_t gap : {1, 4})
      for (const double dominance : {0.0, 0.25}) {
        const batch_shape shape{of.n, of.systems, 1, of.n + gap, nullptr};
        auto all = random_system<T>(of.systems * (of.n + gap), dominance, static_cast<unsigned>(of.n));
        batch<T> here(dev, all, shape);
        const auto report = here.solved(dev, {.max_refinements = 0});
        EXPECT_EQ(report.engine == tiles, gap == 4) << report.engine << " " << of.n;
        const std::vector<T> x = here.x.to_vector();
        for (std::int64_t s = 0; s < of.systems; ++s) {
          ASSERT_LE(backward_error(here.system(s), here.of(x, s)), 32 * unit<T>)
              << of.n << ", system " << s << ", gap " << gap;
          for (std::int64_t k = 0; k < gap; ++k) ASSERT_EQ(x[here.index(s, of.n + k)], 0);
        }
      }
}

// The bound of every system, and nothing written in front of the first.
template <class T>
void expect_solved(const batch<T>& here) {
  const std::vector<T> x = here.x.to_vector();
  for (std::int64_t k = 0; k < here.shift; ++k) ASSERT_EQ(x[static_cast<std::size_t>(k)], 0);
  for (std::int64_t s = 0; s < here.shape.systems; ++s) {
    if (here.shape.rows(s) == 0) continue;
    ASSERT_LE(backward_error(here.system(s), here.of(x, s)), 32 * unit<T>)
        << here.shape.rows(s) << " rows, system " << s << " of " << here.shape.systems << ", behind "
        << here.shift;
  }
}

// Systems that begin and end anywhere in lines of 16 bytes, in arrays that end with the last of them; lengths
// around those of segments and of what warps hold.
TYPED_TEST(BandBatch, OneAfterAnotherOffLines) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of :
       {size{1, 5001},   size{2, 5001},   size{3, 5001},   size{5, 5001},  size{17, 5001},  size{18, 5001},
        size{35, 3001},  size{63, 1801},  size{99, 1801},  size{161, 901}, size{288, 301},  size{511, 301},
        size{513, 301},  size{575, 301},  size{576, 301},  size{577, 301}, size{1001, 301}, size{1151, 301},
        size{1153, 133}, size{2303, 133}, size{2305, 133}, size{4605, 133}})
    for (const std::int64_t shift : {0, 1, 2, 3})
      for (const double dominance : {0.0, 0.25}) {
        const batch_shape shape = contiguous(of.n, of.systems);
        batch<T> here(dev, random_system<T>(shift + shape.extent(), dominance, static_cast<unsigned>(of.n)),
                      shape, shift);
        const auto report = here.solved(dev, {.max_refinements = 0});
        EXPECT_EQ(report.engine, tiles) << of.n;
        expect_solved(here);
      }
}

// Systems that warps of many blocks share.
TYPED_TEST(BandBatch, LongOnesAfterAnotherOffLines) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of : {size{140001, 1}, size{99999, 3}, size{65281, 3}, size{19585, 8}})
    for (const std::int64_t shift : {0, 1, 2, 3}) {
      const batch_shape shape = contiguous(of.n, of.systems);
      batch<T> here(dev, random_system<T>(shift + shape.extent(), 0.0, static_cast<unsigned>(of.n)), shape,
                    shift);
      here.solved(dev, {.max_refinements = 0});
      expect_solved(here);
    }
}

// Too many rows, or a count that fills no lines: solved as copies, here in one slab and in several.
TYPED_TEST(BandBatch, SideBySideAsCopies) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of : {size{2049, 333}, size{4607, 41}, size{5001, 40}, size{2101, 2001}})
    for (const double dominance : {0.0, 0.25}) {
      const batch_shape shape = interleaved(of.n, of.systems);
      batch<T> here(dev, random_system<T>(shape.extent(), dominance, static_cast<unsigned>(of.n)), shape);
      const auto report = here.solved(dev, {.max_refinements = 0});
      EXPECT_EQ(report.engine, "copies one after another");
      expect_solved(here);
      const std::vector<T> x = here.x.to_vector();
      here.x = array<T>::from(dev, here.all.b);
      solve<T>(dev, here.A, {here.x.data(), shape}, {here.x.data(), shape}, {.check = false});
      EXPECT_EQ(here.x.to_vector(), x);
    }
}

// Arrays that lie differently in their lines.
TYPED_TEST(BandBatch, ArraysThatLieUnlike) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  const batch_shape shape = contiguous(100, 1801);
  batch<T> here(dev, random_system<T>(1 + shape.extent(), 0, 12), shape, 1);
  here.x = array<T>::zeros(dev, shape.extent());
  const auto report = solve<T>(dev, here.A, here.rhs, {here.x.data(), shape}, {.max_refinements = 0});
  EXPECT_NE(report.engine, tiles);
  std::vector<T> x = here.x.to_vector();
  x.insert(x.begin(), T{0});
  here.x = array<T>::from(dev, x);
  expect_solved(here);
}

// Of every length up to the longest, none and one among them.
TYPED_TEST(BandBatch, ManySystemsOfDifferentLengths) {
  using T = TypeParam;
  VOUCH_NEEDS_GPU();
  const device dev = gpus().front();
  for (const size& of :
       {size{3, 5001}, size{40, 3001}, size{300, 1101}, size{600, 301}, size{1300, 301}, size{2600, 133}})
    for (const std::int64_t shift : {0, 1})
      for (const double dominance : {0.0, 0.25}) {
        std::mt19937 random(static_cast<unsigned>(of.n));
        std::vector<std::int64_t> offsets{0, of.n, of.n, of.n + 1};
        while (static_cast<std::int64_t>(offsets.size()) <= of.systems)
          offsets.push_back(offsets.back() + static_cast<std::int64_t>(random() % (of.n + 1)));
        batch<T> here(dev, random_system<T>(shift + offsets.back(), dominance, static_cast<unsigned>(of.n)),
                      ragged(offsets), shift);
        const auto report = here.solved(dev, {.max_refinements = 0});
        EXPECT_EQ(report.engine, tiles) << of.n;
        expect_solved(here);
        const std::vector<T> x = here.x.to_vector();
        here.solved(dev, {.max_refinements = 0});
        EXPECT_EQ(here.x.to_vector(), x);
      }
}

}  // namespace
