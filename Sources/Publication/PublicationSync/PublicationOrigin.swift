package import CatalogHTTP
import JSONFormat

/// Where the files of a publication are read from: a web server, a mirror, or the publisher's own storage.
package protocol PublicationOrigin: Sendable {
  /// The name of the place, for messages.
  var name: String { get }
  /// The requests so far, and the bytes that they brought.
  var traffic: (requests: Int, bytesIn: Int) { get }

  /// Reads a small file.
  ///
  /// - Parameters:
  ///   - limit: The most bytes that it may have.
  ///   - validators: What an earlier answer said, to be told if nothing has changed.
  ///   - isFresh: Whether caches on the way must not answer.
  /// - Throws: ``PublicationFailure/unavailable(_:)``; `CancellationError`.
  func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents

  /// Reads a part of a file, and passes it on as it arrives.
  ///
  /// - Returns: Whether the file is there and has the part.
  /// - Throws: ``PublicationFailure/unavailable(_:)``; `CancellationError`; the errors of `onPiece`.
  nonisolated(nonsending) func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool
}

/// What a place has under a name.
package enum OriginContents: Sendable {
  /// The same as the validators say.
  case unchanged
  /// Nothing, and the status with which a web server says so.
  case missing(status: Int)
  case bytes([UInt8], FileValidators?)
}

extension FileTransport: PublicationOrigin {
  package var name: String { url.hasSuffix("/") ? String(url.dropLast()) : url }

  package func contents(
    of name: String, limit: Int, validators: FileValidators?, isFresh: Bool
  ) async throws -> OriginContents {
    var request = FileRequest(limit: limit)
    request.validators = validators
    request.isFresh = isFresh
    var bytes: [UInt8] = []
    do {
      switch try await get(name, request, onPiece: { bytes.append(copying: $0) }) {
      case .notModified: return .unchanged
      case .missing(let status, _): return .missing(status: status)
      case .rangeRefused: return .missing(status: 416)
      case .body(let body): return .bytes(bytes, body.validators)
      }
    } catch let error as TransportError {
      throw PublicationFailure.unavailable("\(error)")
    }
  }

  nonisolated(nonsending) package func read(
    _ name: String, _ range: Range<Int>, isFresh: Bool, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> Bool {
    var request = FileRequest(limit: range.count)
    request.offset = range.lowerBound
    request.byteCount = range.count
    request.isFresh = isFresh
    do {
      switch try await get(name, request, onPiece: onPiece) {
      case .body(let body): return body.byteCount == range.count
      case .notModified, .missing, .rangeRefused: return false
      }
    } catch let error as TransportError {
      throw PublicationFailure.unavailable("\(error)")
    }
  }
}
