// What the other verbs print of what they did: text, or `json`. `file` and `folder` are where it
// was written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sotto {

struct AnonymiseReport;
struct BuiltPool;
struct CalibratedEncoder;
struct CorpusCheck;
struct EmbeddedCorpus;
struct FeaturePack;
struct ProtectReport;
struct RecordingFeatures;
struct ScoreSetOptions;
struct SetScores;
struct SpeakerPool;
struct SpeechPack;
struct TrainedIvector;
struct Verification;
struct VoicePool;
struct VoiceProfile;
class PseudoSpeakers;
class SpeakerEncoder;

std::string PrintedRun(const AnonymiseReport& report, int jobs, bool json);
std::string PrintedCheck(const CorpusCheck& check, bool json);
std::string PrintedFeatures(const std::vector<RecordingFeatures>& recordings,
                            const std::string& folder, bool json);

std::string PrintedEmbeddings(const EmbeddedCorpus& embedded, const SpeakerEncoder& encoder,
                              double seconds, const std::string& folder, bool json);
std::string PrintedVerification(const Verification& verification, const SpeakerEncoder& encoder,
                                bool json);
std::string PrintedProtection(const ProtectReport& protection, const std::string& folder,
                              bool json);
// What was measured on the protected voiceprints: in lines for whoever runs it, and as the file of
// ProtectOptions::private_report. No part of the release.
std::vector<std::string> PrivateNotes(const ProtectReport& protection);
std::string PrivateReport(const ProtectReport& protection, const std::string& version);
// No file: the scores themselves.
std::string PrintedScores(const SetScores& scores, const ScoreSetOptions& options,
                          const std::string& file, bool json);

std::string PrintedPool(const BuiltPool& built, std::size_t bytes, const std::string& file,
                        bool json);
std::string PrintedProfile(const VoiceProfile& profile, const VoicePool& pool,
                           const std::string& file, bool json);
std::string PackText(const SpeechPack& pack);  // "12 utterances, 0.02 h"
// Features that took so many seconds.
std::string PrintedFeaturePack(const SpeechPack& pack, const FeaturePack& features, double seconds,
                               const std::string& file, bool json);
std::string PrintedSpeakerPool(const SpeakerPool& pool, const PseudoSpeakers& generator,
                               const std::string& file, bool json);
std::string PrintedCalibration(const CalibratedEncoder& calibrated, const std::string& file,
                               bool json);
std::string PrintedIvector(const TrainedIvector& trained, const std::string& file, bool json);

}  // namespace sotto
