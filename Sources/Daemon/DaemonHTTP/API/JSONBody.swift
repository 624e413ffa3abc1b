import HTTPServer
import JSONFormat

/// A JSON value of a request's body.
enum JSONBody: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number; `nil` if it is not a 64-bit integer.
  case number(Int64?)
  case text(String)
  case array([JSONBody])
  /// An object. Its names are unique.
  case object([String: JSONBody])

  /// The maximum nesting depth of arrays and objects in a body.
  static let nestingLimit = 16
  /// The maximum number of values in a body, including unknown members and nested values: a small value takes far more
  /// memory than its text. A thousand scans with all their members use a quarter of it.
  static let valueLimit = 16_384

  /// - Throws: `ErrorResponse` with status 400 that contains the position of the error.
  init(
    _ bytes: [UInt8], nestingLimit: Int = Self.nestingLimit, valueLimit: Int = Self.valueLimit
  ) throws(ErrorResponse) {
    var tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: nestingLimit, tokenByteCount: max(bytes.count, 1)))
    tokens.append(bytes.span)
    tokens.finish()
    var left = valueLimit
    var repeated: String?
    do throws(JSONError) {
      self = try Self.value(tokens.next(), &tokens, &left, &repeated)
      // Only white space may follow the value. After too many values, the rest is not read.
      if left >= 0 { _ = try tokens.next() }
    } catch {
      throw .badRequest("the body is no JSON: \(error)")
    }
    if left < 0 { throw .badRequest("the body has more than \(valueLimit) values; send less at once") }
    if let repeated {
      throw .badRequest(
        "the body has \(String(repeated.prefix(200)).debugDescription) twice in one object, and nobody can tell which one was"
          + " meant; keep one")
    }
  }

  /// Parses the value that starts with a token. The tokenizer limits the depth of recursion.
  ///
  /// - Parameters:
  ///   - left: The number of values that are still allowed. If it falls below 0, the returned value is incomplete.
  ///   - repeated: Set to the first name that an object contains twice.
  private static func value(
    _ token: JSONToken, _ tokens: inout JSONTokenizer, _ left: inout Int, _ repeated: inout String?
  ) throws(JSONError) -> JSONBody {
    left -= 1
    switch token {
    case .string: return .text(tokens.textString)
    case .number: return .number(tokens.int64Value)
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .beginArray:
      var values: [JSONBody] = []
      while true {
        let token = try tokens.next()
        if token == .endArray { return .array(values) }
        values.append(try value(token, &tokens, &left, &repeated))
        if left < 0 { return .null }
      }
    case .beginObject:
      var members: [String: JSONBody] = [:]
      while try tokens.next() == .key {
        let name = tokens.textString
        let value = try value(tokens.next(), &tokens, &left, &repeated)
        if left < 0 { return .null }
        // Canonically equivalent text of other characters, for example é as one or two, is another name, and not one
        // that the daemon knows.
        if let index = members.index(forKey: name) {
          if members[index].key.utf8.elementsEqual(name.utf8) { repeated = repeated ?? name }
        } else {
          members[name] = value
        }
      }
      return .object(members)
    // The other tokens start no value; the tokenizer does not return them here.
    case .null, .needsInput, .endOfDocument, .endObject, .endArray, .key, .stringPart, .stringEnd: return .null
    }
  }

  /// The members of an object.
  ///
  /// - Throws: `ErrorResponse` with status 400 if the value is not an object.
  func members(_ what: String = "the body") throws(ErrorResponse) -> BodyMembers {
    guard case .object(let members) = self else { throw .badRequest("\(what): a JSON object") }
    return BodyMembers(members: members)
  }
}

/// Typed access to the members of a body. A member that is null counts as absent.
struct BodyMembers: Sendable {
  fileprivate let members: [String: JSONBody]

  init() { members = [:] }

  fileprivate init(members: [String: JSONBody]) { self.members = members }

  /// The names of all members, in no order.
  var names: [String] { Array(members.keys) }

  subscript(name: String) -> JSONBody? {
    let member = members[name]
    return member == .null ? nil : member
  }

  func bool(_ name: String) throws(ErrorResponse) -> Bool? {
    guard let member = self[name] else { return nil }
    guard case .bool(let value) = member else { throw .badRequest("\(name): true or false") }
    return value
  }

  func text(_ name: String) throws(ErrorResponse) -> String? {
    guard let member = self[name] else { return nil }
    guard case .text(let value) = member else { throw .badRequest("\(name): a text") }
    return value
  }

  func texts(_ name: String) throws(ErrorResponse) -> [String]? {
    guard let member = self[name] else { return nil }
    let errorResponse = ErrorResponse.badRequest("\(name): an array of text")
    guard case .array(let values) = member else { throw errorResponse }
    var texts: [String] = []
    for value in values {
      guard case .text(let text) = value else { throw errorResponse }
      texts.append(text)
    }
    return texts
  }

  func objects(_ name: String) throws(ErrorResponse) -> [BodyMembers]? {
    guard let member = self[name] else { return nil }
    let errorResponse = ErrorResponse.badRequest("\(name): an array of objects")
    guard case .array(let values) = member else { throw errorResponse }
    var objects: [BodyMembers] = []
    for value in values {
      guard case .object(let members) = value else { throw errorResponse }
      objects.append(BodyMembers(members: members))
    }
    return objects
  }
}
