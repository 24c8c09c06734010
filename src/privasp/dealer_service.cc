#include "privasp/dealer_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/private_folder.h"
#include "base/random.h"

namespace sotto {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);       // when nothing is needed
constexpr auto kLongPause = std::chrono::milliseconds(500);  // when a server is not there

// Both servers' masks of a model, one after the other; a message has a fixed length.
void SaveMasks(const std::filesystem::path& path, const std::array<MaskShareMessage, 2>& masks) {
  SecretBytes bytes = masks[0].Serialise();
  const SecretBytes second = masks[1].Serialise();
  bytes.insert(bytes.end(), second.begin(), second.end());
  WritePrivateFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::array<MaskShareMessage, 2> LoadMasks(const std::filesystem::path& path) {
  std::string text = ReadTextFile(path);
  const SecretBytes bytes(text.begin(), text.end());
  Wipe(text);
  const std::span<const std::uint8_t> all(bytes);
  const std::size_t half = all.size() / 2;
  return {MaskShareMessage::Parse(all.first(half)), MaskShareMessage::Parse(all.subspan(half))};
}

}  // namespace

DealerService::DealerService(const PartyConfig& config, EventLog log)
    : config_(config), log_(std::move(log)), party_(config_.files) {
  if (party_.Own().role != Role::kDealer) {
    throw Error(fmt::format("a dealer's certificate is of role dealer; this one is {}",
                            RoleName(party_.Own().role)));
  }
  CheckConfig(config_, party_.Own());
  MakePrivateFolder(config_.state, "");
  thread_ = std::thread([this] { Loop(); });
  log_.Info("dealing");
}

DealerService::~DealerService() { Stop(); }

void DealerService::Stop() {
  if (stopping_.exchange(true)) return;
  thread_.join();
  log_.Info("stopped", {{"utterances", static_cast<std::int64_t>(delivered_)}});
}

void DealerService::WarnOnce(const std::string& reason) {
  if (reason != last_warning_) log_.Warn("not dealing", {{"reason", reason}});
  last_warning_ = reason;
}

void DealerService::Loop() {
  Lines lines;
  while (!stopping_) {
    auto pause = kPause;
    try {
      for (std::size_t p = 0; p < 2; ++p) {
        if (lines[p]) continue;
        lines[p] = std::make_unique<Conversation>(
            party_, config_, p == 0 ? Role::kFirstServer : Role::kSecondServer);
      }
      if (Round(lines)) continue;
    } catch (const Refused& refused) {
      WarnOnce(refused.what());
      pause = kLongPause;
    } catch (const Error& error) {
      WarnOnce(error.what());
      lines = {};
      pause = kLongPause;
    }
    std::this_thread::sleep_for(pause);
  }
}

bool DealerService::Round(Lines& lines) {
  const auto first = lines[0]->Ask<DemandMessage>(AskDemandMessage{});
  const auto second = lines[1]->Ask<DemandMessage>(AskDemandMessage{});
  bool dealt = false;
  for (const ModelDemand& one : first.models) {
    const auto other =
        std::find_if(second.models.begin(), second.models.end(),
                     [&](const ModelDemand& model) { return model.card.id == one.card.id; });
    if (other == second.models.end()) continue;
    if (other->card != one.card) {
      WarnOnce("the servers say different things of a model");
      continue;
    }
    if (!Know(lines, one, *other)) continue;
    const std::uint32_t room = std::min(one.room, other->room);
    // Whole segments: a sync of the disk for each.
    const std::uint32_t count = std::min(room, config_.limits.segment);
    if (count == 0 || stopping_) continue;
    Deliver(lines, one.card, count);
    dealt = true;
  }
  return dealt;
}

bool DealerService::Know(Lines& lines, const ModelDemand& first, const ModelDemand& second) {
  const ModelCard& card = first.card;
  const std::filesystem::path path = config_.state / (HexText(card.id) + ".masks");
  const bool shared = card.scenario == Scenario::kSharedModel;
  if (!dealer_.Has(card.id)) {
    if (!shared) {
      dealer_.AddModel(card);
    } else if (std::filesystem::exists(path)) {
      dealer_.RestoreModel(card, LoadMasks(path));
    } else if (first.masks == Digest{} && second.masks == Digest{}) {
      dealer_.AddModel(card);
      // On disk before a server has them.
      SaveMasks(path, dealer_.Masks(card.id));
    } else {
      WarnOnce("the servers have masks of a model that this dealer does not: load it anew");
      return false;
    }
  }
  if (!shared) return true;
  const auto masks = dealer_.Masks(card.id);
  const Digest has[] = {first.masks, second.masks};
  for (std::size_t p = 0; p < 2; ++p) {
    if (has[p] == Digest{}) {
      lines[p]->Ask<AcceptedMessage>(masks[p]);
      log_.Info("masks sent", {{"model", HexText(card.id)}, {"server", std::int64_t(p) + 1}});
    } else if (has[p] != DigestOf(masks[p].Serialise())) {
      // With these its results would be wrong without a sign of it.
      WarnOnce("a server has other masks of a model than this dealer: load it anew");
      return false;
    }
  }
  return true;
}

void DealerService::Deliver(Lines& lines, const ModelCard& card, std::uint32_t count) {
  std::array<SegmentMessage, 2> halves;
  SecureRandomBytes(halves[0].id);
  halves[0].model = card.id;
  halves[1].id = halves[0].id;
  halves[1].model = card.id;
  for (const auto& dealt : dealer_.Deal(card.id, count)) {
    for (std::size_t p = 0; p < 2; ++p) halves[p].pieces.push_back(dealt[p].Serialise());
  }
  const auto send = [&](std::size_t p) { lines[p]->Ask<AcceptedMessage>(halves[p]); };
  // A half whose other half does not arrive is dropped by the servers when they compare.
  auto second = std::async(std::launch::async, send, 1);
  send(0);
  second.get();
  delivered_ += count;
  last_warning_.clear();
}

}  // namespace sotto
