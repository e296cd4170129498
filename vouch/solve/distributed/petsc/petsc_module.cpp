// PETSc as a module: KSP over the rows of all ranks. Started under an MPI that others have started, it leaves signals,
// standard output and MPI to them.
#include <dlfcn.h>
#include <petscksp.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "petsc.h"

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "Vouch takes a PETSc of real numbers in double precision"
#endif

struct vouch_petsc_solver {
  Mat A = nullptr;
  KSP ksp = nullptr;
  Vec r = nullptr, d = nullptr;
  Vec own_r = nullptr, own_d = nullptr;  // by the caller's rows, where others are solved with
  VecScatter moving = nullptr;           // from those rows to the ones that are solved with; nullptr: the same
  std::string method, preconditioner, partition;
  void* defaults = nullptr;  // of KSPConvergedDefault
  bool watched = false;      // the method has a norm to go by

  // While it runs.
  const vouch_petsc_task* task = nullptr;
  MPI_Request asking = MPI_REQUEST_NULL;  // whether any rank wanted to stop an iteration ago
  int wish = 0, wishes = 0;
  bool interrupted = false;
};

namespace {

MPI_Comm all_ranks = MPI_COMM_NULL;  // for what ranks say to each other beside PETSc
char library[64] = "PETSc";
std::string problem_text, unused_text;
std::vector<std::string> last_words;
bool broken = false;  // PETSc's state is not known

PetscErrorCode take_error(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                          const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL && problem_text.empty()) {
    const char* general = nullptr;
    PetscErrorMessage(code, &general, nullptr);
    problem_text = message != nullptr ? message : "";
    if (problem_text.find_first_not_of(" \n") == problem_text.npos && general != nullptr)
      problem_text = general;
    std::replace(problem_text.begin(), problem_text.end(), '\n', ' ');
  }
  return code;
}

bool asks_for_what_is_not_there(PetscErrorCode code) {
  constexpr PetscErrorCode codes[] = {PETSC_ERR_SUP,
                                      PETSC_ERR_ARG_SIZ,
                                      PETSC_ERR_ARG_IDN,
                                      PETSC_ERR_ARG_WRONG,
                                      PETSC_ERR_ARG_OUTOFRANGE,
                                      PETSC_ERR_ARG_WRONGSTATE,
                                      PETSC_ERR_ARG_INCOMP,
                                      PETSC_ERR_ARG_UNKNOWN_TYPE,
                                      PETSC_ERR_USER_INPUT,
                                      PETSC_ERR_MISSING_FACTOR,
                                      PETSC_ERR_USER};
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

// A rank that failed gives the others some seconds to come back, too: where they do not, they wait for it inside PETSc.
vouch_petsc_code together(PetscErrorCode code) {
  static int mine, any;  // a call that is given up goes on
  static MPI_Request request;
  mine = code != 0;
  MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, all_ranks, &request);
  if (code == 0) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    broken = broken || any != 0;
    return VOUCH_PETSC_DONE;
  }
  broken = true;
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds patience{5};
  const clock::time_point begin = clock::now();
  for (int there = 0; MPI_Test(&request, &there, MPI_STATUS_IGNORE), there == 0;) {
    if (clock::now() - begin > patience) return VOUCH_PETSC_ALONE;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return asks_for_what_is_not_there(code) ? VOUCH_PETSC_REFUSED : VOUCH_PETSC_FAILED;
}

std::vector<char*> arguments_of(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// What prints to C's standard output in its scope, or keeps that for later, has standard error.
class prints_to_standard_error {
 public:
  prints_to_standard_error() : before_(std::exchange(stdout, stderr)) {}
  ~prints_to_standard_error() { stdout = before_; }
  prints_to_standard_error(const prints_to_standard_error&) = delete;
  prints_to_standard_error& operator=(const prints_to_standard_error&) = delete;

 private:
  FILE* before_;
};

// Each rank has a core: a library of BLAS that takes them all is in the way of the others.
void take_one_thread() {
  if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr || std::getenv("OMP_NUM_THREADS") != nullptr) return;
  if (void* const set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); set != nullptr)
    reinterpret_cast<void (*)(int)>(set)(1);
}

