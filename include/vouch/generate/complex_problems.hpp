// vouch/generate/complex_problems.hpp -- complex model problems by name.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Parameters of a problem; what is not set takes the problem's own default. ny defaults to nx, nz to 1.
struct complex_problem_options {
  std::optional<std::int64_t> nx{}, ny{}, nz{};
  std::optional<double> wavelength{};  // helmholtz: grid points in a wave; from 2 [10]
  std::optional<double> damping{};     // helmholtz: imaginary over real part of the squared wave number [0]
  std::optional<double> flux{};        // magnetic-poisson: through a cell of the grid, in radians [0.5]
  std::uint64_t seed = 1;              // of everything random
};

/// All problems, in the order in which help lists them:
///
/// helmholtz          -u'' - k^2 u on a grid, waves leave through the boundary (du/dn = iku): complex symmetric, indefinite
/// magnetic-poisson   the Laplace operator with the phases of a magnetic field: Hermitian positive definite
/// impedance-network  a grid of random resistors, coils and capacitors, every node leaking a little: complex symmetric
/// power-grid         nodal admittances of a ring of lines with chords and loads: complex symmetric
/// What is not symmetric is Hermitian.
std::span<const problem_facts> complex_problems();

/// The matrix of a problem.
///
/// Memory  Built on cpu, by one thread.
/// Result  The same bits on every run.
/// Throws  value_error  an unknown name, an option that the problem does not take, or a value that it refuses
csr<std::complex<double>> generate_complex(const device& cpu, std::string_view name,
                                           const complex_problem_options& options = {});

/// b = A x, each part a sum in double-double, rounded once.
array<std::complex<double>> right_hand_side(const device& cpu, csr_view<const std::complex<double>> A,
                                            view<const std::complex<double>> x);

}  // namespace vouch
