// vouch/fingerprint/model.hpp -- trained networks in the published file formats.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/networks.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// What a folder holds: at least one of the two.
struct model {
  std::optional<mlp> perceptron;
  std::optional<pnn> probabilistic;
};

/// The files of a folder that are a perceptron; those that are a probabilistic network, of which the last may be missing.
std::vector<std::string> perceptron_files(const std::string& folder);
std::vector<std::string> probabilistic_files(const std::string& folder);

/// Reads a folder: mlp_tmat.bin and mlp_wts.bin are a perceptron; pnn_tmat.bin, profvs.bin and procls.asc a
/// probabilistic network, with its smoothing factor in osf.txt where that is there, else the published 1.368750.
///
/// Throws  file_error   neither is there whole
///         parse_error  a file breaks its format, or its sizes fit neither 1680 orientations nor the other files
model read_model(const std::string& folder);

/// Writes a probabilistic network as read_model() reads it; the folder appears where it is missing.
///
/// Throws  shape_error; file_error  as atomic_file: none of the files appears
void write_model(const std::string& folder, const pnn& network);

/// A matrix file: a line of description; "m b" or "m a"; then, binary, rows, columns and all elements as big-endian
/// numbers of 32 bits, or the same as text.
///
/// Throws  file_error; parse_error  also where bytes are left over or an element is not finite
feature_matrix read_feature_matrix(const std::string& path);
feature_matrix parse_feature_matrix(const std::string& name, std::string_view bytes);

/// A class file: a line of description; "c a"; how many; 1; 6; six letters, one a line; a number from 0 a line.
/// Classes by other letters or in another order become those of class_letters.
///
/// Throws  file_error; parse_error
std::vector<std::uint8_t> read_classes(const std::string& path);

/// The weights of a perceptron without its transform: lines "network_type mlp", "ninps 128" and so on, then numbers.
///
/// Throws  file_error; parse_error
mlp read_mlp_weights(const std::string& path);
mlp parse_mlp_weights(const std::string& name, std::string_view text);

}  // namespace fingerprint
}  // namespace vouch
