#include "targets/pool.h"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "targets/vtln.h"

namespace sotto {

extern const std::string_view kDefaultPoolBytes;

namespace {

constexpr std::string_view kPoolMagic = "SOTTOVP1", kProfileMagic = "SOTTOVU1";

std::uint32_t Checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void PutU32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

void PutFloat(std::string& out, double value) {
  PutU32(out, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

void PutVoices(std::string& out, const std::vector<VoiceModel>& voices) {
  PutU32(out, static_cast<std::uint32_t>(voices.size()));
  PutU32(out, kVoiceClasses);
  PutU32(out, kEnvelopePoints);
  for (const VoiceModel& voice : voices) {
    if (voice.name.empty() || voice.name.size() > 255) {
      throw Error(fmt::format("speaker '{}': 1 to 255 bytes are allowed in a name", voice.name));
    }
    out += static_cast<char>(voice.name.size());
    out += voice.name;
    out += static_cast<char>(voice.gender);
    PutFloat(out, voice.log_f0_mean);
    PutFloat(out, voice.log_f0_deviation);
    for (const float value : voice.centroids) PutFloat(out, value);
  }
}

class Parser {
 public:
  Parser(std::string_view bytes, std::string_view magic, std::string where, const char* kind)
      : where_(std::move(where)) {
    if (bytes.size() < magic.size() + 4 || bytes.substr(0, magic.size()) != magic) {
      Fail(fmt::format("not a {} of this version", kind));
    }
    left_ = bytes.substr(bytes.size() - 4);
    checksum_ = U32();
    left_ = bytes.substr(0, bytes.size() - 4);
    if (Checksum(left_) != checksum_) Fail("the checksum is wrong (cut short or damaged)");
    left_.remove_prefix(magic.size());
  }

  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(fmt::format("'{}': {}", where_, what));
  }

  std::uint32_t FileChecksum() const { return checksum_; }

  std::string_view Bytes(std::size_t count) {
    if (left_.size() < count) Fail("cut short");
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }

  std::uint8_t U8() { return static_cast<std::uint8_t>(Bytes(1)[0]); }

  std::uint32_t U32() {
    std::uint32_t value = 0;
    const std::string_view bytes = Bytes(4);
    for (std::size_t i = 0; i < 4; ++i) {
      value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])) << (8 * i);
    }
    return value;
  }

  float Float(const char* name, float lo, float hi) {
    const auto value = std::bit_cast<float>(U32());
    if (!(value >= lo && value <= hi)) {
      Fail(fmt::format("{} {}: {} to {} is allowed", name, value, lo, hi));
    }
    return value;
  }

  std::vector<VoiceModel> Voices() {
    const std::uint32_t count = U32(), classes = U32(), points = U32();
    if (classes != kVoiceClasses || points != kEnvelopePoints) {
      Fail(fmt::format("{} classes of {} points: {} of {} are allowed", classes, points,
                       kVoiceClasses, kEnvelopePoints));
    }
    constexpr std::size_t kLeast = 11 + 4 * kVoiceClasses * kEnvelopePoints;  // bytes of a voice
    if (count == 0 || count > left_.size() / kLeast) {
      Fail(fmt::format("{} speakers: at least 1 and no more than the file has room for", count));
    }
    std::vector<VoiceModel> voices(count);
    std::set<std::string_view> names;
    for (VoiceModel& voice : voices) {
      voice.name = Bytes(U8());
      if (voice.name.empty()) Fail("a speaker without a name");
      if (!names.insert(voice.name).second) Fail(fmt::format("two speakers '{}'", voice.name));
      const auto gender = static_cast<char>(U8());
      if (gender != 'F' && gender != 'M' && gender != '?') Fail("gender: F, M or ? is allowed");
      voice.gender = static_cast<Gender>(gender);
      voice.log_f0_mean = Float("mean ln F0", 3.0F, 7.0F);  // 20 … 1097 Hz
      voice.log_f0_deviation = Float("deviation of ln F0", 1e-3F, 2.0F);
      voice.centroids.resize(kVoiceClasses * kEnvelopePoints);
      for (float& value : voice.centroids) value = Float("envelope", -100.0F, 100.0F);
    }
    return voices;
  }

  void End() const {
    if (!left_.empty()) Fail(fmt::format("{} bytes too many", left_.size()));
  }

 private:
  std::string where_;
  std::string_view left_;
  std::uint32_t checksum_ = 0;
};

}  // namespace

std::string SerialisePool(const VoicePool& pool) {
  std::string out(kPoolMagic);
  PutVoices(out, pool.voices);
  PutU32(out, Checksum(out));
  return out;
}

std::string SerialiseProfile(const VoiceProfile& profile) {
  std::string out(kProfileMagic);
  PutVoices(out, profile.voices);
  PutU32(out, profile.pool_checksum);
  PutU32(out, static_cast<std::uint32_t>(profile.pool_size));
  for (const ClassTargets& targets : profile.targets) {
    for (const ClassTarget& target : targets) {
      out += static_cast<char>(target.target_class);
      out += static_cast<char>(target.step);
    }
  }
  PutU32(out, Checksum(out));
  return out;
}

VoicePool ParsePool(std::string_view bytes, const std::string& where) {
  Parser parser(bytes, kPoolMagic, where, "pool");
  VoicePool pool;
  pool.voices = parser.Voices();
  pool.checksum = parser.FileChecksum();
  parser.End();
  return pool;
}

VoiceProfile ParseProfile(std::string_view bytes, const std::string& where) {
  Parser parser(bytes, kProfileMagic, where, "profile");
  VoiceProfile profile;
  profile.voices = parser.Voices();
  profile.pool_checksum = parser.U32();
  profile.pool_size = parser.U32();
  for (std::size_t v = 0; v < profile.voices.size(); ++v) {
    for (std::size_t p = 0; p < profile.pool_size; ++p) {
      ClassTargets targets;
      for (ClassTarget& target : targets) {
        target.target_class = parser.U8();
        target.step = parser.U8();
        if (target.target_class >= kVoiceClasses || target.step >= kWarpSteps) {
          parser.Fail("a class or a factor that does not exist");
        }
      }
      profile.targets.push_back(targets);
    }
  }
  parser.End();
  return profile;
}

const VoicePool& DefaultPool() {
  static const VoicePool pool = ParsePool(kDefaultPoolBytes, "default pool");
  return pool;
}

VoicePool ReadPool(const std::filesystem::path& path) {
  return path.empty() ? DefaultPool() : ParsePool(ReadTextFile(path), path.string());
}

}  // namespace sotto
