#include "tool_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <vouch/core/error.hpp>

namespace vouch::bench {
namespace {

std::string quoted(const std::string& path) { return "'" + path + "'"; }

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (line.empty() && std::getline(file, line)) {
  }
  return line;
}

}  // namespace

tool_run::tool_run(const scratch_folder& folder) : said_(folder.file("said")) {
  std::error_code ignored;
  tool_ = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "vouch";
}

std::string tool_run::missing_ranks() const {
  if (!std::filesystem::exists(tool_)) return tool_ + " is not there";
  if (!std::filesystem::exists(std::filesystem::path(tool_).parent_path() / "vouch-mpi.so"))
    return "there is no vouch-mpi.so beside the tool: make mpi";
  return std::system("command -v mpirun > /dev/null") == 0 ? "" : "there is no mpirun";
}

// More ranks than cores are allowed, and then leave their core while they wait.
nlohmann::json tool_run::run(const std::string& arguments, int ranks) const {
  const std::string launcher =
      ranks == 1
          ? ""
          : fmt::format("OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 mpirun -n {} ",
                        ranks);
  const std::string command =
      fmt::format("OMP_NUM_THREADS=1 {}{} {} 2> {}", launcher, quoted(tool_), arguments, quoted(said_));
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw file_error("no process can be started for " + tool_);
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, got);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
    throw value_error("vouch " + arguments + ": " + first_line_of(said_));
  return text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
}

}  // namespace vouch::bench
