#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "report/evaluation_report.h"
#include "report/utility_report.h"

namespace sotto {

const LadderRow* Lowest(const std::vector<LadderRow>& rows) {
  const std::size_t row = LowestRow(rows);
  return row == LadderResult::kNone ? nullptr : &rows[row];
}

const LadderRow* Unprotected(const Evaluation& evaluation) {
  return Lowest(evaluation.cells.front().attack.ladder.unprotected);
}

Figure ErrorRate(const char* name, const RecogniserJudgement& judgement, Side side,
                 const UtilitySummary::Errors* group) {
  const bool words = std::string_view(name) == "wer", original = side == Side::kOriginal;
  const UtilitySummary::Errors errors =
      group != nullptr ? *group
                       : UtilitySummary::Errors{judgement.original.words, judgement.released.words,
                                                judgement.original.chars, judgement.released.chars};
  const EditCounts& before = words ? errors.words_original : errors.chars_original;
  const EditCounts& after = words ? errors.words_released : errors.chars_released;
  Figure figure;
  figure.name = name;
  figure.remark = WhyNoRate(judgement, before);
  figure.value = !figure.remark.empty() ? std::nan("") : (original ? before : after).Rate();
  if (figure.remark.empty()) figure.counts = {{words ? "n_words" : "n_chars", before.n}};
  if (group == nullptr) {
    figure.interval = words ? (original ? judgement.wer_original : judgement.wer_released)
                            : (original ? judgement.cer_original : judgement.cer_released);
  }
  return figure;
}

const Figure* FindMeasure(const UtilityResult& result, Measure measure) {
  return FindFigure(result.figures, MeasureName(measure));
}

std::string SemiInformedText(const EvaluatedCell& cell) {
  return !cell.attacker_encoder.empty()
             ? fmt::format("full: encoder {}", cell.attacker_encoder_fingerprint.substr(0, 8))
             : "quick: no retrained encoder was given for this protection; back-end, mean and LDA "
               "alone were re-estimated, where background speech was given";
}

std::string ResidualRisk(const LadderResult& attacked, const LadderRow* unprotected) {
  const LadderRow* strongest = Lowest(attacked.rows);
  const Figure* eer = strongest != nullptr ? strongest->Find("eer") : nullptr;
  if (eer == nullptr || std::isnan(eer->value)) {
    return "No attacker was run: nothing is known about the protection.";
  }
  std::string text = fmt::format(
      "The {} attacker tells whether two recordings are of one person with an equal "
      "error rate of {:.1f} %{} (50 % is chance",
      Name(strongest->attacker), 100.0 * eer->value,
      eer->interval ? fmt::format(" [{:.1f}, {:.1f}]", 100.0 * eer->interval->low,
                                  100.0 * eer->interval->high)
                    : "");
  const Figure* before = unprotected != nullptr ? unprotected->Find("eer") : nullptr;
  const bool known = before != nullptr && std::isfinite(before->value);
  if (known) text += fmt::format("; {:.1f} % without protection", 100.0 * before->value);
  text += "). ";
  if (known && eer->interval && before->interval && eer->interval->low <= before->interval->high) {
    text +=
        "That is within the intervals of unprotected speech: against this attacker no protection "
        "was shown.";
  } else if (eer->value < 0.1) {
    text += "This attacker links most recordings of a person: the risk is high.";
  } else if (eer->value < 0.3) {
    text += "Recordings of a person can still be linked far better than by chance.";
  } else if (eer->value < 0.4) {
    text += "Linking is weak but clearly better than by chance.";
  } else {
    text += "None of the attackers that were run linked recordings much better than by chance.";
  }
  std::string missing;
  for (const std::size_t i : LowestRows(attacked.rows)) {
    if (attacked.rows[i].ran) continue;
    missing += (missing.empty() ? "" : ", ") + Name(attacked.rows[i].attacker);
  }
  if (!missing.empty()) text += fmt::format(" Not run: {}.", missing);
  text +=
      " A stronger attacker may exist. Words, rhythm, accent and background are not hidden by a "
      "change of voice.";
  return text;
}

}  // namespace sotto
