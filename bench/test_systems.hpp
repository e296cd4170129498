// bench/test_systems.hpp -- the systems, published and generated, on which methods are compared.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>

#include "suite.hpp"

namespace vouch::bench {

/// A x = b with an x of random elements; sparse or dense. Without b where A is not square.
struct test_system {
  std::string name;
  csr<double> sparse;
  matrix<double> dense;
  array<double> b;

  bool is_dense() const { return dense.rows() > 0; }
  std::int64_t rows() const { return b.size(); }
  std::int64_t nonzeros() const { return is_dense() ? rows() * rows() : sparse.all().nonzeros; }
};

/// What makes it, and whether the quick selection has it.
struct system_source {
  std::string name;
  std::function<test_system()> make;
  bool quick = false;
};

/// The matrices that options name; else every published one in its data folder and generated ones.
std::vector<system_source> test_systems(const device& cpu, const suite_options& options);

/// Makes one after the other and gives it to use, but for matrices that are complex or not square; until it is asked to
/// stop. wanted: those of which names; empty: all.
void for_each_system(const device& cpu, const suite_options& options,
                     const std::function<void(const test_system&)>& use,
                     const std::function<bool(const std::string&)>& wanted = {});

}  // namespace vouch::bench