vouch_petsc_code start(int words, const char* const* word) {
  MPI_Comm_dup(MPI_COMM_WORLD, &all_ranks);
  take_one_thread();
  std::vector<std::string> all(word, word + words);
  all.insert(all.begin(), "vouch");
  all.insert(all.end(), {"-no_signal_handler", "-skip_petscrc"});
  std::vector<char*> pointers = arguments_of(all);
  int count = static_cast<int>(all.size());
  char** arguments = pointers.data();
  PetscErrorCode code = PetscPushErrorHandler(take_error, nullptr);
  const prints_to_standard_error here;
  if (code == 0) code = PetscInitialize(&count, &arguments, nullptr, nullptr);
  PetscInt major = 0, minor = 0, subminor = 0;
  if (code == 0) code = PetscGetVersionNumber(&major, &minor, &subminor, nullptr);
  if (code == 0)
    std::snprintf(library, sizeof library, "PETSc %d.%d.%d", static_cast<int>(major), static_cast<int>(minor),
                  static_cast<int>(subminor));
  return together(code);
}

// Another solver's words are forgotten.
PetscErrorCode take_words(int words, const char* const* word) {
  for (const std::string& old : last_words)
    if (old.size() > 1 && old[0] == '-' && std::isalpha(static_cast<unsigned char>(old[1])) != 0)
      PetscCall(PetscOptionsClearValue(nullptr, old.c_str()));
  last_words.assign(word, word + words);
  std::vector<std::string> all = last_words;
  all.insert(all.begin(), "vouch");
  std::vector<char*> pointers = arguments_of(all);
  int count = static_cast<int>(all.size());
  char** arguments = pointers.data();
  PetscCall(PetscOptionsInsert(nullptr, &count, &arguments, nullptr));
  return 0;
}

// One of them does something, the other nothing, by the number of ranks.
PetscErrorCode copy_matrix(const vouch_petsc_rows& rows, Mat A) {
  std::vector<PetscInt> starts(rows.row_ptr, rows.row_ptr + rows.rows + 1);
  std::vector<PetscInt> wide;
  const PetscInt* columns = nullptr;
  if constexpr (sizeof(PetscInt) == sizeof(int32_t)) {
    columns = reinterpret_cast<const PetscInt*>(rows.col);
  } else {
    wide.assign(rows.col, rows.col + rows.row_ptr[rows.rows]);
    columns = wide.data();
  }
  PetscCall(MatSeqAIJSetPreallocationCSR(A, starts.data(), columns, rows.val));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, starts.data(), columns, rows.val));
  return 0;
}

PetscErrorCode make_matrix(const vouch_petsc_rows& rows, Mat* made) {
  PetscCall(MatCreate(PETSC_COMM_WORLD, made));
  const auto n = static_cast<PetscInt>(rows.all_rows), local = static_cast<PetscInt>(rows.rows);
  PetscCall(MatSetSizes(*made, local, local, n, n));
  PetscCall(MatSetType(*made, MATAIJ));
  PetscCall(copy_matrix(rows, *made));
  return 0;
}

// Whether ranks need more values of each other than they have rows, two of them more than half as many.
bool hangs_together_by_much(const vouch_petsc_rows& rows, int ranks) {
  if (ranks == 1) return false;
  std::vector<bool> elsewhere(static_cast<std::size_t>(rows.all_rows));
  int64_t values = 0;
  for (int64_t k = 0; k < rows.row_ptr[rows.rows]; ++k) {
    const int32_t col = rows.col[k];
    if ((col >= rows.first_row && col < rows.first_row + rows.rows) || elsewhere[static_cast<std::size_t>(col)])
      continue;
    elsewhere[static_cast<std::size_t>(col)] = true;
    ++values;
  }
  MPI_Allreduce(MPI_IN_PLACE, &values, 1, MPI_INT64_T, MPI_SUM, all_ranks);
  return 2 * values > std::min(2, ranks - 1) * rows.all_rows;
}

// The graph of A + A^T.
PetscErrorCode make_graph(const vouch_petsc_rows& rows, Mat A, Mat* graph) {
  Mat both = nullptr;
  if (rows.symmetric == 0) {
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &both));
    PetscCall(MatAXPY(both, 1, A, DIFFERENT_NONZERO_PATTERN));
  }
  PetscCall(MatConvert(both != nullptr ? both : A, MATMPIADJ, MAT_INITIAL_MATRIX, graph));
  PetscCall(MatDestroy(&both));
  return 0;
}

// One thread a rank in its scope: several of Scotch's find another partition on each run.
class scotch_on_one_thread {
 public:
  scotch_on_one_thread() : sets_(std::getenv(name) == nullptr) {
    if (sets_) setenv(name, "1", 0);
  }
  ~scotch_on_one_thread() {
    if (sets_) unsetenv(name);
  }
  scotch_on_one_thread(const scotch_on_one_thread&) = delete;
  scotch_on_one_thread& operator=(const scotch_on_one_thread&) = delete;

