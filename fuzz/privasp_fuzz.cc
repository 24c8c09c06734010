// What the parties of the secure comparison read from sockets and files, on any bytes: an Error, or
// what is written again as the same bytes. The first byte chooses the reader: messages (by the kind
// in their header), configurations, statuses, certificates, requests, private keys.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "mpc/wire.h"
#include "privasp/certificates_internal.h"
#include "privasp/config.h"
#include "privasp/service_messages.h"
#include "privasp/service_status.h"

namespace {

using Bytes = std::span<const std::uint8_t>;

void Require(bool good) {
  if (!good) std::abort();
}

template <class Message>
void ParseAndWrite(Bytes bytes) {
  const sotto::SecretBytes written = Message::Parse(bytes).Serialise();
  Require(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end()));
}

void ParseMessage(Bytes bytes) {
  using Parser = void (*)(Bytes);
  // By the kind, from kRefusal on.
  constexpr std::array<Parser, 18> kParsers = {
      ParseAndWrite<sotto::RefusalMessage>,        ParseAndWrite<sotto::AcceptedMessage>,
      ParseAndWrite<sotto::AskOfferMessage>,       ParseAndWrite<sotto::OfferMessage>,
      ParseAndWrite<sotto::AskReservationMessage>, ParseAndWrite<sotto::LoadModelMessage>,
      ParseAndWrite<sotto::RetireMessage>,         ParseAndWrite<sotto::AskStatusMessage>,
      ParseAndWrite<sotto::StatusMessage>,         ParseAndWrite<sotto::AskDemandMessage>,
      ParseAndWrite<sotto::DemandMessage>,         ParseAndWrite<sotto::SegmentMessage>,
      ParseAndWrite<sotto::AnnounceMessage>,       ParseAndWrite<sotto::ClaimMessage>,
      ParseAndWrite<sotto::ClaimedMessage>,        ParseAndWrite<sotto::PingMessage>,
      ParseAndWrite<sotto::BurnMessage>,           ParseAndWrite<sotto::PieceMessage>};
  constexpr auto kFirst = static_cast<std::size_t>(sotto::MessageKind::kRefusal);
  static_assert(kFirst + kParsers.size() - 1 ==
                static_cast<std::size_t>(sotto::MessageKind::kPiece));
  const std::size_t kind = bytes.size() > 5 ? bytes[5] - kFirst : 0;
  kParsers[kind % kParsers.size()](bytes);
}

// Written once its paths are normal and its defaults are there: from then on always the same.
void ParseConfiguration(std::string_view text) {
  const sotto::PartyConfig config = sotto::ParseConfig(std::string(text), "", "fuzz");
  const std::string written = sotto::FormatConfig(config);
  Require(sotto::FormatConfig(sotto::ParseConfig(written, "", "fuzz")) == written);
  for (const sotto::Role role : sotto::kRoles) {
    try {
      sotto::CheckConfig(config, {role, "a", std::string(64, '0')});
    } catch (const sotto::Error&) {
    }
  }
}

void ParseServiceStatus(std::string_view text) {
  const std::string written = sotto::FormatStatus(sotto::ParseStatus(std::string(text)));
  Require(sotto::FormatStatus(sotto::ParseStatus(written)) == written);
}

void CheckIdentity(const sotto::PartyIdentity& identity) {
  Require(sotto::ParseRole(sotto::RoleName(identity.role)) == identity.role &&
          !identity.name.empty() && identity.name.size() <= 64 && identity.pin.size() == 64);
}

void ParseRequest(std::string_view text) {
  const sotto::RequestHandle request = sotto::ParsePemRequest(text, "fuzz");
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  CheckIdentity(sotto::IdentityOfSubject(X509_REQ_get_subject_name(request.get()), key, "fuzz"));
  X509_REQ_verify(request.get(), key);
}

void ParseCertificate(std::string_view text) {
  const sotto::CertificateHandle certificate = sotto::ParsePemCertificate(text, "fuzz");
  CheckIdentity(sotto::IdentityOf(certificate.get(), "fuzz"));
  sotto::UtcText(X509_get0_notBefore(certificate.get()));
  sotto::UtcText(X509_get0_notAfter(certificate.get()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 6) {
      case 0:
        ParseMessage(bytes);
        break;
      case 1:
        ParseConfiguration(text);
        break;
      case 2:
        ParseServiceStatus(text);
        break;
      case 3:
        ParseCertificate(text);
        break;
      case 4:
        ParseRequest(text);
        break;
      default:
        sotto::PinOf(sotto::ParsePemPrivateKey(bytes, "fuzz").get());
    }
  } catch (const sotto::Error&) {
    // Refusing is allowed; another exception, crashing, looping and undefined behaviour are not.
  }
  return 0;
}
