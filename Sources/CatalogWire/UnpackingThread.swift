import Dispatch
import Synchronization

/// The first stage of a decoder on a thread of its own: base64 and inflating take as long as all that follows, and need
/// nothing from it.
///
/// Pieces of the answer go in with ``send(_:)``, pieces of the payload come out with ``receive()``. Memory: the pieces in
/// both queues, which are bounded.
final class UnpackingThread: Sendable {
  /// What comes out.
  enum Output: Sendable {
    /// Bytes of the payload, and the packed size up to them.
    case payload([UInt8], packedByteCount: Int)
    /// A piece of the answer was taken: as many bytes in and out so far.
    case taken(bytesIn: Int, bytesUnpacked: Int)
    /// The answer is complete, or refused. Nothing follows.
    case ended(WireError?)
  }

  /// Pieces of the answer that may wait.
  static let inputCapacity = 6

  /// Pieces of the answer that wait. The end is an empty one.
  private let input = BoundedQueue<[UInt8]>(capacity: inputCapacity)
  private let output = BoundedQueue<Output>(capacity: 16)

  private let worker: Worker
  private let isStarted = Atomic(false)

  /// Makes an unpacker that has seen nothing yet; its thread starts with the first piece.
  init(limits: WireLimits, allowsBarePayload: Bool) throws(WireError) {
    worker = Worker(
      try ResponseUnpacker(limits: limits, allowsBarePayload: allowsBarePayload), from: input, to: output)
  }

  deinit {
    // A worker that waits for either queue finds it closed, and ends.
    input.close()
    output.close()
  }

  /// Hands over a piece of the answer; an empty one says that it is complete.
  func send(_ bytes: [UInt8]) {
    if !isStarted.exchange(true, ordering: .relaxed) {
      let worker = worker
      DispatchQueue(label: "shelfmark.unpacking").async { worker.run() }
    }
    _ = input.push(bytes)
  }

  /// The next output; waits for it. After ``Output/ended(_:)`` nobody may ask again.
  func receive() -> Output { output.pop() ?? .ended(nil) }

  /// What runs on the thread. It holds the queues, not their owner.
  private final class Worker: @unchecked Sendable {
    // Sendable: handed to the thread once, before it starts, and used there alone.
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
            if isWanted { isWanted = output.push(.payload(bytes, packedByteCount: packed)) }
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
