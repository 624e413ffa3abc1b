import CDaemon
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Hears from the kernel when the machine's connections change, until it is stopped or let go.
///
/// Nothing waits in it: the dispatch library calls when there is something to read, on a queue of its own. What counts as a change
/// stands at ``NetworkTracker``.
final class NetworkListener: Sendable {
  /// Whether the system has somebody to listen to: on Linux. Elsewhere a listener cannot be made.
  static var isSupported: Bool {
    #if os(Linux)
    true
    #else
    false
    #endif
  }

  /// `nil` once it is stopped.
  private let source: Mutex<(any DispatchSourceRead)?>

  /// Begins to listen in the network namespace of the calling thread.
  ///
  /// - Parameter onEvent: is told of each change as it comes, on one thread at a time; is not to block.
  /// - Throws: `NetworkObstacle` where the system has no such messages or does not let this process have them.
  init(onEvent: @escaping @Sendable (NetworkEvent) -> Void) throws(NetworkObstacle) {
    let descriptor = shelfmark_open_route_messages()
    guard descriptor >= 0 else { throw NetworkObstacle(code: errno) }
    let queue = DispatchQueue(label: "shelfmark.network")
    source = Mutex(DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue))
    let reader = RouteReader(descriptor)
    source.withLock { source in
      source?.setEventHandler { [weak self] in
        for event in reader.read() {
          if case .ended = event { self?.stop() }
          onEvent(event)
        }
      }
      source?.setCancelHandler { close(descriptor) }
      source?.activate()
    }
  }

  /// Tells nothing more, but for what is being told just now.
  func stop() {
    source.withLock { source in
      source?.cancel()
      source = nil
    }
  }

  deinit { stop() }
}

/// Why nobody tells of changes of the network, for people.
struct NetworkObstacle: Error, Equatable, CustomStringConvertible {
  let description: String

  /// - Parameter code: the value of `errno`.
  init(code: CInt) {
    // strerror returns a C string that is valid until the next call on this thread.
    description = unsafe String(cString: strerror(code))
  }
}

/// Reads what there is, and makes changes of it.
final class RouteReader: Sendable {
  /// A message of an interface with many virtual functions has some kilobytes; the kernel makes none of more than 32 KiB.
  static let byteCount = 32 << 10
  /// Datagrams of one call: behind these the source calls again.
  static let maximumDatagrams = 64

  private let descriptor: CInt
  /// Guards nothing but itself: the source calls one at a time.
  private let tracker = Mutex(NetworkTracker())
  private let lossCount = Atomic(0)
  /// How often messages were lost. Relaxed: nobody concludes anything from it.
  var losses: Int { lossCount.load(ordering: .relaxed) }

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  /// At most one change, and behind it the end.
  func read() -> [NetworkEvent] {
    var change: NetworkChange = []
    var end: NetworkEvent?
    for _ in 0..<Self.maximumDatagrams {
      let (bytes, length, code) = receive()
      if length < 0 {
        if code == EINTR { continue }
        if code == ENOBUFS {
          lossCount.add(1, ordering: .relaxed)
          change.formUnion(tracker.withLock { $0.lose() })
          continue
        }
        if code != EAGAIN { end = .ended(NetworkObstacle(code: code).description) }
        break
      }
      let (messages, isDamaged) = RouteMessage.read(bytes.span)
      change.formUnion(
        tracker.withLock { $0.note(messages, isDamaged: isDamaged || length > Self.byteCount) })
    }
    return (change.isEmpty ? [] : [.changed(change)]) + (end.map { [$0] } ?? [])
  }

  private func receive() -> (bytes: [UInt8], length: Int, code: CInt) {
    var length = 0
    var code: CInt = 0
    // The buffer has room for as many bytes as the call is told, and as many as it wrote are initialised.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      length = unsafe shelfmark_read_route_messages(descriptor, start, Self.byteCount)
      code = errno
      filled = min(max(0, length), Self.byteCount)
    }
    return (bytes, length, code)
  }
}
