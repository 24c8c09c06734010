// Any bytes as a message of the room mpc: an Error, or a message that is written again as the same
// bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>

#include "base/error.h"
#include "mpc/messages.h"

namespace {

template <class Message>
void ParseAndWrite(std::span<const std::uint8_t> bytes) {
  const sotto::SecretBytes written = Message::Parse(bytes).Serialise();
  if (!std::equal(written.begin(), written.end(), bytes.begin(), bytes.end())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Parser = void (*)(std::span<const std::uint8_t>);
  // By the kind in the header.
  constexpr Parser kParsers[] = {
      ParseAndWrite<sotto::HelloMessage>,       ParseAndWrite<sotto::ModelCard>,
      ParseAndWrite<sotto::PublicModelMessage>, ParseAndWrite<sotto::ModelShareMessage>,
      ParseAndWrite<sotto::MaskShareMessage>,   ParseAndWrite<sotto::OpenedMaskMessage>,
      ParseAndWrite<sotto::MaterialMessage>,    ParseAndWrite<sotto::ReservationMessage>,
      ParseAndWrite<sotto::InputMessage>,       ParseAndWrite<sotto::ExchangeMessage>,
      ParseAndWrite<sotto::ResultMessage>};
  const std::size_t kind = size > 5 ? data[5] - std::size_t{1} : 0;
  try {
    kParsers[kind % std::size(kParsers)]({data, size});
  } catch (const sotto::Error&) {
  }
  return 0;
}
