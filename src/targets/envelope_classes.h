// Pseudo-phonetic classes of a voice: spectral envelopes, level taken out, in k clusters.
//
// A frame's feature is its log power envelope at kEnvelopePoints from 0 to 8 kHz minus the mean
// over those points, so that a loud and a soft vowel are one class. The distance is Euclidean, here
// and where classes of two speakers are compared (targets/vtln.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

// The feature of one envelope of `bins` values from 0 Hz to `top_hz` ≥ 8 kHz.
void EnvelopeFeature(std::span<const float> power, double top_hz, std::span<float> feature);

void RemoveMean(std::span<float> feature);

double SquaredDistance(std::span<const float> a, std::span<const float> b);

struct Clusters {
  std::vector<float> centroids;  // k × dimension
  std::vector<int> labels;       // of each row
  double inertia = 0.0;          // Σ squared distance to the own centroid
};

// Lloyd's k-means with the k-means++ start of Arthur & Vassilvitskii (2007), the best of `restarts`
// runs. `rows` is n × dimension; the same rows give the same clusters (the draws are seeded:
// nothing here protects anybody). Throws Error when there are fewer rows than k.
Clusters KMeans(std::span<const float> rows, std::size_t dimension, std::size_t k,
                int restarts = 16);

// The centroid nearest to `feature`.
std::size_t NearestCentroid(std::span<const float> centroids, std::span<const float> feature);

}  // namespace sotto
