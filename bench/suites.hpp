// bench/suites.hpp -- the suites: what each measures, and against which bars.
//
// Result  Interrupted, what was measured so far.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Algebraic multigrid: iterations, complexities, set-up and solve, beside floors.
suite_results run_amg_suite(const suite_options& options);

/// How well `auto` chooses: every method on many systems, and what auto took.
///
/// Solves some eighty systems, published and generated, sparse, tridiagonal and dense, by every method that takes
/// them, conjugate gradients with every preconditioner, and by auto; each solve from a new solver, all of the call
/// counted. Systems that nothing solves within half a minute count as unsolved.
///
/// Result  A row a system and device: the time of auto over the least time of any method that converged (bar 10),
///         and the part of all systems where that is at most 2 (bar 0.9).
suite_results run_auto_suite(const suite_options& options);

/// Conjugate gradients: the tables of the published work, scaling, peers, and the bars.
///
/// Solves the published matrices by the published stopping rule and by the true one on every device and in
/// both precisions; then times iterations over model problems of growing size, beside the peers that are
/// there. Matrices named in the options take the place of all these systems.
///
/// Result  Everything but times is the same on every run.
/// Throws  value_error, parse_error, file_error  of the options and the matrices
/// Source  The published figures: conjugate gradients on a GTS 250, diploma thesis, 2010.
suite_results run_cg_suite(const suite_options& options);

/// Fingerprints: every stage, and prints a second from memory and from files.
///
/// Classifies drawn prints, and the files that are given in place of matrices, with the perceptron published in
/// fingerprints/model of the data folder, or with one of that size made of random numbers.
///
/// Result  Rows a stage and device; bars: 250 prints a second on one core without decoding, 120 from WSQ files, 1,700
///         from files where 16 threads work.
suite_results run_classify_suite(const suite_options& options);

/// Complex numbers: products, and iterations of conjugate gradients, COCG and GMRES.
///
/// Model problems in double and single precision by the real form that solvers keep.
///
/// Result  Rows of seconds, the floor being the bytes of a complex matrix in CSR and of the vectors at the copy speed of
///         the device; on a GPU cuSPARSE's product of the complex matrix as peer, and a bar of 1.15 times the floor in
///         double precision.
suite_results run_complex_suite(const suite_options& options);

/// Krylov methods: an iteration of each beside the bytes it moves, and nonsymmetric systems.
///
/// Times iterations on grids of Poisson and of convection, 16^3, which stays near the processor, and 256^3 on a GPU, 100^3
/// on a CPU. Then the eighteen published nonsymmetric matrices by BiCGStab(l), GMRES and IDR(s) with ILU(0) and
/// ILUT, and by auto; matrices named in the options take their place.
///
/// Result  Rows of seconds, the floor being the bytes at the copy speed of the device; bars on a GPU: 1.15 times the
///         floor, and in iterations of conjugate gradients where the system stays on the chip. Rows of iterations,
///         infinite where a method failed; AMGCL's BiCGStab as peer where it is there; bars: 15 of 18 solved
///         iteratively, all by auto.
suite_results run_krylov_suite(const suite_options& options);

/// The Black-Scholes equation on the grids of the published work, and the bars.
///
/// Prices one European call on 8192 x 16384 and 16384 x 32768 nodes, with the published parameters and with
/// usual ones, by every scheme; then the published scheme itself, in single and in double precision, with its
/// phases; the error against the closed form stands beside every time. Then orders of convergence.
///
/// Throws  value_error  of the options
/// Source  The published figures: Crank-Nicolson by odd-even reduction on a GTX 260, diploma thesis, 2011.
suite_results run_crank_nicolson_suite(const suite_options& options);

/// Options a second of every method against their accuracy, and a book from file to file.
suite_results run_options_suite(const suite_options& options);

/// Sparse factorisations by Vouch beside the libraries behind them.
///
/// Solves the sparse square systems of the suite auto by every back end for the factors that suit the matrix: by
/// Vouch, from the matrix in memory to the checked answer, and by the library alone, on a CPU through its module: analysis,
/// factorisation, one solve. Matrices that a library on the CPU predicts to take more than 2 10^10 operations are left out. On a
/// GPU by cuDSS, with operands there.
///
/// Result  A row a system and back end: Vouch's time over the library's (bar 1.5), and their geometric mean (bar
///         1.1); a row for the time itself, with the library's as its peer. A table with entries of the factors,
///         residuals, and whether the bits of three solves were the same.
suite_results run_direct_suite(const suite_options& options);

