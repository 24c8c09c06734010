#include "text/replacement_epsilon.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Shown(double eps) { return std::isinf(eps) ? "∞" : fmt::format("{:.3f}", eps); }

// ln of the least share of any surrogate, whatever is told.
double LogLeastShare(const Replacer& replacer, EntityType type) {
  const ReplacementOptions& options = replacer.Options();
  const bool pattern = static_cast<std::size_t>(type) >= kTaggedTypes;
  if (pattern && options.keep_format) return -kInfinity;
  double least = 0.0;
  for (const auto& condition :
       replacer.Of().Conditions(type, options.keep_gender, options.keep_format)) {
    least = std::min(least, replacer.Of().LogLeastShare(type, condition));
  }
  return least;
}

std::vector<std::string> ToldBy(const ReplacementOptions& options) {
  std::vector<std::string> told = {
      "that an entity of this type stands there, and the words around it"};
  if (options.with == ReplaceWith::kSurrogate && options.keep_gender) {
    told.emplace_back("the gender of a first name");
  }
  if (options.with == ReplaceWith::kSurrogate && options.keep_format) {
    told.emplace_back("the form of an entity: number of words, capitals, digits and separators");
  }
  if (options.consistent) told.emplace_back("which mentions of a dialogue are of one entity");
  return told;
}

}  // namespace

double ReplacementEpsilon(double p, double log_least_share) {
  if (!(p >= 0.0 && p <= 1.0)) throw Error(fmt::format("p {}: 0 to 1 is allowed", p));
  if (!(log_least_share <= 0.0)) {
    throw Error(fmt::format("ln of a share {}: up to 0 is allowed", log_least_share));
  }
  if (p == 1.0) return 0.0;
  if (p == 0.0) return kInfinity;
  // ln(1 + x) with x = (1 − p)/(p·π), by ln x: shares of long numbers are below all doubles.
  const double log_x = std::log1p(-p) - std::log(p) - log_least_share;
  return log_x > 0.0 ? log_x + std::log1p(std::exp(-log_x)) : std::log1p(std::exp(log_x));
}

EpsilonStatement StateEpsilon(const Replacer& replacer, const MissedShares& missed) {
  const ReplacementOptions& options = replacer.Options();
  EpsilonStatement statement;
  statement.told = ToldBy(options);
  statement.source_eps = 0.0;
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (!options.types[i]) continue;
    ClassEpsilon of;
    of.type = static_cast<EntityType>(i);
    of.p = options.ChanceOf(of.type).Value();
    of.missed = missed[i];
    of.log_least_share =
        options.with == ReplaceWith::kPlaceholder ? -kInfinity : LogLeastShare(replacer, of.type);
    of.eps = ReplacementEpsilon(of.p, of.log_least_share);
    if (of.missed) {
      if (!(*of.missed >= 0.0 && *of.missed <= 1.0)) {
        throw Error(fmt::format("share of missed entities of type {}: {}; 0 to 1 is allowed",
                                EntityName(of.type), *of.missed));
      }
      of.source_eps = ReplacementEpsilon(of.p * (1.0 - *of.missed), of.log_least_share);
    }
    statement.eps = std::max(statement.eps, of.eps);
    if (!of.source_eps) {
      statement.source_eps.reset();
    } else if (statement.source_eps) {
      statement.source_eps = std::max(*statement.source_eps, *of.source_eps);
    }
    statement.classes.push_back(of);
  }
  if (statement.classes.empty()) statement.source_eps.reset();
  return statement;
}

std::string EpsilonText(const EpsilonStatement& statement) {
  std::string text;
  for (const ClassEpsilon& of : statement.classes) {
    text +=
        fmt::format("{:8} ε {:>7} of an entity that is found", EntityName(of.type), Shown(of.eps));
    text += of.missed
                ? fmt::format("; {:.1f} % are missed and stay: ε ∞ for them", 100.0 * *of.missed)
                : "; what share is missed and stays (ε ∞) is not known";
    if (of.source_eps) text += fmt::format(" [the source's reading: {}]", Shown(*of.source_eps));
    text += '\n';
  }
  text += fmt::format("all      ε {:>7} of an entity that is found", Shown(statement.eps));
  if (statement.source_eps) {
    text += fmt::format(" [the source's reading: {}]", Shown(*statement.source_eps));
  }
  text += "; k entities of one person cost k times as much\ntold whatever ε is: ";
  for (std::size_t i = 0; i < statement.told.size(); ++i) {
    text += (i > 0 ? "; " : "") + statement.told[i];
  }
  return text + '\n';
}

void ReplacementAccount::Add(const ReplacedText& text, Budget* budget) {
  std::set<std::uint64_t> fresh;
  std::map<std::pair<EntityType, double>, std::uint64_t> costs;
  for (const auto& draw : text.draws) {
    if (seen_.contains(draw.id) || !fresh.insert(draw.id).second) continue;
    ++costs[{draw.type, draw.eps}];
  }
  if (budget != nullptr) {
    for (const auto& [what, count] : costs) {
      if (std::isinf(what.second)) {
        throw Error(
            fmt::format("type {}: ε is ∞, which no budget holds; raise p to 1, or take "
                        "surrogates and p above 0",
                        EntityName(what.first)));
      }
    }
    for (const auto& [what, count] : costs) {
      if (what.second == 0.0) continue;  // at p = 1 nothing is spent
      auto event = PrivacyEvent::Pure(what.second, "text-replacement");
      event.count = count;
      budget->Spend(event);
    }
  }
  for (const auto& [what, count] : costs) {
    OfType& of = types_[static_cast<std::size_t>(what.first)];
    of.draws += count;
    of.largest_eps = std::max(of.largest_eps, what.second);
    if (what.second > 0.0) total_ += static_cast<double>(count) * what.second;
  }
  for (std::size_t i = 0; i < kEntityTypes; ++i) types_[i].entities += text.counts[i];
  seen_.merge(fresh);
}

}  // namespace sotto
