import COpenAPI
import JSONFormat
import Synchronization

/// The OpenAPI 3.1 document of the interface: `openapi.json` in the module `COpenAPI`.
///
/// The file describes a daemon on loopback that has a token. For other configurations, members about the token are
/// omitted. A test compares the document with the running server.
enum OpenAPIDocument {
  /// The requests that need a token, and whose operations in the document require one.
  struct Security: Sendable, Hashable {
    let ofCallers: Bool
    let ofMachine: Bool

    /// The security that an access control enforces.
    init(_ accessControl: AccessControl) {
      ofCallers = accessControl.asksToken(for: .caller)
      ofMachine = accessControl.asksToken(for: .machine)
    }

    /// Whether the document omits a member.
    ///
    /// - Parameter path: The names of the member and of its enclosing members, outermost first.
    fileprivate func omits(_ path: [String]) -> Bool {
      if !ofCallers { return ["security", "securitySchemes"].contains(path.last) }
      // The file exempts the metrics. Without the exemption the rule for all operations applies.
      return ofMachine && path == ["paths", "/metrics", "get", "security"]
    }
  }

  /// The documents that were made. There are three at most, and each is made once in a process.
  private static let made = Mutex<[Security: [UInt8]]>([:])

  /// The complete document.
  static func bytes(_ security: Security) -> [UInt8] {
    made.withLock { made in
      if let document = made[security] { return document }
      do throws(JSONError) {
        let document = try bytes(omitting: security.omits)
        made[security] = document
        return document
      } catch {
        preconditionFailure("openapi.json is no JSON: \(error)")
      }
    }
  }

  /// The bytes of the file.
  private static let file: [UInt8] = {
    var count = 0
    // The bytes are part of the program and are never freed; they are copied here.
    let bytes = unsafe openapi_document(&count)
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  }()

  /// The file without some members. Such a member must not be the last one of its object, or a comma would be left
  /// over.
  private static func bytes(omitting isOmitted: ([String]) -> Bool) throws(JSONError) -> [UInt8] {
    var tokens = JSONTokenizer(limits: JSONLimits(nestingDepth: 64, tokenByteCount: file.count))
    tokens.append(file.span)
    tokens.finish()
    var bytes: [UInt8] = []
    // The bytes before this offset are copied or omitted.
    var copiedEnd = 0
    var path: [String] = []
    // The depth of the member that is being omitted.
    var omittedDepth: Int?
    while true {
      switch try tokens.next() {
      case .key:
        path = path.prefix(tokens.depth - 1) + Array(repeating: "", count: max(0, tokens.depth - 1 - path.count))
        path.append(tokens.textString)
        if omittedDepth == tokens.depth {
          copiedEnd = tokens.tokenOffset
          omittedDepth = nil
        }
        if omittedDepth == nil, isOmitted(path) {
          bytes += file[copiedEnd..<tokens.tokenOffset]
          omittedDepth = tokens.depth
        }
      case .endOfDocument: return bytes + file[copiedEnd...]
      default: break
      }
    }
  }
}
