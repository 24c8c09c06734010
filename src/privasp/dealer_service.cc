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
#include "privasp/segment_files.h"

namespace sotto {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // when nothing is needed
constexpr auto kLongPause =
    std::chrono::milliseconds(500);  // when a server refuses or is not there
constexpr const char* kAll = "";     // warnings that are of no one model
constexpr const char* kMasks = ".masks";

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
  for (const auto& file : std::filesystem::directory_iterator(config_.state)) {
    if (file.path().extension() == kMasks) known_[file.path().stem().string()] = {};
  }
  thread_ = std::thread([this] { Loop(); });
  log_.Info("dealing");
}

DealerService::~DealerService() { Stop(); }

void DealerService::Stop() {
  if (stopping_.exchange(true)) return;
  thread_.join();
  log_.Info("stopped", {{"utterances", static_cast<std::int64_t>(delivered_)}});
}

void DealerService::WarnOnce(const std::string& about, const std::string& reason) {
  std::string& last = warnings_[about];
  if (reason != last) log_.Warn("not dealing", {{"reason", reason}, {"model", about}});
  last = reason;
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
        for (auto& [id, model] : known_) model.listed = std::chrono::steady_clock::now();
      }
      const Dealt dealt = Round(lines);
      warnings_.erase(kAll);
      if (dealt == Dealt::kSome) continue;
      if (dealt == Dealt::kRefused) pause = kLongPause;
    } catch (const std::exception& error) {
      WarnOnce(kAll, error.what());
      lines = {};
      pause = kLongPause;
    }
    std::this_thread::sleep_for(pause);
  }
}

DealerService::Dealt DealerService::Round(Lines& lines) {
  const std::array demands = {lines[0]->Ask<DemandMessage>(AskDemandMessage{}),
                              lines[1]->Ask<DemandMessage>(AskDemandMessage{})};
  ForgetUnlisted(demands);
  const auto& [first, second] = demands;
  bool some = false, refused = false;
  for (const ModelDemand& one : first.models) {
    const auto other =
        std::find_if(second.models.begin(), second.models.end(),
                     [&](const ModelDemand& model) { return model.card.id == one.card.id; });
    if (other == second.models.end()) continue;
    const std::string id = HexText(one.card.id);
    try {
      if (!Know(lines, one, *other)) continue;
      const std::uint32_t room = std::min(one.room, other->room);
      // Whole segments: a sync of the disk for each.
      const std::uint32_t count = std::min(room, config_.limits.segment);
      if (count == 0 || stopping_) continue;
      Deliver(lines, one.card, count);
      warnings_.erase(id);
      some = true;
    } catch (const Refused& reason) {
      // The other models go on.
      WarnOnce(id, reason.what());
      refused = true;
    }
  }
  return refused ? Dealt::kRefused : some ? Dealt::kSome : Dealt::kNone;
}

bool DealerService::Know(Lines& lines, const ModelDemand& first, const ModelDemand& second) {
  const ModelCard& card = first.card;
  const std::string id = HexText(card.id);
  const std::filesystem::path path = MasksOf(id);
  const bool shared = card.scenario == Scenario::kSharedModel;
  if (second.card != card) {
    WarnOnce(id, "the servers say different things of a model");
    return false;
  }
  try {
    if (!dealer_.Has(card.id)) {
      if (shared && std::filesystem::exists(path)) {
        dealer_.RestoreModel(card, LoadMasks(path));
      } else if (!shared || (first.masks == Digest{} && second.masks == Digest{})) {
        dealer_.AddModel(card);
      } else {
        WarnOnce(id, "the servers have masks of a model that this dealer does not: load it anew");
        return false;
      }
    }
    known_[id] = {card.id, std::chrono::steady_clock::now()};
    // On disk before a server has them.
    if (shared && !std::filesystem::exists(path)) SaveMasks(path, dealer_.Masks(card.id));
  } catch (const Error& error) {
    // The file is damaged, or the disk full.
    throw Refused(Reason::kStorage, error.what());
  }
  if (!shared) return true;
  const auto masks = dealer_.Masks(card.id);
  const Digest has[] = {first.masks, second.masks};
  for (std::size_t p = 0; p < 2; ++p) {
    if (has[p] == Digest{}) {
      lines[p]->Ask<AcceptedMessage>(masks[p]);
      log_.Info("masks sent", {{"model", id}, {"server", std::int64_t(p) + 1}});
    } else if (has[p] != DigestOf(masks[p].Serialise())) {
      // With these its results would be wrong without a sign of it.
      WarnOnce(id, "a server has other masks of a model than this dealer: load it anew");
      return false;
    }
  }
  return true;
}

std::filesystem::path DealerService::MasksOf(const std::string& id) const {
  return config_.state / (id + kMasks);
}

// The masks and what a server knows give the model, so they are not kept longer than they serve.
void DealerService::ForgetUnlisted(const std::array<DemandMessage, 2>& demands) {
  const auto now = std::chrono::steady_clock::now();
  for (const DemandMessage& demand : demands) {
    for (const ModelDemand& model : demand.models) {
      const auto known = known_.find(HexText(model.card.id));
      if (known != known_.end()) known->second.listed = now;
    }
  }
  const auto oldest = now - std::chrono::duration<double>(config_.limits.forget_s);
  for (auto it = known_.begin(); it != known_.end();) {
    const auto& [id, model] = *it;
    if (model.listed > oldest) {
      ++it;
      continue;
    }
    EraseFile(MasksOf(id));
    dealer_.RemoveModel(model.id);
    warnings_.erase(id);
    log_.Info("model forgotten", {{"model", id}});
    it = known_.erase(it);
  }
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
}

}  // namespace sotto
