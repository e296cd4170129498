// vouch/distributed/mpi.hpp -- ranks that an MPI launcher started.
#pragma once
#include <memory>
#include <optional>

#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>

namespace VOUCH_PUBLIC vouch {

/// How many processes a launcher (mpirun of Open MPI or MPICH, srun of Slurm) says that it started with this one; nothing
/// where there is none.
std::optional<int> launched_ranks();
/// Of them, those on this machine; 1 where it is not known.
int launched_ranks_here();

/// The ranks of MPI_COMM_WORLD, once a process; the result's end waits for all of them.
///
/// Memory  The module vouch-mpi.so is looked for beside the program, in its ../lib/vouch and where VOUCH_BACKENDS says.
/// Throws  file_error   there is no such module; the text names the package
///         value_error  MPI does not start
std::unique_ptr<communicator> start_mpi();

/// Ends all ranks with that code, now: for a failure that the others cannot learn of. Does nothing before start_mpi().
void abort_mpi(int code);

}  // namespace vouch
