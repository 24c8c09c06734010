// The models of a server: which are here, which are offered, and which go.
#include <fmt/format.h>

#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/private_folder.h"
#include "privasp/server_service.h"

namespace sotto {

void ServerService::OpenModels() {
  const std::filesystem::path folder = config_.state / "models";
  MakePrivateFolder(folder, "");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    if (!std::filesystem::exists(entry.path() / "model")) {
      // A model that was being loaded, or destroyed, when the server ended.
      std::filesystem::remove_all(entry.path());
      continue;
    }
    auto model = std::make_shared<ServedModel>(
        entry.path(), second_, config_, holdings_, log_, [this] { Do([] {}); }, nullptr);
    log_.Info("model here", {{"model", model->Offer().name}, {"id", HexText(model->Card().id)}});
    models_[model->Card().id] = std::move(model);
  }
}

void ServerService::LoadModel(const LoadModelMessage& load) {
  const ModelId& id = load.offer.card.id;
  const std::scoped_lock one(loading_);
  {
    const std::scoped_lock lock(models_mutex_);
    if (models_.contains(id)) throw Refused(Reason::kModel, "a model of this id is here already");
    if (models_.size() >= kMostModels) {
      throw Refused(Reason::kModel, fmt::format("{} models are here already", models_.size()));
    }
  }
  const std::filesystem::path folder = config_.state / "models" / HexText(id);
  std::shared_ptr<ServedModel> model;
  try {
    model = std::make_shared<ServedModel>(
        folder, second_, config_, holdings_, log_, [this] { Do([] {}); }, &load);
  } catch (const Error& error) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    const auto* refused = dynamic_cast<const Refused*>(&error);
    throw Refused(refused != nullptr ? refused->Why() : Reason::kModel, error.what());
  }
  {
    const std::scoped_lock lock(models_mutex_);
    models_[id] = model;
  }
  log_.Info("model loaded", {{"model", load.offer.name}, {"id", HexText(id)}});
  Do([this, model] { Announce(*model); });
}

void ServerService::Retire(const RetireMessage& asked) {
  const std::string& name = asked.name;
  bool any = false;
  for (const auto& model : AllModels()) {
    if (model->Offer().name != name) continue;
    if (asked.id != ModelId{} && model->Card().id != asked.id) continue;
    model->Drain();
    Do([this, model] { Announce(*model); });
    any = true;
    log_.Info("model retired", {{"model", name}, {"id", HexText(model->Card().id)}});
  }
  if (!any) throw Refused(Reason::kModel, fmt::format("no model '{}' is here", name));
}

ServerService::Models ServerService::AllModels() const {
  const std::scoped_lock lock(models_mutex_);
  Models all;
  for (const auto& [id, model] : models_) all.push_back(model);
  return all;
}

std::shared_ptr<ServedModel> ServerService::FindOrNull(const ModelId& id) const {
  const std::scoped_lock lock(models_mutex_);
  const auto found = models_.find(id);
  return found == models_.end() ? nullptr : found->second;
}

std::shared_ptr<ServedModel> ServerService::Find(const ModelId& id) const {
  auto model = FindOrNull(id);
  if (!model) throw Refused(Reason::kModel, "no model of this id is here");
  return model;
}

// The newest that fits and is ready.
std::shared_ptr<ServedModel> ServerService::Offered(const AskOfferMessage& asked) const {
  std::shared_ptr<ServedModel> best;
  bool any = false;
  for (const auto& model : AllModels()) {
    if (!asked.name.empty() && model->Offer().name != asked.name) continue;
    if (asked.id != ModelId{} && model->Card().id != asked.id) continue;
    any = true;
    if (!model->Active()) continue;
    const bool better = !best || std::pair(model->Usable(), model->LoadedAt()) >
                                     std::pair(best->Usable(), best->LoadedAt());
    if (better) best = model;
  }
  if (best) return best;
  throw Refused(Reason::kModel,
                any ? fmt::format("model '{}' is not ready: {}", asked.name,
                                  link_.Up() ? "it waits for the dealer or the other server"
                                             : "the other server is not there")
                    : fmt::format("no model '{}' is here", asked.name));
}

// A model of a name takes the place of older ones as soon as it has material. The first server says
// when and the second follows, so that a client never finds one model here and another there; what
// the first does not have any more goes too.
void ServerService::DrainReplaced() {
  const Models all = AllModels();
  for (const auto& newer : all) {
    if (!newer->Usable()) continue;
    for (const auto& older : all) {
      if (older->Draining() || older->Offer().name != newer->Offer().name ||
          older->LoadedAt() >= newer->LoadedAt() || (second_ && older->Active())) {
        continue;
      }
      older->Drain();
      Announce(*older);
      log_.Info("model replaced", {{"model", older->Offer().name},
                                   {"id", HexText(older->Card().id)},
                                   {"by", HexText(newer->Card().id)}});
    }
  }
}

void ServerService::DropDrained() {
  for (const auto& model : AllModels()) {
    if (!model->Draining() || !model->Idle()) continue;
    {
      const std::scoped_lock lock(models_mutex_);
      models_.erase(model->Card().id);
    }
    model->Destroy();
    log_.Info("model gone", {{"model", model->Offer().name}, {"id", HexText(model->Card().id)}});
  }
}

}  // namespace sotto