 private:
  static constexpr const char* name = "SCOTCH_PTHREAD_NUMBER";
  bool sets_;
};

// Puts the rows of each rank into the order of reverse Cuthill and McKee.
PetscErrorCode order_rows(Mat A, IS* taken) {
  Mat part = nullptr, own = nullptr;
  IS order = nullptr, of_columns = nullptr;
  PetscCall(ISSort(*taken));
  PetscCall(MatCreateSubMatrix(A, *taken, *taken, MAT_INITIAL_MATRIX, &part));
  PetscCall(MatGetDiagonalBlock(part, &own));
  PetscCall(MatGetOrdering(own, MATORDERINGRCM, &order, &of_columns));
  PetscInt count = 0;
  const PetscInt *row = nullptr, *place = nullptr;
  PetscCall(ISGetLocalSize(*taken, &count));
  PetscCall(ISGetIndices(*taken, &row));
  PetscCall(ISGetIndices(order, &place));
  std::vector<PetscInt> rows(static_cast<std::size_t>(count));
  std::transform(place, place + count, rows.begin(), [row](PetscInt i) { return row[i]; });
  PetscCall(ISRestoreIndices(order, &place));
  PetscCall(ISRestoreIndices(*taken, &row));
  PetscCall(ISDestroy(taken));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, count, rows.data(), PETSC_COPY_VALUES, taken));
  PetscCall(ISDestroy(&order));
  PetscCall(ISDestroy(&of_columns));
  PetscCall(MatDestroy(&part));
  return 0;
}

