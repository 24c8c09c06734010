// A tagger of words (who, where, when) that learns from labelled sentences: what the F1 of table 4
// in the COMPRISE deliverable D2.2 (Adelani et al. 2020, § 2.4) is measured with. There it is
// Flair's BiLSTM-CRF (Huang, Xu & Yu 2015) on BERT's vectors; here it learns its own vectors:
//   word vectors (words seen at least `least_count` times; others, and some of the rest at random
//   (`word_dropout`), share one), beside what a convolution of width 3 makes of the word's bytes
//   (the most over the word; Ma & Hovy 2016), a layer of LSTMs in both directions, a linear layer,
//   and a linear-chain CRF that lets nothing but BIO through (chain_crf.h).
// As in the source: mini-batches of 32, at most 50 epochs, the learning rate halved when the loss
// on development data does not improve. Other than there: AdamW instead of plain gradient descent,
// and the net kept is that of the least development loss, at which training ends when patience
// does.
//
// A sentence is one row of words: nothing is known of its neighbours. Words are taken as they are
// written; a word of more than 24 bytes is known to the convolution by its first 24.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "learn/options.h"
#include "learn/trainer.h"
#include "text/tagged_sentences.h"

namespace sotto {

struct SequenceTaggerTraining {
  RunOptions run;
  std::int64_t epochs = 50, batch = 32;
  std::int64_t words = 100, bytes = 25, filters = 30;  // sizes of vectors, and of the convolution
  std::int64_t hidden = 128;                           // of the LSTM of each direction
  std::int64_t least_count = 2;
  double word_dropout = 0.05, dropout = 0.5;  // dropout: of the LSTMs' input and output

  SequenceTaggerTraining() {
    run.learning_rate = 2e-3;
    run.final_learning_rate = 1e-5;
    run.warm_up = 50;
    run.weight_decay = 0.0;
    run.average = 0.0;
    run.keep_best = true;
    run.halve_after = 1;
    run.patience = 4;
  }
  static const OptionTable<SequenceTaggerTraining>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

using TagRows = std::vector<std::vector<BioLabel>>;  // of sentences, a label for each word

// Its curve has the losses per sentence: dev_loss, and training_loss since the validation before.
struct TrainedSequenceTagger {
  std::vector<TagRows> tags;  // of each list of sentences that was to be tagged, by the best net
  std::vector<TrainingPoint> curve;
  std::int64_t best_step = 0;
  std::int64_t parameters = 0;
};

// `run.steps` and `run.validate_every` follow from the epochs. The same on one machine for the same
// seed and number of threads.
TrainedSequenceTagger TrainSequenceTagger(const std::vector<TaggedSentence>& training,
                                          const std::vector<TaggedSentence>& development,
                                          const std::vector<std::vector<TaggedSentence>>& to_tag,
                                          const SequenceTaggerTraining& options);

}  // namespace sotto
