// Corpora in which entities are marked, from the files that others published, as one struct: what
// the tagger is trained and measured on. Their labels are mapped to PER, LOC, ORG, DATE and TIME:
//
//   NLU-eval (Liu et al. 2019), SLURP (Bastianelli et al. 2020): "[person : john]"
//     person, artist_name, audiobook_author → PER; place_name → LOC; business_name,
//     transport_agency → ORG; date → DATE; time, timeofday → TIME. A relation ("mother") is
//     nobody's name and, like all else (titles, news topics, currencies), no entity.
//   SNIPS (Coucke et al. 2018): slots
//     artist → PER; playlist_owner, party_size_description → PER, the names in them only ("my
//     mother and I" holds none); city, state, country, poi, geographic_poi, location_name,
//     current_location → LOC; restaurant_name → ORG; year → DATE; timeRange → DATE or TIME by its
//     words (TimeOrDate).
//   WikiGold (Balasuriya et al. 2009), Broad Twitter Corpus (Derczynski et al. 2016): PER, LOC,
//   ORG;
//     MISC is no entity, a name behind '@' or '#' is the name alone. Dates and times are not marked
//     in them and may stand under their O.
//   Presidio research (Microsoft; synthetic): PERSON → PER; LOCATION, ADDRESS → LOC; ORGANIZATION →
//     ORG; DATE_TIME → DATE or TIME by its words, not all of them marked. Patterns (cards, phones)
//     are another finder's and no entities here.
//
// A "'s" at the end belongs to no entity, though NLU-eval and SNIPS count it in: "emma's" is emma.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/bio_labels.h"
#include "text/entity.h"
#include "text/tokens.h"

namespace sotto {

// What a sentence may be used for. Tune: thresholds and choices; report: figures.
enum class CorpusPart : std::uint8_t { kTrain, kTune, kReport };

struct LabelledSentence {
  std::string text;
  std::vector<Token> tokens;  // Tokenise(text)
  std::vector<BioLabel> labels;
  // False: tokens that are kOutside may be of this type all the same.
  std::array<bool, kTaggedTypes> annotated = {true, true, true, true, true};
  // What it looks like without its entities: sentences of one template are one to the split.
  std::string pattern;
  CorpusPart part = CorpusPart::kTrain;
};

struct LabelledCorpus {
  std::string name;  // "nlu_eval", "slurp", "snips", "wikigold", "btc", "presidio"
  std::vector<LabelledSentence> sentences;
};

// A sentence from its text and the entities in it (in order, without overlap, tagged types only). A
// token that an entity covers in part is of that entity.
LabelledSentence MakeSentence(std::string text, std::span<const Entity> entities);

// As a recogniser would have written it: lower case, no punctuation; labels, pattern and part stay.
LabelledSentence AsTranscript(const LabelledSentence& sentence);

// The passages marked in a sentence.
std::vector<Entity> EntitiesOf(const LabelledSentence& sentence);

// DATE for days, weeks, months, years and feasts, TIME for hours, parts of a day and numbers alone;
// what holds both ("tomorrow at five pm") is what its first such word is.
EntityType TimeOrDate(std::string_view words);

// Each throws Error that names the file and the line (never what stands there).
LabelledCorpus ReadNluEval(const std::filesystem::path& tsv);
LabelledCorpus ReadSlurp(const std::filesystem::path& jsonl);
LabelledCorpus ReadSnips(const std::filesystem::path& folder);
LabelledCorpus ReadWikigold(const std::filesystem::path& conll);
LabelledCorpus ReadBtc(const std::filesystem::path& folder);
LabelledCorpus ReadPresidio(const std::filesystem::path& json);

// All of them that lie in a folder as ../shared/data/text has them, split. Error where none does.
std::vector<LabelledCorpus> ReadLabelledCorpora(const std::filesystem::path& folder);

// Gives every sentence its part: 10 % tune, 15 % report, by a hash of the template. Sentences with
// the same words or of the same template, in whatever corpora, are of the same part. Of WikiGold
// the last 3 of 10 sentences, of the Twitter corpus its part h are for reports, so that these are
// of other documents.
void SplitCorpora(std::vector<LabelledCorpus>& corpora);

}  // namespace sotto
