#include "text/cue_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// A passage of the line in raw bytes.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

struct Tag {
  std::size_t end = 0;           // behind '>' or '}'
  std::optional<Stretch> voice;  // the speaker of <v>
};

// The name of a tag that the formats have.
bool IsTagName(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"i",    "b",    "u",  "s",   "c",
                                                      "lang", "ruby", "rt", "font"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// "00:01:02.500", as WebVTT writes it between words.
bool IsTimestamp(std::string_view text) {
  return text.size() >= 9 && IsDigit(text.front()) && IsDigit(text.back()) &&
         text.find_first_not_of("0123456789:.") == std::string_view::npos;
}

// At '<' or '{'; absent: it is text.
std::optional<Tag> TagAt(std::string_view line, std::size_t at) {
  if (line[at] == '{') {  // of SubStation: {\an8}
    const std::size_t close = line.find('}', at);
    if (close == std::string_view::npos || line.substr(at).find('\\') != 1) return std::nullopt;
    // "{\an8}", "{\i1}" and the like; anything else could be words.
    const std::string_view inside = line.substr(at + 2, close - at - 2);
    const bool short_code = inside.size() <= 5 && !inside.empty() && IsDigit(inside.back());
    return short_code ? std::optional<Tag>({close + 1, std::nullopt}) : std::nullopt;
  }
  const std::size_t close = line.find('>', at);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view inside = line.substr(at + 1, close - at - 1);
  if (inside.starts_with('/')) inside.remove_prefix(1);
  const std::size_t name_end = std::min(inside.find_first_of(" \t."), inside.size());
  const std::string name = LowerCase(inside.substr(0, name_end));
  const std::size_t blank = std::min(inside.find_first_of(" \t"), inside.size());
  if (name == "v") {
    const std::size_t begin = static_cast<std::size_t>(inside.data() - line.data()) + blank;
    Stretch voice{begin, close};
    while (voice.begin < voice.end && IsBlank(line[voice.begin])) ++voice.begin;
    while (voice.begin < voice.end && IsBlank(line[voice.end - 1])) --voice.end;
    return Tag{close + 1, voice.begin < voice.end ? std::optional(voice) : std::nullopt};
  }
  // What follows the name is a colour, a size or a language; anything longer could be words.
  const bool plain =
      blank == inside.size() || ((name == "font" || name == "lang") && inside.size() - blank <= 60);
  if ((IsTagName(name) && plain) || IsTimestamp(inside)) return Tag{close + 1, std::nullopt};
  return std::nullopt;
}

// Text with references, from `begin` to `end`.
void AddText(std::string_view raw, Stretch stretch, bool references, SourceMap& map) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kReferences = {
      {{"&amp;", "&"},
       {"&lt;", "<"},
       {"&gt;", ">"},
       {"&nbsp;", " "},
       {"&#39;", "'"},
       {"&quot;", "\""}}};
  std::size_t plain = stretch.begin;
  for (std::size_t at = stretch.begin; references && at < stretch.end;) {
    const std::string_view rest = raw.substr(at, stretch.end - at);
    const auto* known = raw[at] != '&' ? kReferences.end()
                                       : std::find_if(kReferences.begin(), kReferences.end(),
                                                      [&](const auto& reference) {
                                                        return rest.starts_with(reference.first);
                                                      });
    if (known == kReferences.end()) {
      ++at;
      continue;
    }
    map.Add(plain, raw.substr(plain, at - plain));
    map.AddCoded(at, at + known->first.size(), known->second);
    at += known->first.size();
    plain = at;
  }
  map.Add(plain, raw.substr(plain, stretch.end - plain));
}

}  // namespace

void AddCueLine(std::string_view raw, std::size_t begin, std::size_t end, bool references,
                SourceMap& map, std::vector<Entity>& known) {
  const std::string_view line = raw.substr(0, end);
  std::size_t plain = begin;
  for (std::size_t at = begin; at < end;) {
    const std::optional<Tag> tag =
        line[at] == '<' || line[at] == '{' ? TagAt(line, at) : std::nullopt;
    if (!tag) {
      ++at;
      continue;
    }
    AddText(raw, {plain, at}, references, map);
    if (tag->voice) {
      if (!map.Text().empty()) map.AddJoint("\n");
      Entity speaker{map.Text().size(), 0, EntityType::kPerson, 1.0};
      AddText(raw, *tag->voice, references, map);
      speaker.end = map.Text().size();
      known.push_back(speaker);
      map.AddJoint("\n");
    }
    at = plain = tag->end;
  }
  AddText(raw, {plain, end}, references, map);
}

std::string CueEncoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

bool EndsSentence(std::string_view text) {
  constexpr std::array<std::string_view, 10> kClosing = {"\"", "'", ")",  "]",  "»",
                                                         "”",  "’", "」", "』", " "};
  constexpr std::array<std::string_view, 8> kEnds = {"!", "?", "。", "！", "？", "؟", "۔", "।"};
  constexpr std::array<std::string_view, 16> kShort = {"mr",  "mrs", "ms",  "dr",  "prof", "st",
                                                       "jr",  "sr",  "rev", "gen", "capt", "lt",
                                                       "sgt", "hon", "vs",  "no"};
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view closing : kClosing) {
      if (!text.ends_with(closing)) continue;
      text.remove_suffix(closing.size());
      more = true;
    }
  }
  if (std::any_of(kEnds.begin(), kEnds.end(),
                  [&](std::string_view end) { return text.ends_with(end); })) {
    return true;
  }
  if (!text.ends_with('.') || text.ends_with("..")) return false;
  text.remove_suffix(1);
  const std::size_t blank = text.find_last_of(" .\t");
  const std::string word =
      LowerCase(blank == std::string_view::npos ? text : text.substr(blank + 1));
  const bool initial = word.size() == 1 && !IsDigit(word[0]);
  return !word.empty() && !initial && std::find(kShort.begin(), kShort.end(), word) == kShort.end();
}

namespace {

// Two or three numbers with ':' between, the last with a fraction; moves `line` behind it.
std::optional<double> TakeTime(std::string_view& line) {
  double seconds = 0.0;
  std::size_t at = 0, parts = 0;
  while (true) {
    const std::size_t begin = at;
    double part = 0.0;
    while (at < line.size() && IsDigit(line[at]) && at - begin < 9) {
      part = 10.0 * part + (line[at++] - '0');
    }
    if (at == begin) return std::nullopt;
    seconds = 60.0 * seconds + part;
    ++parts;
    if (at < line.size() && line[at] == ':' && parts < 3) {
      ++at;
      continue;
    }
    break;
  }
  if (parts < 2) return std::nullopt;
  if (at < line.size() && (line[at] == ',' || line[at] == '.')) {
    double unit = 0.1;
    for (++at; at < line.size() && IsDigit(line[at]); ++at, unit /= 10.0) {
      seconds += unit * (line[at] - '0');
    }
  }
  line.remove_prefix(at);
  return seconds;
}

void SkipBlanks(std::string_view& line) {
  while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
}

}  // namespace

std::optional<CueTimes> ParseTimingLine(std::string_view line) {
  SkipBlanks(line);
  const std::optional<double> begin = TakeTime(line);
  SkipBlanks(line);
  if (!begin || !line.starts_with("-->")) return std::nullopt;
  line.remove_prefix(3);
  SkipBlanks(line);
  const std::optional<double> end = TakeTime(line);
  if (!end || (!line.empty() && !IsBlank(line.front()))) return std::nullopt;
  return CueTimes{*begin, *end};
}

}  // namespace sotto
