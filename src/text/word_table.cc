// The words that patterns know.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/lexemes.h"

namespace sotto {
namespace {

// Every top-level domain of a country, and those of others that are met often.
constexpr std::string_view kTopLevels =
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs "
    "bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec "
    "ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy "
    "hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz "
    "la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx "
    "my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re "
    "ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj "
    "tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw "
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel tel post asia "
    "cat app dev page blog cloud online site website store shop tech xyz club live life world "
    "news media email agency company global group space today design digital network systems "
    "solutions software services support tools top vip win fun games studio academy expert "
    "photography photo photos video music band film audio art gallery health law legal bank money "
    "finance capital ventures partners consulting marketing shopping family love dating fitness "
    "yoga "
    "restaurant cafe pizza london berlin nyc paris africa scot wales house homes school university "
    "education training institute science church community foundation center zone link click "
    "onion example test invalid localhost";
constexpr std::string_view kWordlike =
    "am as at be by do in is it me my no so to us id la pro name post cat page live life world "
    "news "
    "media email agency company global group space today design digital network systems solutions "
    "software services support tools top win fun games studio academy expert example test invalid "
    "club shop store travel jobs pa ma re so ms mr pm st sc tel photography photo photos video "
    "music "
    "band film audio art gallery health law legal bank money finance capital ventures partners "
    "consulting marketing shopping family love dating fitness yoga restaurant cafe pizza london "
    "berlin paris africa wales house homes school university education training institute science "
    "church community foundation center zone link click";

constexpr std::string_view kStops =
    "the is are was were be been my your his her their our its it's it to at me him them us you he "
    "she we they i'm i'll on in for of from with and or but so if that this these those an as by "
    "email e-mail mail address emails mails addresses send sent write contact reach message "
    "forward "
    "cc bcc please can could would will shall should may might do does did not no yes okay ok hi "
    "hello hey website site webpage page url link visit go goto open check browse see look follow "
    "called named name's address's new add use using type under via about when where what who how "
    "there here just also then now have has had get got into onto online um uh er well that's "
    "what's "
    "is: log login sign ask tell call subscribe reply cause because than which while after before";

constexpr std::string_view kPhoneCues =
    "phone telephone tel mobile cell cellphone landline fax call calls called dial ring ringing "
    "text sms whatsapp reach phoned voicemail pager hotline helpline callback handy";
constexpr std::string_view kIdCues =
    "ssn social security licence license licences passport nino driver drivers driver's driving "
    "driver\u2019s identity identification id insurance ni dl dni nhs medicare medicaid "
    "taxpayer tin ein cpf curp aadhaar pan steuer nif nie pesel";
constexpr std::string_view kCardCues =
    "card cards visa mastercard amex maestro discover credit debit cc";
constexpr std::string_view kNumberCues =
    "pin code codes passcode password account acct number numbers reference ref order booking "
    "confirmation policy membership member invoice serial zip postcode postal zipcode cvv cvc otp "
    "case ticket tracking customer employee student patient record routing sort iban swift "
    "extension ext plate registration badge locker";

using Table = std::unordered_map<std::string, WordInfo>;

void Flag(Table& table, std::string_view words, std::uint32_t flag) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    table[std::string(words.substr(at, end - at))].flags |= flag;
    at = end + 1;
  }
}

template <std::size_t N>
void Number(Table& table, const std::array<std::string_view, N>& words, NumberRole role,
            std::uint64_t first, std::uint64_t step = 1) {
  for (std::size_t i = 0; i < N; ++i) {
    table[std::string(words[i])].role = role;
    table[std::string(words[i])].value = first + i * step;
  }
}

