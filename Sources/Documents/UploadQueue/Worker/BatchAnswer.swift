import DocumentFormat

/// The result of each upload in a batch, parsed from the server's answer.
///
/// A 2xx answer may contain a JSON object that lists results:
///
///     {"failed": [{"id": "0197…", "status": 422, "message": "no such product"}, {"index": 7, "status": 503}]}
///     {"failed": ["0197…", 7]}
///     {"results": [{"id": "0197…", "status": 204}, {"index": 1, "status": 500}]}
///
/// With `failed`, an upload that is not listed arrived. With `results`, an upload that is not listed did not arrive,
/// and is sent again. An element names its upload by `index`, from 0, or by `id`: the `id` in its payload, if the
/// payload is an object with a textual `id`, otherwise the upload's own ID. An element may also be that index or ID
/// alone. A `status` has the same meaning as the status of a single answer (500 if missing).
enum BatchAnswer: Equatable {
  /// The answer applies to all uploads.
  case forAll
  /// The outcome of each upload, in batch order.
  case each([AttemptOutcome])

  /// Parses an answer.
  ///
  /// - Throws: ``UnreadableResponse`` if the answer does not determine which uploads arrived.
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
    // Payloads are read only if an element names an upload by ID.
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

  /// The outcome of one element. A status that pauses the destination does not apply here: the receiver accepted other
  /// uploads.
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
  /// The ID by which the answer to a batch names this upload.
  var nameInBatch: String {
    switch payload {
    case .json(let json): if let id = json.text(ofField: "id") { return id }
    default: if case .text(let id)? = payload.document?["id"] { return id }
    }
    return id.text
  }
}
