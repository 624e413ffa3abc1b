import Dispatch
import Synchronization

/// The first stage of a decoder on a thread of its own: base64 decoding and decompression take as long as all later
/// stages together, and do not depend on them.
///
/// Pieces of the response go in with ``send(_:)``, and pieces of the payload come out with ``receive()``. Memory: the
/// pieces in both queues, which are bounded.
///
/// `PipelineStage` of the engine is another shape: its work goes no further. Here each piece comes back to the caller's
/// thread, in other pieces than went in, so there is a queue in each direction.
final class UnpackingThread: Sendable {
  /// An output of the thread.
  enum Output: Sendable {
    /// Bytes of the payload, and the compressed size up to them.
    case payload([UInt8], compressedByteCount: Int)
    /// A piece of the response was processed; the total number of bytes in and out so far.
    case taken(bytesIn: Int, bytesUnpacked: Int)
    /// The response is complete, or refused. No output follows.
    case ended(WireError?)
  }

  /// The maximum number of pending pieces of the response.
  static let inputCapacity = 6

  /// The pending pieces of the response. An empty piece marks the end.
  private let input = BoundedQueue<[UInt8]>(capacity: inputCapacity)
  private let output = BoundedQueue<Output>(capacity: 16)

  private let worker: Worker
  private let isStarted = Atomic(false)

  /// Creates an unpacker with no input; its thread starts with the first piece.
  init(limits: WireLimits, allowsBarePayload: Bool) throws(WireError) {
    worker = Worker(
      try ResponseUnpacker(limits: limits, allowsBarePayload: allowsBarePayload), from: input, to: output)
  }

  deinit {
    // A worker that waits for either queue finds it closed, and ends.
    input.close()
    output.close()
  }

  /// Sends a piece of the response; an empty one marks its end.
  func send(_ bytes: [UInt8]) {
    if !isStarted.exchange(true, ordering: .relaxed) {
      let worker = worker
      DispatchQueue(label: "shelfmark.unpacking").async { worker.run() }
    }
    _ = input.push(bytes)
  }

  /// Waits for the next output and returns it. Must not be called again after ``Output/ended(_:)``.
  func receive() -> Output { output.pop() ?? .ended(nil) }

  /// The work of the thread. It holds the queues, not their owner.
  private final class Worker: @unchecked Sendable {
    // Sendable: passed to the thread once, before it starts, and used only there.
    private var unpacker: ResponseUnpacker
    private let input: BoundedQueue<[UInt8]>
    private let output: BoundedQueue<Output>

    init(_ unpacker: consuming ResponseUnpacker, from input: BoundedQueue<[UInt8]>, to output: BoundedQueue<Output>) {
      self.unpacker = unpacker
      self.input = input
      self.output = output
    }

    func run() {
      let output = output
      var isWanted = true
      do throws(WireError) {
        while isWanted, let bytes = input.pop() {
          if bytes.isEmpty {
            try unpacker.finish()
            break
          }
          try unpacker.unpack(bytes.span) { (chunk, packed) throws(WireError) in
            var bytes: [UInt8] = []
            bytes.append(copying: chunk)
            if isWanted { isWanted = output.push(.payload(bytes, compressedByteCount: packed)) }
          }
          isWanted =
            isWanted && output.push(.taken(bytesIn: unpacker.bytesIn, bytesUnpacked: unpacker.bytesUnpacked))
        }
        _ = output.push(.ended(nil))
      } catch {
        _ = output.push(.ended(error))
      }
    }
  }
}
