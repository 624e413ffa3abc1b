public import DocumentFormat

/// A condition over the JSON of a response: an answer with a 2xx means success only where it holds.
///
/// It is the condition language of documents, such as `status.code == 200`. A missing field is null, so a rule that asks for a field does
/// not hold for a response without it.
public struct UploadSuccessRule: Sendable, CustomStringConvertible {
  /// The rule as it was written.
  public let description: String
  private let condition: CompiledCondition

  /// - Throws: `QuerySyntaxError` with the column, and what was expected there.
  public init(_ text: String) throws(QuerySyntaxError) {
    description = text
    condition = CompiledCondition(try Condition(parsing: text))
  }

  /// Whether the rule holds for a response.
  ///
  /// - Throws: ``UnreadableResponse`` where the body was not read, is not complete, or is not JSON.
  public func holds(for response: UploadResponse) throws -> Bool {
    let value = try response.json()
    do {
      let bytes = value.documentBytes
      return try condition.matches(DocumentView(bytes.rawSpan))
    } catch { throw UnreadableResponse("\(error)") }
  }
}

/// What a server sent cannot be read, so nobody knows what it did with the upload: it is sent again.
public struct UnreadableResponse: Error, Sendable, Equatable, CustomStringConvertible {
  /// Why, for people.
  public let description: String

  public init(_ description: String) { self.description = description }
}

extension UploadResponse {
  /// The body as JSON.
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
      do { return try DocumentValue(json: text) } catch {
        throw UnreadableResponse(
          bytes.isEmpty ? "the response has no body" : "the response's body is not JSON: \(error)")
      }
    }
  }
}
