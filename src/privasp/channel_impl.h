// A connection from the inside, for those who make one.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "privasp/channel.h"
#include "privasp/tls_socket.h"

namespace sotto {

struct Channel::Impl {
  static constexpr std::size_t kRecord = 16384;  // the longest of TLS

  Socket socket;
  std::string address;  // of the peer
  SocketState state;
  SslHandle ssl;
  PartyIdentity peer;
  bool known = false;  // whether `peer` is

  // One call of OpenSSL at a time, and what follows here. Never held while waiting, so that one
  // thread receives while another sends.
  mutable std::mutex call;
  std::string failure;  // the first, which is the end
  class Turn;
  std::deque<Turn*> turns;  // of the frame that is on its way, and of those that wait for it
  Deadline moved;           // when bytes of a frame last went out

  std::atomic<bool> shut{false};
  std::atomic<std::uint64_t> sent{0}, received{0};
  SecretBytes first = SecretBytes(kRecord);  // of the frame that is being sent
  bool mid_frame = false;                    // whoever receives has not got to the end of a frame

  // AES-GCM is good for 2^24.5 records under one key (RFC 8446, 5.5): new ones long before that. A
  // frame has at most 2^18.
  std::uint64_t records_of_key = 0;
  std::uint64_t most_records_of_key = std::uint64_t{1} << 22;

  ~Impl();

  std::string Who() const;
  void Handshake(const TlsParty& party, bool accepts, Deadline deadline);
  // Calls OpenSSL until it is done, waiting for the socket in between.
  template <class Call>
  void Drive(const Call& function, Deadline deadline, const char* doing, bool may_end = false);
  // Why the last call failed. `call` is held.
  std::string Reason();
  void CloseNotify();
  // No more of this connection: an Error for who called (ChannelClosed where the peer `may_end` it
  // here), the end for all others.
  [[noreturn]] void Fail(const std::string& what, bool may_end = false);

  // For whoever begins a frame, until it is out or has failed.
  class Turn {
   public:
    Turn(Impl& impl, Patience& patience);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    void Wake() { mine_.notify_one(); }

   private:
    void Leave();  // with `call` held

    Impl& impl_;
    std::condition_variable mine_;
  };

  void Write(std::span<const std::uint8_t> bytes, Patience& patience);
  // `may_end`: before the first of them.
  void Read(std::span<std::uint8_t> bytes, Patience& patience, bool may_end = false);
  void TakeNewKey(Deadline deadline);
};

// Over a connected socket; the side that `accepts` is the server of TLS.
std::unique_ptr<Channel> MakeChannel(const TlsParty& party, Socket socket, std::string address,
                                     bool accepts, Deadline deadline);

}  // namespace sotto
