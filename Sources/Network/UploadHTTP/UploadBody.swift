import CurlClient
import Gzip
import Synchronization
import UploadQueue

/// The body of a request: bytes and files, one after another.
struct UploadBody: Sendable {
  enum Part: Sendable {
    case bytes([UInt8])
    case file(FileReference)
  }

  /// Its media type.
  let type: String
  let parts: [Part]

  init(type: String, _ parts: [Part]) {
    self.type = type
    self.parts = parts
  }

  /// Whether it contains files, which are not read into memory at once.
  var hasFiles: Bool { parts.contains { if case .file = $0 { true } else { false } } }

  var byteCount: Int {
    parts.reduce(0) { count, part in
      switch part {
      case .bytes(let bytes): count + bytes.count
      case .file(let file): count + file.byteCount
      }
    }
  }

  /// Returns the complete body, compressed if `isCompressed`. Blocks while files are read. Memory: the complete body.
  func bytes(isCompressed: Bool) throws -> [UInt8] {
    let reader = Reader(self, isCompressed: isCompressed)
    var bytes: [UInt8] = []
    while let piece = try reader.next() { bytes += piece }
    return bytes
  }

  /// Reads a body piece by piece. Calls block while files are read, and must not run at the same time.
  ///
  /// Memory: one piece, of a file at most 1 MiB.
  final class Reader: Sendable {
    private struct State {
      var parts: ArraySlice<Part>
      var file: FileContents?
      let deflater: GzipDeflater?
      var isOver = false
    }

    /// Guards the position of the reader.
    private let state: Mutex<State>

    init(_ body: UploadBody, isCompressed: Bool) {
      state = Mutex(State(parts: body.parts[...], deflater: isCompressed ? GzipDeflater(level: -1) : nil))
    }

    /// Returns the next bytes; `nil` at the end.
    ///
    /// - Throws: `UploadQueueError.unreadable`; `.changed` for a file that was changed after it was enqueued, at the end of
    ///   the file at the latest.
    func next() throws -> [UInt8]? {
      try state.withLock { state in
        while !state.isOver {
          let plain = try Self.plain(&state)
          state.isOver = plain == nil
          guard let deflater = state.deflater else { return plain }
          let input = plain ?? []
          var packed: [UInt8] = []
          deflater.consume(input.span, isLast: plain == nil) { piece in
            for index in piece.indices { packed.append(piece[index]) }
          }
          if !packed.isEmpty { return packed }
        }
        return nil
      }
    }

    private static func plain(_ state: inout State) throws -> [UInt8]? {
      while true {
        if let file = state.file {
          if let piece = try file.next() { return piece }
          state.file = nil
        }
        switch state.parts.popFirst() {
        case .bytes(let bytes): if !bytes.isEmpty { return bytes }
        case .file(let file): state.file = try FileContents(file)
        case nil: return nil
        }
      }
    }
  }
}

extension UploadBody {
  /// Returns the body for the HTTP client. Each piece of a file is read after the piece before it was sent.
  func requestBody(isCompressed: Bool) -> ClientBody {
    ClientBody(byteCount: isCompressed ? nil : byteCount) {
      let reader = Reader(self, isCompressed: isCompressed)
      return { try reader.next() }
    }
  }
}
