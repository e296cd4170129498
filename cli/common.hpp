// cli/common.hpp -- the options that mean the same in every subcommand, and what goes with them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/device_group.hpp>

#include "console.hpp"

namespace vouch::cli {

class command_line;

/// Values of the shared options; a subcommand declares those that it has.
struct common_options {
  std::string device = "auto";
  std::int64_t threads = 0;  // 0: those of device::cpu()
  std::string precision = "double";
  std::string output;
  std::int64_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

/// What -h says of an argument that is a matrix.
inline constexpr std::string_view matrix_files =
    "matrix: Matrix Market, .npy, SciPy's .npz, Harwell-Boeing, .tar.gz";

/// --threads.
void add_threads_option(command_line& line, common_options& common);
/// --device and --threads.
void add_device_options(command_line& line, common_options& common, const char* about_gpus = "");
/// --precision double|single|mixed.
void add_precision_option(command_line& line, common_options& common, const char* about_mixed = "");
/// --json, -q and -v.
void add_report_options(command_line& line, common_options& common);

/// The console that --json, -q and -v ask for.
console make_console(const common_options& common);

/// What --device asked for.
struct device_request {
  bool automatic = false;
  bool cuda = false;
  int index = 0;            // of the GPU, the first of several
  std::vector<int> gpus{};  // that are to share the work; empty: one device
};

/// Reads auto, cpu, cuda or cuda:K, and where several GPUs are taken cuda:all or cuda:K,L,...; throws usage_error.
device_request parse_device(const std::string& text, bool takes_several = false);
/// The GPU, or the GPUs, that were asked for.
device_group open_gpus(const device_request& asked);
/// What -h says of them where any work is shared.
inline constexpr const char* several_gpus_share = "; cuda:all or cuda:0,1: several share the work";
/// The CPU with --threads threads.
device open_cpu(const common_options& common);
/// The one device that --device names; the CPU for auto.
device open_device(const common_options& common);

/// Fails early, before hours of work, when a file could not be written there: no such folder, not writable; or
/// when its name says that it is compressed.
void check_writable(const std::string& path);

/// Whether two names lead to one file, which need not be there: relative, by links.
bool is_same_file(const std::string& a, const std::string& b);

/// check_writable() of all outputs; names may be "", for none.
///
/// Throws  what that throws
///         usage_error  one is called -; two outputs are one file, or one is a file that is read, under whatever names:
///                      relative, by links, those to nothing too
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs = {});

/// Pictures are SVG, one of which knows PNG, too.
///
/// Throws  usage_error  the name ends as that of a picture of another kind
void check_picture(const std::string& file, bool knows_png = false);

}  // namespace vouch::cli
