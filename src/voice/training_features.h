// Features for the trainers of the neural anonymiser (audio/feature_pack.h), computed from the
// samples of a speech pack by our own means: the teacher's states, F0 and the speaker embedding.
#pragma once

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "dsp/fbank.h"
#include "nn/adain.h"
#include "speaker/encoder.h"
#include "voice/moonshine_content.h"

namespace sotto {

// F0 in Hz at samples 160·t + 80 (0: unvoiced), ⌈samples/160⌉ frames; x at 16 kHz.
std::vector<float> SynthesisF0(std::span<const float> x);

// Frames as columns.
Eigen::Map<const Eigen::MatrixXf> AsMatrix(const Features& mels);

// Utterances that cannot be embedded are an Error that counts them and names the first.
FeaturePack MakeFeatures(const SpeechPack& pack, const MoonshineContent& teacher,
                         const SpeakerEncoder& encoder, int jobs);

// Puts the vectors of the net's own speaker encoder (utterances up to ten seconds) in the place of
// the embeddings, for MakeSpeakerPool.
void UseSpeakerVectors(const SpeechPack& pack, const AdainNet& net, int jobs,
                       FeaturePack& features);

}  // namespace sotto
