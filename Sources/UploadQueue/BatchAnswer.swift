import DocumentFormat

/// What an answer to a batch says of its uploads.
///
/// A JSON object may list results, in answers with a 2xx:
///
///     {"failed": [{"id": "0197…", "status": 422, "message": "no such product"}, {"index": 7, "status": 503}]}
///     {"failed": ["0197…", 7]}
///     {"results": [{"id": "0197…", "status": 204}, {"index": 1, "status": 500}]}
///
/// With `failed`, an upload that it does not list arrived. With `results`, one that it does not list did not, and is sent again. An element
/// names its upload by `index`, from 0, or by `id`: the `id` in its payload, if that is an object that has one as text, or else the
/// upload's own id; it may also be that index or id alone. A `status` is that of a single answer (500 where it is missing).
enum BatchAnswer: Equatable {
  /// The answer is for all uploads alike.
  case forAll
  /// Of each upload: how it ended.
  case each([AttemptOutcome])

  /// - Throws: ``UnreadableResponse`` where nobody can tell which uploads arrived.
  init(_ response: UploadResponse, to batch: UploadBatch, _ retry: UploadRetryPolicy) throws(UnreadableResponse) {
    self = .forAll
    guard (200...299).contains(response.status) else { return }
    if case .incomplete(let reason)? = response.body {
      throw UnreadableResponse("the response's body \(reason)")
    }
    guard let body = try? response.json() else {
      if response.status == 207 { throw UnreadableResponse("an answer 207 without JSON does not say what arrived") }
      return
    }
    if case .array(let failed)? = body["failed"] {
      self = .each(try Self.outcomes(failed, batch, retry, unlisted: .delivered))
    } else if case .array(let results)? = body["results"] {
      let missing = UploadFailure(status: response.status, message: "the results do not list this upload")
      self = .each(
        try Self.outcomes(results, batch, retry, unlisted: .failed(missing, .failed, retryAfter: nil)))
    } else if response.status == 207 {
      throw UnreadableResponse("an answer 207 without \"failed\" and \"results\" does not say what arrived")
    }
  }

  private static func outcomes(
    _ list: [DocumentValue], _ batch: UploadBatch, _ retry: UploadRetryPolicy, unlisted: AttemptOutcome
  ) throws(UnreadableResponse) -> [AttemptOutcome] {
    // Payloads are only read where an element names one by its id.
    lazy var indexes = Dictionary(
      batch.uploads.enumerated().map { ($1.nameInBatch, $0) }, uniquingKeysWith: { $1 })
    var outcomes = [AttemptOutcome](repeating: unlisted, count: batch.uploads.count)
    for element in list {
      var index: Int?
      switch (element["id"] ?? element, element["index"] ?? element) {
      case (.text(let id), _): index = indexes[id]
      case (_, .integer(let number)): index = Int(exactly: number)
      default: break
      }
      guard let index, outcomes.indices.contains(index) else {
        throw UnreadableResponse("the results name an upload that is not in the batch: \(element.json.prefix(200))")
      }
      outcomes[index] = outcome(element, retry)
    }
    return outcomes
  }

  /// What one element says. A status that is about the receiver cannot be meant here: it took others.
  private static func outcome(_ element: DocumentValue, _ retry: UploadRetryPolicy) -> AttemptOutcome {
    var response = UploadResponse(status: 500, message: "the answer to a batch lists it")
    if case .integer(let status)? = element["status"] {
      response = UploadResponse(status: Int(clamping: status))
    }
    if case .text(let message)? = element["message"] { response.message = message }
    let outcome = retry.outcome(response)
    guard case .failed(let failure, .pausing, let pause) = outcome else { return outcome }
    return .failed(failure, .rejected, retryAfter: pause)
  }
}

extension Upload {
  /// The id by which the answer to a batch names it.
  var nameInBatch: String {
    switch payload {
    case .json(let json): if let id = json.text(ofField: "id") { return id }
    default: if case .text(let id)? = payload.document?["id"] { return id }
    }
    return id.text
  }
}
