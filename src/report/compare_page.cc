#include "report/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "report/assess_page.h"
#include "report/json_values.h"
#include "report/png.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// A path as a relative URL: everything but unreserved characters and '/' as %XX.
std::string Url(const fs::path& path) {
  std::string url;
  for (const unsigned char c : path.generic_string()) {
    const bool plain = std::isalnum(c) != 0 ||
                       std::string("-._~/").find(static_cast<char>(c)) != std::string::npos;
    url += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return url;
}

std::string Hz(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "–";
}

std::string Percent(const std::optional<double>& value) {
  return value ? fmt::format("{:+.1f} %", *value) : "–";
}

// The mean of a figure over the pairs that have it.
template <typename Get>
std::optional<double> Mean(const std::vector<const ComparedPair*>& pairs, const Get& get) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const ComparedPair* pair : pairs) {
    if (const std::optional<double> value = get(*pair); value && std::isfinite(*value)) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::string FigureRow(const std::string& title, const std::vector<const ComparedPair*>& pairs) {
  const auto level =
      Mean(pairs, [](const ComparedPair& p) { return std::optional(p.level_change_db); });
  std::string row =
      fmt::format("<tr><th scope=row>{}</th><td>{}</td><td>{}</td>", EscapeHtml(title),
                  pairs.size(), level ? fmt::format("{:+.2f} dB", *level) : "–");
  const auto f0 = [](const ComparedPair& p) {
    return ChangePercent(p.before.median_f0_hz, p.after.median_f0_hz);
  };
  row += fmt::format("<td>{}</td>", Percent(Mean(pairs, f0)));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto before = Mean(pairs, [k](const ComparedPair& p) { return p.before.formant_hz[k]; });
    const auto after = Mean(pairs, [k](const ComparedPair& p) { return p.after.formant_hz[k]; });
    row += fmt::format("<td>{} → {} Hz<br><small>{}</small></td>", Hz(before), Hz(after),
                       Percent(ChangePercent(before, after)));
  }
  return row + "</tr>\n";
}

std::string Side(const std::string& title, const fs::path& file, const fs::path& page) {
  const Sound sound = ReadSound(file);
  const double top_hz = std::min(8000.0, sound.format.rate_hz / 2.0);
  const auto picture = PaintSpectrogram(ComputeSpectrogram(sound.channels[0], sound.format.rate_hz),
                                        560, 160, top_hz);
  const fs::path folder = fs::absolute(page).parent_path();
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><img alt=\"{0}: spectrogram, 0 to {1:.0f} kHz\" "
      "src=\"data:image/png;base64,{2}\"><audio controls preload=none "
      "src=\"{3}\"></audio></figure>\n",
      EscapeHtml(title), top_hz / 1000.0, Base64(EncodePng(picture)),
      Url(fs::absolute(file).lexically_relative(folder)));
}

constexpr const char* kHead = R"(<!doctype html>
<html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width,initial-scale=1">
<title>Sotto: before and after</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:75rem;margin:auto;padding:1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid #ccc;padding:.35rem .7rem;text-align:right}th[scope=row],thead th:first-child{text-align:left}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:1rem}
figure{margin:0}figcaption{font-weight:600}img{width:100%;height:10rem;object-fit:fill;display:block}audio{width:100%;margin-top:.3rem}
small{color:#555}.note{border-left:4px solid #0072b2;padding:.2rem .8rem;background:#f3f7fa}
@media print{audio{display:none}}
</style>
)";

}  // namespace