// Gives the rows to ranks anew where that saves most of what ranks send each other, and with it what preconditioners of
// a rank's rows leave out.
PetscErrorCode partition_rows(const vouch_petsc_rows& rows, vouch_petsc_solver& solver) {
  PetscMPIInt ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  if (!hangs_together_by_much(rows, ranks)) return 0;
  Mat graph = nullptr;
  MatPartitioning partitioning = nullptr;
  IS rank_of_row = nullptr, taken = nullptr;
  PetscCall(make_graph(rows, solver.A, &graph));
  PetscCall(MatPartitioningCreate(PETSC_COMM_WORLD, &partitioning));
  PetscCall(MatPartitioningSetAdjacency(partitioning, graph));
#if defined(PETSC_HAVE_PTSCOTCH)
  PetscCall(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
#endif
  PetscCall(MatPartitioningSetFromOptions(partitioning));
  {
    const scotch_on_one_thread here;
    PetscCall(MatPartitioningApply(partitioning, &rank_of_row));
  }
  MatPartitioningType type = nullptr;
  PetscCall(MatPartitioningGetType(partitioning, &type));
  solver.partition = type != nullptr && std::string(type) != MATPARTITIONINGCURRENT ? type : "";
  PetscCall(ISBuildTwoSided(rank_of_row, nullptr, &taken));
  PetscCall(order_rows(solver.A, &taken));

  Mat moved = nullptr;
  PetscCall(MatCreateSubMatrix(solver.A, taken, taken, MAT_INITIAL_MATRIX, &moved));
  PetscCall(MatCreateVecs(solver.A, &solver.own_d, &solver.own_r));
  PetscCall(MatDestroy(&solver.A));
  solver.A = moved;
  PetscCall(MatCreateVecs(solver.A, &solver.d, &solver.r));
  PetscCall(VecScatterCreate(solver.own_r, taken, solver.r, nullptr, &solver.moving));
  PetscCall(ISDestroy(&taken));
  PetscCall(ISDestroy(&rank_of_row));
  PetscCall(MatPartitioningDestroy(&partitioning));
  PetscCall(MatDestroy(&graph));
  return 0;
}

PetscErrorCode state_facts(const vouch_petsc_rows& rows, Mat A) {
  if (rows.symmetric != 0) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (rows.definite != 0 && rows.constants_in_null_space == 0) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  if (rows.constants_in_null_space != 0) {
    MatNullSpace constants = nullptr;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  return 0;
}

// PETSc's own test, and what the caller wants. Whether any rank wants to stop is known an iteration later, so that
// nobody waits for the answer.
PetscErrorCode watch(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason, void* context) {
  auto& solver = *static_cast<vouch_petsc_solver*>(context);
  PetscCall(KSPConvergedDefault(ksp, iteration, norm, reason, solver.defaults));
  MPI_Wait(&solver.asking, MPI_STATUS_IGNORE);
  const bool stop = solver.wishes != 0;
  const bool go_on = solver.task->note(solver.task->whom, iteration, norm) != 0;
  if (*reason != KSP_CONVERGED_ITERATING) return 0;
  if (stop) {
    solver.interrupted = true;
    *reason = KSP_CONVERGED_ITS;
    return 0;
  }
  if (!go_on) solver.wish = 1;
  MPI_Iallreduce(&solver.wish, &solver.wishes, 1, MPI_INT, MPI_MAX, all_ranks, &solver.asking);
  return 0;
}

PetscErrorCode take_names(vouch_petsc_solver& solver, PC pc) {
  const char* name = nullptr;
  PetscCall(KSPGetType(solver.ksp, &name));
  solver.method = name != nullptr ? name : "";
  PetscCall(PCGetType(pc, &name));
  solver.preconditioner = name != nullptr ? name : "";
  const char* detail = nullptr;
  if (solver.preconditioner == PCLU || solver.preconditioner == PCCHOLESKY)
    PetscCall(PCFactorGetMatSolverType(pc, &detail));
#if defined(PETSC_HAVE_HYPRE)
  if (solver.preconditioner == PCHYPRE) PetscCall(PCHYPREGetType(pc, &detail));
#endif
  if (detail != nullptr) solver.preconditioner.append(" ").append(detail);
  return 0;
}

PetscErrorCode make_solver(const vouch_petsc_rows& rows, int words, const char* const* word,
                           vouch_petsc_solver& solver) {
  const prints_to_standard_error here;
  PetscCall(take_words(words, word));
  PetscCall(make_matrix(rows, &solver.A));
  PetscCall(partition_rows(rows, solver));
  PetscCall(state_facts(rows, solver.A));
  if (solver.moving == nullptr) PetscCall(MatCreateVecs(solver.A, &solver.d, &solver.r));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver.ksp));
  PetscCall(KSPSetOperators(solver.ksp, solver.A, solver.A));
  PetscCall(KSPSetFromOptions(solver.ksp));
  PetscCall(KSPSetInitialGuessNonzero(solver.ksp, PETSC_FALSE));
  PetscCall(KSPSetErrorIfNotConverged(solver.ksp, PETSC_FALSE));
  PetscCall(KSPSetUp(solver.ksp));
  PetscCall(KSPSetUpOnBlocks(solver.ksp));
  KSPNormType norm = KSP_NORM_DEFAULT;
  PetscCall(KSPGetNormType(solver.ksp, &norm));
  solver.watched = norm != KSP_NORM_NONE;
  if (solver.watched) {
    PetscCall(KSPConvergedDefaultCreate(&solver.defaults));
    PetscCall(KSPSetConvergenceTest(solver.ksp, watch, &solver, nullptr));
  }
  PC pc = nullptr;
  PetscCall(KSPGetPC(solver.ksp, &pc));
  PetscCall(take_names(solver, pc));
  return 0;
}

void destroy(vouch_petsc_solver* solver) {
  if (!broken) {
    KSPDestroy(&solver->ksp);
    MatDestroy(&solver->A);
    for (Vec* const v : {&solver->r, &solver->d, &solver->own_r, &solver->own_d}) VecDestroy(v);
    VecScatterDestroy(&solver->moving);
    if (solver->defaults != nullptr) KSPConvergedDefaultDestroy(solver->defaults);
  }
  delete solver;
}

// No exception passes through the interface, and other ranks hear of it.
template <class Call>
PetscErrorCode without_exceptions(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    problem_text = "out of memory";
    return PETSC_ERR_MEM;
  }
}

vouch_petsc_code create(const vouch_petsc_rows* rows, int words, const char* const* word,
                        vouch_petsc_solver** made) {
  problem_text.clear();
  auto* const solver = new vouch_petsc_solver;
  const vouch_petsc_code code =
      together(without_exceptions([&] { return make_solver(*rows, words, word, *solver); }));
  if (code == VOUCH_PETSC_DONE && !broken)
    *made = solver;
  else
    destroy(solver);
  return code;
}

void names(const vouch_petsc_solver* solver, const char** method, const char** preconditioner,
           const char** partition) {
  *method = solver->method.c_str();
  *preconditioner = solver->preconditioner.c_str();
  *partition = solver->partition.c_str();
}

