#include "text/patterns_numbers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "text/check_digits.h"

namespace sotto {
namespace {

bool IsYear(std::string_view digits) {
  return digits.size() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
}

std::size_t SignificantDigits(std::string_view digits) {
  const auto first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return 0;
  return digits.find_last_not_of('0') - first + 1;
}

struct Shape {
  std::size_t digits = 0;
  bool written = true;        // all of it
  bool single_words = false;  // digits read one by one, at least half of them
  std::string gaps;           // between the items
};

Shape ShapeOf(std::span<const CodeItem> items) {
  Shape shape;
  std::size_t single = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    shape.digits += items[i].chars.size();
    shape.written = shape.written && !items[i].spoken;
    if (items[i].spoken && items[i].single) single += items[i].chars.size();
    if (i > 0) shape.gaps += items[i].gap;
  }
  shape.single_words = 2 * single >= shape.digits;
  return shape;
}

// 3, 2 and 4 digits with the same sign between them, or "dash".
bool IsSocialSecurity(std::span<const CodeItem> items, const Shape& shape) {
  if (shape.digits != 9) return false;
  std::string sizes;
  std::string gaps;
  std::size_t size = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool new_group = i > 0 && (shape.written || items[i].gap == 'w' || items[i].gap == '-' ||
                                     items[i].gap == ',');
    if (new_group) {
      sizes += static_cast<char>('0' + size);
      gaps += items[i].gap;
      size = 0;
    }
    size += items[i].chars.size();
  }
  sizes += static_cast<char>('0' + size);
  return sizes == "324" && gaps[0] == gaps[1];
}

bool IsPhone(std::span<const CodeItem> items, const Shape& shape, const NumberContext& context) {
  const std::size_t n = shape.digits;
  const std::string_view first = items[0].chars;
  const bool code = context.code_cue && !context.phone_cue;
  if (code && !context.plus && items.size() == 1) return false;
  const bool international =
      context.plus || first.starts_with("00") || (first == "011" && n >= 11);  // from North America
  if (international && n >= 7 && n <= 17) return true;
  if (context.extension && n >= 6 && n <= 13) return true;
  if (n > 12 || n < 5) return false;
  if (n < 7 && context.phone_cue && !context.code_cue) return true;
  if (!shape.written) return n >= 7 && items.size() >= 3 && !code;
  if (items.size() == 1) {
    if (n == 10 || n == 11) return true;
    return (first[0] == '0' && n >= 9) || (context.phone_cue && n >= 6);
  }
  const auto size_of = [](const CodeItem& item) { return item.chars.size(); };
  if (std::all_of(items.begin(), items.end(), [](const CodeItem& i) { return IsYear(i.chars); })) {
    return false;
  }
  const bool stops = shape.gaps.find_first_not_of('.') == std::string::npos;
  const bool commas = shape.gaps.find(',') != std::string::npos;
  if (commas || (stops && items.size() < 3)) return false;
  if (n < 7) {
    return shape.gaps == "  " && std::all_of(items.begin(), items.end(), [&](const CodeItem& item) {
             return size_of(item) == 2;
           });
  }
  // "10 20 30 40 50" is no telephone number, "02 27 96 63 08" is.
  return size_of(items.back()) >= 2 && *std::max_element(shape.gaps.begin(), shape.gaps.end()) > 0;
}

}  // namespace

std::string JoinedDigits(std::span<const CodeItem> items) {
  std::string digits;
  for (const auto& item : items) digits += item.chars;
  return digits;
}

bool IsCard(std::span<const CodeItem> items) {
  std::size_t size = 0;
  for (const auto& item : items) size += item.chars.size();
  if (size < 13 || size > 19) return false;
  const std::string digits = JoinedDigits(items);
  return digits[0] != '0' && HasLuhn(digits);
}

std::size_t CardWithin(std::span<const CodeItem> items, std::size_t first) {
  std::string digits;
  for (std::size_t i = first; i < items.size() && digits.size() < 19; ++i) {
    digits += items[i].chars;
    const std::size_t n = digits.size();
    if (n < 13 || n > 19) continue;
    const bool visa = digits[0] == '4' && (n == 13 || n == 16 || n == 19);
    const bool amex = (digits.starts_with("34") || digits.starts_with("37")) && n == 15;
    const bool diners = (digits.starts_with("30") || digits.starts_with("36") ||
                         digits.starts_with("38") || digits.starts_with("39")) &&
                        n == 14;
    const bool other =
        (digits[0] == '5' || digits[0] == '6' || digits[0] == '2' || digits.starts_with("35")) &&
        n == 16;
    if ((visa || amex || diners || other) && HasLuhn(digits)) return i + 1 - first;
  }
  return 0;
}

std::optional<NumberVerdict> JudgeDigits(std::span<const CodeItem> items,
                                         const NumberContext& context) {
  const Shape shape = ShapeOf(items);
  const std::size_t n = shape.digits;
  const bool cue = context.id_cue || context.card_cue || context.number_cue;
  if (n < 3) return std::nullopt;
  const bool international = context.plus || (items[0].chars.starts_with("00") && items.size() > 1);
  if (!international && IsCard(items)) return NumberVerdict{EntityType::kCard, 1.0};
  if (IsSocialSecurity(items, shape)) return NumberVerdict{EntityType::kId, 0.9};
  if (context.id_cue && !context.phone_cue && !international && n >= 5) {
    return NumberVerdict{EntityType::kId, 0.8};
  }
  if (!(context.card_cue && n >= 12) && IsPhone(items, shape, context)) {
    return NumberVerdict{EntityType::kPhone, international || context.phone_cue ? 0.95 : 0.8};
  }
  const NumberVerdict number = {EntityType::kNumber, 0.6};
  const std::string digits = JoinedDigits(items);
  const bool announced = cue && n >= 3;
  if (items.size() == 1) {
    if (announced) return number;
    if (digits[0] == '0' && n >= 4) return number;  // a code
    if (SignificantDigits(digits) < 4 || IsYear(digits)) return std::nullopt;
    return number;
  }
  if (!shape.written) {
    if (announced) return number;
    // "1.5 billion", "three point one four"
    const bool fraction = items.size() == 2 && items[1].gap == '.';
    if (fraction && SignificantDigits(digits) < 5) return std::nullopt;
    const bool year = n == 4 && items.size() == 2 && IsYear(digits);
    if (n < 4 || year) return std::nullopt;
    // "ten thirty": a time of day.
    if (items.size() == 2 && n == 4 && digits[0] == '1' && digits[1] < '3' && digits[2] < '6' &&
        !items[1].single) {
      return NumberVerdict{EntityType::kTime, 0.5};
    }
    return number;
  }
  std::size_t exact = 0;
  for (const auto& item : items) {
    exact += IsYear(item.chars) ? 0 : SignificantDigits(item.chars);
  }
  const bool decimal = shape.gaps == ".";
  if (decimal) exact = SignificantDigits(digits);
  // "58 520"
  const bool thousands = shape.gaps == " " && items[0].chars.size() <= 3 &&
                         items[0].chars[0] != '0' && items[1].chars.size() == 3;
  if (thousands && SignificantDigits(digits) >= 4) return number;
  if (shape.gaps.find_first_not_of(' ') == std::string::npos && exact < 5) {
    return std::nullopt;  // numbers that only stand beside each other
  }
  if (announced && n >= 4) return number;
  return exact >= 5 ? std::optional(number) : std::nullopt;
}

}  // namespace sotto
