// Tokens of text searched per second on one core: by the tagger, by tagger and patterns together as
// sotto redact has them, and beside them, in the same run, by peers that do less: the tokens alone,
// and std::regex looking for words with a capital.
//   build/bin/sotto_text_bench
// Asked: 50,000 tokens a second.
#include <benchmark/benchmark.h>

#include <regex>
#include <string>

#include "text/entity_finder.h"
#include "text/patterns.h"
#include "text/tagger.h"

namespace sotto {
namespace {

// Sentences as recognisers and people write them, a line each.
std::string Text(std::size_t lines) {
  static const char* const sentences[] = {
      "remind me to call david miller at five pm tomorrow",
      "what's the weather like in berlin this weekend",
      "Angela Jones moved from London to the north of Norway in March 2014.",
      "book a table for four at the golden fork near king street at half past seven",
      "my number is double seven one four nine oh two please call me back",
      "The company said on Monday that its profits had fallen for the third year in a row."};
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += sentences[i % 6];
    text += '\n';
  }
  return text;
}

void CountTokens(benchmark::State& state, const std::string& text) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(Tokenise(text).size()));
}

void FoundBy(benchmark::State& state, const EntityFinder& finder) {
  const std::string text = Text(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(finder.Find(text));
  CountTokens(state, text);
}

void TaggerAndPatterns(benchmark::State& state) { FoundBy(state, *MakeEntityFinder()); }
BENCHMARK(TaggerAndPatterns)->Arg(1)->Arg(600);

void TaggerWithRecall(benchmark::State& state) {
  FoundBy(state, TaggerFinder(ProgramTagger(), 0.99));
}
BENCHMARK(TaggerWithRecall)->Arg(600);

void TaggerAlone(benchmark::State& state) { FoundBy(state, TaggerFinder(ProgramTagger())); }
BENCHMARK(TaggerAlone)->Arg(1)->Arg(600);

void PatternsAlone(benchmark::State& state) { FoundBy(state, PatternFinder()); }
BENCHMARK(PatternsAlone)->Arg(600);

void PeerTokens(benchmark::State& state) {
  const std::string text = Text(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Tokenise(text));
  CountTokens(state, text);
}
BENCHMARK(PeerTokens)->Arg(600);

void PeerRegexOfCapitals(benchmark::State& state) {
  const std::string text = Text(static_cast<std::size_t>(state.range(0)));
  const std::regex names("\\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\\b");
  for (auto _ : state) {
    std::size_t found = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), names), end; at != end; ++at) ++found;
    benchmark::DoNotOptimize(found);
  }
  CountTokens(state, text);
}
BENCHMARK(PeerRegexOfCapitals)->Arg(600);

}  // namespace
}  // namespace sotto

BENCHMARK_MAIN();
