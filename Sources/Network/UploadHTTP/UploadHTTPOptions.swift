/// How uploads go over HTTP.
public struct UploadHTTPOptions: Sendable {
  /// What a request's body is. A value with files is always a form: the field `payload` with its JSON, and then the
  /// files.
  public enum Body: Sendable {
    /// A value is its JSON; JSON text is sent as it is; a file is its bytes, as `application/octet-stream`.
    case json
    /// `multipart/form-data` with one part: `payload`, JSON as above, or `file`, the bytes of a file under its name.
    case multipart
  }

  /// What the body of a request with several uploads is.
  public enum BatchFormat: String, Sendable, CaseIterable {
    /// A line of JSON for each payload, as `application/x-ndjson`. JSON text with line breaks has spaces instead.
    case ndjson
    /// A JSON array of the payloads.
    case array
  }

  /// The request's method.
  public var method = "POST"
  /// What its body is.
  public var body = Body.json
  /// Whether bodies are packed (`Content-Encoding: gzip`). Few servers take that unasked.
  public var isCompressed = false
  /// Further headers, in this order. `Idempotency-Key`, `Content-Type`, `Content-Encoding` and those of signatures are
  /// the transport's.
  public var headers: [(name: String, value: String)] = []
  /// The `User-Agent`, if ``headers`` has none.
  public var userAgent: String?
  /// The secrets by which requests are signed as in Standard Webhooks, the present one first: a signature for each.
  /// Without any there are no signatures.
  public var secrets: [WebhookSecret] = []
  /// The longest time until a connection stands.
  public var connectTimeout: Duration = .seconds(10)
  /// The longest time for one attempt, up to the head of the answer. What follows in it decides nothing, unless it is
  /// read for a success rule or a batch; it may take as long once more then.
  public var timeout: Duration = .seconds(60)
  /// Whether the body of each answer is read completely and handed on, for a success rule (`WorkerOptions.success`).
  /// Answers to batches are read in any case.
  public var readsResponses = false
  /// The most bytes of a body that is read; a longer one cannot be evaluated, and its upload is sent again.
  public var maximumResponseByteCount = 1 << 20
  /// What the body of a batch is.
  public var batchFormat = BatchFormat.ndjson

  /// Creates the default options: each upload is one request with JSON as its body.
  public init() {}
}

/// What is wrong with the way that uploads should go.
public enum UploadHTTPError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A template is no http or https URL, or has a placeholder that nobody fills.
  case template(String)
  /// A header cannot be sent, or is the transport's own.
  case header(String)
  /// A secret cannot be one, and why.
  case secret(String)

  /// Which template, header or secret cannot be used, and why, for people.
  public var description: String {
    switch self {
    case .template(let text):
      "\(text) is no http or https URL with {id} and {kind} as the only placeholders, behind the host, and without a user"
    case .header(let name): "the header \(name) cannot be sent"
    case .secret(let problem): "the secret cannot be used: \(problem)"
    }
  }
}
