import CDaemon
import Dispatch
import Platform
import Synchronization

/// A listener for changes of the machine's network connectivity, which the kernel reports until the listener is stopped
/// or released.
///
/// It blocks no thread: the dispatch library calls it on a queue of its own when data is available. ``NetworkTracker``
/// documents what counts as a change.
final class NetworkListener: Sendable {
  /// Whether the system supports listening: true on Linux. On other systems the initializer fails.
  static var isSupported: Bool {
    #if os(Linux)
    true
    #else
    false
    #endif
  }

  /// The dispatch source; `nil` after the listener is stopped.
  private let source: Mutex<(any DispatchSourceRead)?>

  /// Starts listening in the network namespace of the calling thread.
  ///
  /// - Parameter onEvent: The closure that receives each event, called on one thread at a time. It must not block.
  /// - Throws: `NetworkListenerError` if the system has no such messages or does not allow this process to receive
  ///   them.
  init(onEvent: @escaping @Sendable (NetworkEvent) -> Void) throws(NetworkListenerError) {
    let descriptor = shelfmark_open_route_messages()
    guard descriptor >= 0 else { throw NetworkListenerError(code: errno) }
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

  /// Stops reporting. A call that is already in progress completes.
  func stop() {
    source.withLock { source in
      source?.cancel()
      source = nil
    }
  }

  deinit { stop() }
}

/// The reason why network changes cannot be observed, as text for people.
struct NetworkListenerError: Error, Equatable, CustomStringConvertible {
  let description: String

  /// - Parameter code: The value of `errno`.
  init(code: CInt) {
    // strerror returns a C string that is valid until the next call on this thread.
    description = unsafe String(cString: strerror(code))
  }
}

/// Reads pending messages and turns them into changes.
final class RouteReader: Sendable {
  /// The size of the read buffer. A message about an interface with many virtual functions has some kilobytes; the
  /// kernel sends none over 32 KiB.
  static let byteCount = 32 << 10
  /// The maximum number of datagrams per call. If more are pending, the source calls again.
  static let maximumDatagrams = 64

  private let descriptor: CInt
  /// Not contended: the source makes one call at a time.
  private let tracker = Mutex(NetworkTracker())
  private let lossCount = Atomic(0)
  /// How often messages were lost. Relaxed, because no other memory depends on it.
  var losses: Int { lossCount.load(ordering: .relaxed) }

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  /// Returns at most one change, followed by the end, if any.
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
        if code != EAGAIN { end = .ended(NetworkListenerError(code: code).description) }
        break
      }
      let (messages, isDamaged) = RouteMessage.read(bytes.span)
      change.formUnion(
        tracker.withLock { $0.process(messages, isDamaged: isDamaged || length > Self.byteCount) })
    }
    return (change.isEmpty ? [] : [.changed(change)]) + (end.map { [$0] } ?? [])
  }

  private func receive() -> (bytes: [UInt8], length: Int, code: CInt) {
    var length = 0
    var code: CInt = 0
    // The buffer has room for the byte count passed to the call, and the call initialises as many bytes as it returns.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      length = unsafe shelfmark_read_route_messages(descriptor, start, Self.byteCount)
      code = errno
      filled = min(max(0, length), Self.byteCount)
    }
    return (bytes, length, code)
  }
}
