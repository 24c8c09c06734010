// Fits the tagger to marked sentences: stochastic gradient descent on the loss of the conditional
// random field with a rate of its own for each weight (AdaGrad, Duchi et al. 2011) and L1 and L2
// penalties as proximal steps on the weights a sentence touches. Features that few sentences have
// get no weights; of the others those with the largest weights stay, and are fitted once more among
// themselves. The same options and corpora give the same model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "text/entity_scores.h"
#include "text/labelled_corpora.h"
#include "text/tagger.h"
#include "text/tagger_augmentation.h"

namespace sotto {

struct TaggerTrainingOptions {
  AugmentationOptions augmentation;
  std::uint64_t seed = 1;
  int epochs = 4;        // with all features
  int final_epochs = 8;  // with those that stay
  double rate = 0.12;    // of AdaGrad
  double l1 = 1e-7, l2 = 1e-6;
  int least_count = 3;            // of a feature in the training sentences and their transcripts
  std::size_t features = 150000;  // that stay

  // Throws Error that names the option, its value and what is allowed.
  void Validate() const;
};

// `said` hears a line for each epoch.
TaggerModel TrainTagger(std::span<const LabelledCorpus> corpora, const NameLists& names,
                        const TaggerTrainingOptions& options,
                        const std::function<void(const std::string&)>& said = {});

// The table of thresholds for recalls 0.5 … 0.999, from the sentences for tuning as they are and as
// transcripts, each corpus with the same weight.
std::vector<RecallPoint> RecallTable(const Tagger& tagger, std::span<const LabelledCorpus> corpora);

// Types that a corpus marks.
std::vector<EntityType> AnnotatedTypes(const LabelledCorpus& corpus);

// A corpus's sentences of a part, as they are or as transcripts; `threshold` ≤ 1: LabelsAbove.
EntityScores ScoreTagger(const Tagger& tagger, const LabelledCorpus& corpus, CorpusPart part,
                         bool transcripts, double threshold = 2.0);

}  // namespace sotto