std::string ComparePage(const std::vector<ComparedCopy>& copies,
                        const ComparePageOptions& options) {
  // Recordings by speaker, as places in the lists of pairs.
  std::map<std::string, std::vector<std::size_t>> by_speaker;
  double seconds = 0.0;
  const std::vector<ComparedPair>& first = copies.at(0).pairs;
  for (std::size_t i = 0; i < first.size(); ++i) {
    by_speaker[first[i].speaker].push_back(i);
    seconds += first[i].seconds;
  }
  std::string html = kHead;
  html +=
      fmt::format("<h1>Before and after</h1>\n<p>{} recordings of {} speakers, {:.1f} s of speech",
                  first.size(), by_speaker.size(), seconds);
  for (std::size_t c = 0; c < std::min(copies.size(), options.times_real_time.size()); ++c) {
    html += fmt::format("{} {} {:.0f} times faster than real time", c == 0 ? ", protected" : ",",
                        copies.size() == 1 ? "" : "by " + EscapeHtml(copies[c].name),
                        options.times_real_time[c]);
  }
  html +=
      ".</p>\n<p class=note>This page shows what changed in the sound. How well the speakers are "
      "protected is what an attacker reaches, and no attacker was run here.</p>\n";
  // To listen comes first. One recording of each speaker, then the next ones, until there are
  // enough.
  std::vector<std::size_t> shown;
  for (std::size_t round = 0; shown.size() < std::min(options.players, first.size()); ++round) {
    for (const auto& [speaker, places] : by_speaker) {
      if (round < places.size() && shown.size() < options.players) shown.push_back(places[round]);
    }
  }
  for (const std::size_t i : shown) {
    html += fmt::format("<h2>{}</h2>\n<div class=pair>\n", EscapeHtml(first[i].id));
    html += Side("original", first[i].original, options.page);
    for (const ComparedCopy& copy : copies) {
      html +=
          Side(copies.size() == 1 ? "protected" : copy.name, copy.pairs[i].released, options.page);
    }
    html += "</div>\n";
  }
  for (const ComparedCopy& copy : copies) {
    std::vector<const ComparedPair*> all;
    for (const ComparedPair& pair : copy.pairs) all.push_back(&pair);
    if (copies.size() > 1) html += fmt::format("<h2>{}</h2>\n", EscapeHtml(copy.name));
    html +=
        "<div class=scroll><table><thead><tr><th>speaker</th><th>recordings</th><th>level</th>"
        "<th>pitch (F0)</th><th>F1</th><th>F2</th><th>F3</th></tr></thead><tbody>\n";
    html += FigureRow("all", all);
    for (const auto& [speaker, places] : by_speaker) {
      std::vector<const ComparedPair*> list;
      for (const std::size_t i : places) list.push_back(&copy.pairs.at(i));
      html += FigureRow(speaker, list);
    }
    html += "</tbody></table></div>\n";
  }
  return html + "</html>\n";
}

std::string CompareJson(const std::vector<ComparedCopy>& copies) {
  auto json = nlohmann::ordered_json::array();
  const auto both = [](const auto& before, const auto& after) {
    return nlohmann::ordered_json{JsonNumber(before), JsonNumber(after)};
  };
  for (const ComparedCopy& copy : copies) {
    for (const ComparedPair& pair : copy.pairs) {
      JsonFields f;
      f("id", pair.id)("speaker", pair.speaker)("seconds", pair.seconds);
      // Null where one is silent.
      f("level_change_db", nlohmann::ordered_json(pair.level_change_db));
      if (copies.size() > 1) f("protected", copy.name);
      f("f0_hz", both(pair.before.median_f0_hz, pair.after.median_f0_hz));
      for (std::size_t k = 0; k < 3; ++k) {
        f(fmt::format("f{}_hz", k + 1), both(pair.before.formant_hz[k], pair.after.formant_hz[k]));
      }
      json.push_back(f.json());
    }
  }
  return JsonText(json);
}

std::string CompareText(const std::vector<ComparedCopy>& copies) {
  const auto percent = [](const std::optional<double>& before, const std::optional<double>& after) {
    const auto change = ChangePercent(before, after);
    return change ? Percent(change) : "-";
  };
  std::string text;
  for (const ComparedCopy& copy : copies) {
    text += fmt::format("{:<32} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                        copies.size() == 1 ? "recording" : copy.name, "seconds", "level", "F0",
                        "F1", "F2", "F3");
    for (const ComparedPair& pair : copy.pairs) {
      text += fmt::format("{:<32} {:>8.2f} {:>+6.2f} dB {:>9}", pair.id, pair.seconds,
                          pair.level_change_db,
                          percent(pair.before.median_f0_hz, pair.after.median_f0_hz));
      for (std::size_t k = 0; k < 3; ++k) {
        text += fmt::format(" {:>9}", percent(pair.before.formant_hz[k], pair.after.formant_hz[k]));
      }
      text += '\n';
    }
  }
  return text;
}

double ReadTimesRealTime(const fs::path& run) {
  const auto json = TryParseJson(ReadTextFile(run));
  if (!json.is_object() || !json.contains("times_real_time") ||
      !json["times_real_time"].is_number()) {
    throw Error(fmt::format("'{}' is not output of sotto anonymise --json", run.string()));
  }
  return json["times_real_time"].get<double>();
}

}  // namespace sotto