void AddNumbers(Table& table) {
  using S = std::string_view;
  Number(table,
         std::array<S, 9>{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"},
         NumberRole::kUnit, 1);
  Number(table, std::array<S, 1>{"niner"}, NumberRole::kUnit, 9);
  for (const S zero : {"zero", "oh", "nought", "naught", "o", "nil"}) {
    Number(table, std::array<S, 1>{zero}, NumberRole::kZero, 0);
  }
  Number(table,
         std::array<S, 10>{"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
                           "seventeen", "eighteen", "nineteen"},
         NumberRole::kTeen, 10);
  Number(table,
         std::array<S, 8>{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty",
                          "ninety"},
         NumberRole::kTen, 20, 10);
  Number(table, std::array<S, 1>{"fourty"}, NumberRole::kTen, 40);
  Number(table, std::array<S, 1>{"ninty"}, NumberRole::kTen, 90);
  Number(table, std::array<S, 1>{"hundred"}, NumberRole::kHundred, 100);
  Number(table, std::array<S, 1>{"thousand"}, NumberRole::kScale, 1000);
  Number(table, std::array<S, 1>{"million"}, NumberRole::kScale, 1'000'000);
  Number(table, std::array<S, 1>{"billion"}, NumberRole::kScale, 1'000'000'000);
  Number(table, std::array<S, 1>{"trillion"}, NumberRole::kScale, 1'000'000'000'000);
  Number(
      table,
      std::array<S, 19>{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                        "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth",
                        "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"},
      NumberRole::kOrdinal, 1);
  Number(table, std::array<S, 1>{"twelveth"}, NumberRole::kOrdinal, 12);
  Number(table,
         std::array<S, 8>{"twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth",
                          "seventieth", "eightieth", "ninetieth"},
         NumberRole::kOrdinal, 20, 10);
  Number(table, std::array<S, 1>{"hundredth"}, NumberRole::kOrdinal, 100);
  Number(table, std::array<S, 1>{"thousandth"}, NumberRole::kOrdinal, 1000);
  Number(table, std::array<S, 3>{"double", "triple", "quadruple"}, NumberRole::kMultiple, 2);
  Number(table, std::array<S, 1>{"treble"}, NumberRole::kMultiple, 3);
  // Read for a digit by a recogniser, between digits.
  const std::array<std::pair<S, int>, 6> homophones = {
      {{"to", 2}, {"too", 2}, {"for", 4}, {"ate", 8}, {"won", 1}, {"tree", 3}}};
  for (const auto& [word, value] : homophones) {
    table[std::string(word)].flags |= kSoundsLikeDigit;
    table[std::string(word)].value = static_cast<std::uint64_t>(value);
  }
}

void AddDates(Table& table) {
  constexpr std::array<std::string_view, 12> kMonths = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    const std::string full(kMonths[i]);
    for (const auto& name : {full, full.substr(0, 3)}) {
      table[name].flags |= kMonthName;
      table[name].month = static_cast<std::uint8_t>(i + 1);
      if (name != full) table[name].flags |= kMonthlikeWord;  // jan and dec are names
    }
  }
  table["sept"].flags |= kMonthName;
  table["sept"].month = 9;
  Flag(table, "march may august april june sept", kMonthlikeWord);
  Flag(table,
       "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
       "thursdays fridays saturdays sundays",
       kWeekday);
  Flag(table,
       "in since until till from by year during before after of summer winter spring autumn "
       "fall early late mid circa around",
       kYearCue);
}

void AddLetters(Table& table) {
  // The alphabets of NATO and of the London and New York telephone exchanges, where they are met
  // today; a word stands for its first letter.
  Flag(table,
       "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike "
       "november oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray x-ray "
       "yankee zulu",
       kSpellingWord);
  for (auto& [word, info] : table) {
    if ((info.flags & kSpellingWord) != 0) info.letter = word[0];
  }
  const std::array<std::pair<std::string_view, char>, 33> names = {
      {{"bee", 'b'},    {"cee", 'c'}, {"dee", 'd'},   {"eff", 'f'}, {"gee", 'g'}, {"aitch", 'h'},
       {"haitch", 'h'}, {"jay", 'j'}, {"kay", 'k'},   {"ell", 'l'}, {"el", 'l'},  {"em", 'm'},
       {"en", 'n'},     {"pee", 'p'}, {"queue", 'q'}, {"cue", 'q'}, {"ar", 'r'},  {"ess", 's'},
       {"tee", 't'},    {"vee", 'v'}, {"ex", 'x'},    {"wye", 'y'}, {"zed", 'z'}, {"zee", 'z'},
       {"are", 'r'},    {"you", 'u'}, {"see", 'c'},   {"eye", 'i'}, {"ay", 'a'},  {"sea", 'c'},
       {"tea", 't'},    {"pea", 'p'}, {"why", 'y'}}};
  for (const auto& [word, letter] : names) {
    table[std::string(word)].flags |= kLetterName;
    table[std::string(word)].letter = letter;
  }
  Flag(table, "capital uppercase lowercase", kLetterCase);
}

Table MakeTable() {
  Table table;
  Flag(table, kTopLevels, kTopLevel);
  Flag(table, kWordlike, kWordlikeTopLevel);
  Flag(table, kStops, kStopWord);
  Flag(table, kPhoneCues, kPhoneCue);
  Flag(table, kIdCues, kIdCue);
  Flag(table, kCardCues, kCardCue);
  Flag(table, kNumberCues, kNumberCue);
  Flag(table,
       "pin passcode password account acct reference ref booking confirmation policy membership "
       "invoice serial cvv cvc otp tracking routing swift sort",
       kCodeCue);
  Flag(table, "spell spelled spelt spelling spells initials letters", kSpellingCue);
  Flag(table, "expires expiry exp expiration expiring thru", kExpiryCue);
  Flag(table, "dot underscore dash hyphen period minus point", kConnector);
  Flag(table,
       "dash hyphen space pause then uh um er erm ah hmm comma dot stroke apostrophe underscore",
       kPause);
  Flag(table,
       "gmail yahoo hotmail outlook aol icloud live msn protonmail proton gmx ymail googlemail "
       "mailchimp zoho fastmail yandex comcast verizon btinternet rocketmail",
       kMailHost);
  AddNumbers(table);
  AddDates(table);
  AddLetters(table);
  return table;
}

// Open addressing over the words, since every word of a text is looked up: one probe for most.
class WordTable {
 public:
  WordTable() : words_(MakeTable()), slots_(kSlots) {
    for (const auto& entry : words_) {
      std::size_t slot = Hash(entry.first);
      while (slots_[slot] != nullptr) slot = (slot + 1) % kSlots;
      slots_[slot] = &entry;
    }
  }

  const WordInfo& Find(std::string_view word) const {
    static constexpr WordInfo kNothing;
    if (word.empty() || word.size() > 16) return kNothing;
    for (std::size_t slot = Hash(word); slots_[slot] != nullptr; slot = (slot + 1) % kSlots) {
      if (slots_[slot]->first == word) return slots_[slot]->second;
    }
    return kNothing;
  }

 private:
  static constexpr std::size_t kSlots = 8192;

  static std::size_t Hash(std::string_view word) {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return (hash ^ hash >> 32U) % kSlots;
  }

  Table words_;
  std::vector<const Table::value_type*> slots_;
};

}  // namespace

const WordInfo& LookUpWord(std::string_view word) {
  static const WordTable kTable;
  return kTable.Find(word);
}

}  // namespace sotto