/// Interval BLAS beside Boost.Interval and the plain BLAS of OpenBLAS and cuBLAS.
///
/// Times axpy, dot, gemv and gemm on intervals, the sizes of IntLAG's tables and large ones, on every device;
/// measures how wide the modes of gemm enclose, and whether bits repeat.
///
/// Result  A row for every figure.
suite_results run_interval_suite(const suite_options& options);

/// Reading matrices: bytes a second from page cache, and the bars.
///
/// Writes files of short and of 17-digit values and dense ones in either order to the folder for temporary
/// files, and reads them with one thread, with all, and on the GPU. Files named in the options take their
/// place.
///
/// Result  Rows with the bytes a second of read_coo (bars on one core), read_csr and read_vectors, the floor
///         being a plain read() of the same file by one thread; of a matrix on the GPU, the floor being the
///         text over the bus, beside the same matrix read by all threads and copied.
/// Throws  file_error  no room for the files
suite_results run_read_suite(const suite_options& options);

/// Sets of small matrices: the published table, and the bars.
///
/// Writes sets of 1, 10 and 50 million 3 by 3 matrices, of digits and of signed numbers to 99999, to the folder
/// for temporary files, and reduces each by the minimum; also decimals, and batches in a GPU's memory.
///
/// Result  Rows with times and bytes a second against a bare touch of the mapped file by the same threads,
///         peers on the smallest files.
/// Throws  file_error   no room for the files: 3.5 GB
///         value_error  a peer's result differs from ours
suite_results run_reduce_suite(const suite_options& options);

/// Dense Jacobi and Gauss-Seidel: sweeps, time to an error, peers, and the bars.
///
/// Sweeps of growing systems on the devices asked for, the time to a true error of 10^-6, the published case
/// from host memory, transposes; the published tables over the size and over families of systems
/// (stationary_published.hpp). On the GPU about two minutes.
///
/// Result  Rows with the bars. Floors are one read of the matrix at the speed that a kernel which only
///         reads, or all threads, reach in this run; of matrices that stay on the chip the way of a number
///         between blocks.
suite_results run_stationary_suite(const suite_options& options);

/// Ranks and GPUs side by side, strong and weak scaling; with options.simulate what a model says of up to 10,000.
///
/// Solves Poisson problems by --engine ranks on 1, 2, 4 and as many ranks as there are cores, started by mpirun, with the
/// iteration of --engine petsc beside it where that is there; conjugate gradients on two GPUs beside one.
///
/// Result  Rows without bars: reading, set-up, an iteration, verdict, proof, a checkpoint, efficiencies.
/// Throws  value_error  mpirun fails; the text has what it said
suite_results run_scale_suite(const suite_options& options);
/// Its part on batches in host memory and in files: by a group of two GPUs beside one. Needs two.
void measure_shared_batches(const suite_options& options, suite_results& results);
/// Its part on conjugate gradients, multigrid and dense proofs, likewise.
void measure_pairs(const suite_options& options, suite_results& results);

/// Sweeps over sparse matrices: their speed, and what accelerations save.
///
/// Sweeps of Poisson problems in natural order and by colours on the devices asked for, and solves of one
/// problem by every iteration; on the GPU within half a minute.
///
/// Result  Rows without bars. Floors are the bytes of the CSR matrix and four vectors at the copy speed of the
///         device, measured in this run.
suite_results run_sweeps_suite(const suite_options& options);

/// Tridiagonal systems against cuSPARSE, LAPACK and the memory's speed.
suite_results run_tridiagonal_suite(const suite_options& options);

/// What proofs of correctness cost, and how sharp they are.
///
/// Poisson problems with the solution (1, ..., 1), which is exact, and the stiffness matrices of options.data;
/// options.matrices in place of both.
suite_results run_verify_suite(const suite_options& options);

}  // namespace vouch::bench
