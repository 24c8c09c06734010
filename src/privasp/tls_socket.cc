#include "privasp/tls_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

#include "base/files.h"

namespace sotto {
namespace {

using AddressList = std::unique_ptr<addrinfo, FreeBy<freeaddrinfo>>;

[[noreturn]] void RefuseAddress(const std::string& address, const char* ports) {
  throw Error(fmt::format("'{}' is no address: host:port or [IPv6]:port with a port of {}", address,
                          ports));
}

// By name server, where `address` has a name: for that there is no deadline but the system's.
AddressList Resolve(const std::string& address, bool listens) {
  const char* const ports = listens ? "0 to 65535" : "1 to 65535";
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) RefuseAddress(address, ports);
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!bracketed && host.find_first_of(":[]") != std::string::npos) ||
      code != std::errc() || end != port.data() + port.size() || (number == 0 && !listens)) {
    RefuseAddress(address, ports);
  }
  addrinfo hints{};
  hints.ai_family = bracketed ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    throw Error(fmt::format("'{}' is not found: {}", address,
                            failed == EAI_SYSTEM ? SystemReason() : ::gai_strerror(failed)));
  }
  return AddressList(found);
}

Socket Open(const addrinfo& address) {
  return Socket(::socket(address.ai_family,
                         address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,  // NOLINT
                         address.ai_protocol));
}

// 0, or why not.
int TryConnect(const Socket& socket, const addrinfo& address, Deadline deadline) {
  const int descriptor = socket.Descriptor();
  if (descriptor < 0) return errno;
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;  // either goes on by itself
  if (!WaitFor(descriptor, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

using GetName = int (*)(int, sockaddr*, socklen_t*);

std::string AddressBy(GetName get_name, int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const auto* general = reinterpret_cast<const sockaddr*>(&address);
  if (get_name(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(general, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  const char* const form = address.ss_family == AF_INET6 ? "[{}]:{}" : "{}:{}";
  return fmt::format(fmt::runtime(form), host.data(), port.data());
}

// Reads and writes come to the same: `transfer` says how many bytes went, 0 is the end.
template <class Transfer>
int TransferBytes(BIO* bio, int retry, const Transfer& transfer) {
  auto& state = *static_cast<SocketState*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  while (true) {
    const ssize_t n = transfer(state.descriptor);
    if (n >= 0) return static_cast<int>(n);
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    } else {
      state.error = errno;
    }
    return -1;
  }
}

int ReadSocket(BIO* bio, char* to, int count) {
  const int n = TransferBytes(bio, BIO_FLAGS_READ, [=](int descriptor) {
    return ::recv(descriptor, to, static_cast<std::size_t>(count), 0);
  });
  if (n == 0 && count > 0) static_cast<SocketState*>(BIO_get_data(bio))->ended = true;
  return n;
}

int WriteSocket(BIO* bio, const char* from, int count) {
  return TransferBytes(bio, BIO_FLAGS_WRITE, [=](int descriptor) {
    return ::send(descriptor, from, static_cast<std::size_t>(count), MSG_NOSIGNAL);
  });
}

long ControlSocket(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) {
    return static_cast<SocketState*>(BIO_get_data(bio))->ended ? 1 : 0;
  }
  return 0;
}

BIO_METHOD* SocketMethod() {
  BIO_METHOD* method = Succeeded(
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sotto socket"), "give memory");
  BIO_meth_set_read(method, ReadSocket);
  BIO_meth_set_write(method, WriteSocket);
  BIO_meth_set_ctrl(method, ControlSocket);
  return method;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool WaitFor(int descriptor, short events, Deadline deadline, int other) {
  std::array<pollfd, 2> waits = {pollfd{descriptor, events, 0}, pollfd{other, POLLIN, 0}};
  while (true) {
    const auto left =
        std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      deadline - std::chrono::steady_clock::now())
                                      .count());
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    const int ready = ::ppoll(waits.data(), other >= 0 ? 2 : 1, &timeout, nullptr);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) throw Error("cannot wait for a socket: " + SystemReason());
  }
}

Socket ConnectTo(const std::string& address, Deadline deadline) {
  const AddressList list = Resolve(address, /*listens=*/false);
  int left = 0;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) ++left;
  int error = ETIMEDOUT;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next, --left) {
    Socket socket = Open(*one);
    // One that never answers leaves the others their share of the time.
    const auto now = std::chrono::steady_clock::now();
    error = TryConnect(socket, *one, now + (deadline - now) / left);
    if (error == 0) return socket;
  }
  throw Error(fmt::format("cannot connect to {}: {}", address, std::strerror(error)));
}

Socket ListenOn(const std::string& address) {
  const AddressList list = Resolve(address, /*listens=*/true);
  int error = 0;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    Socket socket = Open(*one);
    const int descriptor = socket.Descriptor(), yes = 1;
    // A server that starts again does not wait for the old connections' last minutes.
    if (descriptor >= 0 &&
        ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(descriptor, one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(descriptor, SOMAXCONN) == 0) {
      return socket;
    }
    error = errno;
  }
  throw Error(fmt::format("cannot listen on {}: {}", address, std::strerror(error)));
}

std::string OwnAddress(int descriptor) { return AddressBy(::getsockname, descriptor); }
std::string PeerAddress(int descriptor) { return AddressBy(::getpeername, descriptor); }

BioHandle MakeSocketBio(SocketState& state) {
  static BIO_METHOD* const kMethod = SocketMethod();  // as long as the program
  BioHandle bio(Succeeded(BIO_new(kMethod), "give memory"));
  BIO_set_data(bio.get(), &state);
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace sotto
