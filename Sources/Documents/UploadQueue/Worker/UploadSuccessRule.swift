public import DocumentFormat

/// A condition on the JSON body of a response. An answer with a 2xx status means success only if the condition holds.
///
/// The syntax is the condition language of documents, for example `status.code == 200`. A missing field is null, so a
/// rule that requires a field does not hold for a response without it.
public struct UploadSuccessRule: Sendable, CustomStringConvertible {
  /// The source text of the rule.
  public let description: String
  private let condition: CompiledCondition

  /// Parses a rule.
  ///
  /// - Throws: `QuerySyntaxError` with the column, and what was expected there.
  public init(_ text: String) throws(QuerySyntaxError) {
    description = text
    condition = CompiledCondition(try Condition(parsing: text))
  }

  /// Returns whether the rule holds for a response.
  ///
  /// - Throws: ``UnreadableResponse`` if the body was not read, is incomplete, or is not JSON.
  public func holds(for response: UploadResponse) throws -> Bool {
    let value = try response.json()
    do {
      let bytes = value.documentBytes
      return try condition.matches(DocumentView(bytes.rawSpan))
    } catch { throw UnreadableResponse("\(error)") }
  }
}

/// A response cannot be read, so it is unknown whether the server accepted the upload. The upload is sent again.
public struct UnreadableResponse: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason, for people.
  public let description: String

  /// Creates an error with the reason for people.
  public init(_ description: String) { self.description = description }
}

extension UploadResponse {
  /// Parses the body as JSON.
  ///
  /// - Throws: ``UnreadableResponse``.
  func json() throws(UnreadableResponse) -> DocumentValue {
    switch body {
    case nil: throw UnreadableResponse("the response's body was not read")
    case .incomplete(let reason): throw UnreadableResponse("the response's body \(reason)")
    case .complete(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw UnreadableResponse("the response's body is not UTF-8")
      }
      do { return try DocumentValue(json: text.utf8.span, repeatedKeys: .firstCounts) } catch {
        throw UnreadableResponse(
          bytes.isEmpty ? "the response has no body" : "the response's body is not JSON: \(error)")
      }
    }
  }
}
