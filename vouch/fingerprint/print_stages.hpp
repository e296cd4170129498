// vouch/fingerprint/print_stages.hpp -- the stages for one print, by the calling thread; private. stages.hpp and
// networks.hpp have the contracts; sizes are not checked here.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/networks.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {

/// Throws  shape_error  a page has not width * height pixels
void require_pages(const char* function, std::span<const grey_image> pages);

placement segment_print(const grey_image& page, std::uint8_t* snip, std::uint8_t* foreground);
void enhance_print(const std::uint8_t* snip, std::uint8_t* enhanced);
void find_orientations_of_print(const std::uint8_t* enhanced, std::uint8_t* indices);
void average_print(const std::uint8_t* indices, pixel core, float* averages);
void average_print_finely(const std::uint8_t* indices, float* averages);
pixel core_of_print(const float* averages);
bool is_whorl(const float* averages, const std::uint8_t* foreground);
void transform_print(const feature_matrix& matrix, const float* averages, float* features);

/// nodes becomes as long as the hidden layer, or as there are prototypes.
class_outputs outputs_of(const mlp& network, const float* features, std::vector<float>& nodes);
class_outputs outputs_of(const pnn& network, const float* features, std::vector<float>& nodes);

/// Throws  error  this build can prove nothing
void require_proofs(const char* function);
/// Whether the output of pattern is above all others in exact arithmetic on these averages.
bool is_proved(const mlp& network, const float* averages, int pattern);
bool is_proved(const pnn& network, const float* averages, int pattern);

/// Throws  shape_error  a matrix has not rows * columns numbers, or does not fit the one before it
///         value_error  no prototypes, a smoothing factor that is not positive, a class that is none
void require_network(const char* function, const mlp& network);
void require_network(const char* function, const pnn& network);
/// The same of the transform, too, which has as many features as the network behind it has inputs.
void require_whole_network(const char* function, const mlp& network);
void require_whole_network(const char* function, const pnn& network);

/// The same of the network of that kind, which the model must have.
void require_network_of(const model& networks, network_kind kind);

/// What lies between the stages; a thread keeps it from print to print.
struct print_scratch {
  std::vector<std::uint8_t> snip = std::vector<std::uint8_t>(snip_pixels);
  std::vector<std::uint8_t> enhanced = std::vector<std::uint8_t>(snip_pixels);
  std::vector<std::uint8_t> indices = std::vector<std::uint8_t>(snip_pixels);
  std::vector<std::uint8_t> foreground = std::vector<std::uint8_t>(cells);
  std::vector<float> averages = std::vector<float>(orientation_size);
  std::vector<float> registered = std::vector<float>(orientation_size);
  std::vector<float> fine = std::vector<float>(std::size_t{2} * fine_size);
  std::vector<float> features, nodes;

  /// From the page to the registered averages; core stays as it is where there is no print.
  placement register_print(const grey_image& page, pixel& core) {
    const placement place = segment_print(page, snip.data(), foreground.data());
    if (place.failure != nullptr) return place;
    enhance_print(snip.data(), enhanced.data());
    find_orientations_of_print(enhanced.data(), indices.data());
    average_print(indices.data(), standard_core, averages.data());
    core = core_of_print(averages.data());
    average_print(indices.data(), core, registered.data());
    return place;
  }
};

}  // namespace vouch::fingerprint