vouch_petsc_end end_of(KSPConvergedReason reason) {
  if (reason > 0) return VOUCH_PETSC_REACHED;
  switch (reason) {
    case KSP_DIVERGED_ITS:
      return VOUCH_PETSC_ITERATION_LIMIT;
    case KSP_DIVERGED_DTOL:
    case KSP_DIVERGED_NANORINF:
      return VOUCH_PETSC_DIVERGED;
    case KSP_DIVERGED_INDEFINITE_MAT:
      return VOUCH_PETSC_INDEFINITE_MATRIX;
    case KSP_DIVERGED_INDEFINITE_PC:
      return VOUCH_PETSC_INDEFINITE_PRECONDITIONER;
    default:
      return VOUCH_PETSC_BREAKDOWN;
  }
}

PetscErrorCode move(VecScatter moving, Vec from, Vec to, ScatterMode way) {
  PetscCall(VecScatterBegin(moving, from, to, INSERT_VALUES, way));
  PetscCall(VecScatterEnd(moving, from, to, INSERT_VALUES, way));
  return 0;
}

PetscErrorCode run(vouch_petsc_solver& solver, const double* r, double* d, const vouch_petsc_task& task,
                   vouch_petsc_outcome& outcome) {
  solver.task = &task;
  solver.wish = solver.wishes = 0;
  solver.interrupted = false;
  const auto limit =
      static_cast<PetscInt>(std::min<int64_t>(task.limit, std::numeric_limits<PetscInt>::max() - 1));
  constexpr double below_one = 0.999, largest = 1e300;
  PetscCall(KSPSetTolerances(solver.ksp, std::clamp(task.relative, 0.0, below_one), 0.0,
                             std::min(task.growth, largest), limit));
  const bool moves = solver.moving != nullptr;
  const Vec given_r = moves ? solver.own_r : solver.r, given_d = moves ? solver.own_d : solver.d;
  PetscCall(VecPlaceArray(given_r, r));
  PetscCall(VecPlaceArray(given_d, d));
  if (moves) PetscCall(move(solver.moving, given_r, solver.r, SCATTER_FORWARD));
  PetscCall(KSPSolve(solver.ksp, solver.r, solver.d));
  if (moves) PetscCall(move(solver.moving, solver.d, given_d, SCATTER_REVERSE));
  PetscCall(VecResetArray(given_r));
  PetscCall(VecResetArray(given_d));
  MPI_Wait(&solver.asking, MPI_STATUS_IGNORE);
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscReal norm = 0;
  PetscCall(KSPGetConvergedReason(solver.ksp, &reason));
  PetscCall(KSPGetIterationNumber(solver.ksp, &iterations));
  PetscCall(KSPGetResidualNorm(solver.ksp, &norm));
  PetscCall(KSPGetConvergedReasonString(solver.ksp, &outcome.said));
  outcome.end = solver.interrupted ? VOUCH_PETSC_INTERRUPTED : end_of(reason);
  outcome.iterations = iterations;
  outcome.norm = solver.watched ? norm : std::numeric_limits<double>::quiet_NaN();
  return 0;
}

vouch_petsc_code solve(vouch_petsc_solver* solver, const double* r, double* d, const vouch_petsc_task* task,
                       vouch_petsc_outcome* outcome) {
  problem_text.clear();
  return together(run(*solver, r, d, *task, *outcome));
}

const char* unused() {
  unused_text.clear();
  for (const std::string& word : last_words) {
    PetscBool used = PETSC_TRUE;
    if (word.size() < 2 || word[0] != '-' || std::isalpha(static_cast<unsigned char>(word[1])) == 0) continue;
    if (PetscOptionsUsed(nullptr, word.c_str() + 1, &used) == 0 && used == PETSC_FALSE)
      unused_text.append(unused_text.empty() ? "" : " ").append(word);
  }
  return unused_text.c_str();
}

const char* problem() { return problem_text.empty() ? "no reason is given" : problem_text.c_str(); }

void stop() {
  if (broken) return;
  const prints_to_standard_error here;
  PetscFinalize();
  MPI_Comm_free(&all_ranks);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const vouch_petsc* vouch_petsc_table() {
  static const vouch_petsc self{VOUCH_PETSC_ABI, library, static_cast<int>(8 * sizeof(PetscInt)),
                                start,           create,  names,
                                solve,           destroy, unused,
                                problem,         stop};
  return &self;
}
