// vouch/fingerprint/slit_vectors.hpp -- the directions of slits; private.
#pragma once

namespace vouch::fingerprint {

inline constexpr int slits = 8;

/// Unit vectors of twice the slits' angles, over the pixels of a square.
struct slit_vectors {
  float x[slits], y[slits];
};

/// The original's pi has six digits; what was trained with it has seen its errors.
const slit_vectors& vectors_of_slits();

}  // namespace vouch::fingerprint
