/// Options of uploads over HTTP.
public struct UploadHTTPOptions: Sendable {
  /// The format of a request's body. A value with files is always sent as a form: the field `payload` with its JSON,
  /// then the files.
  public enum Body: Sendable {
    /// A value as JSON, JSON text unchanged, a file as its bytes with the type `application/octet-stream`.
    case json
    /// `multipart/form-data` with one part: `payload`, JSON as above, or `file`, the bytes of a file under its name.
    case multipart
  }

  /// The format of the body of a batch.
  public enum BatchFormat: String, Sendable, CaseIterable {
    /// One line of JSON for each payload (`application/x-ndjson`). Line breaks in JSON text become spaces.
    case ndjson
    /// A JSON array of the payloads.
    case array
  }

  /// The request's method.
  public var method = "POST"
  /// The format of its body.
  public var body = Body.json
  /// Whether bodies are compressed (`Content-Encoding: gzip`). Few servers accept that.
  public var isCompressed = false
  /// Additional headers, in this order. The transport sets `Idempotency-Key`, `Content-Type`, `Content-Encoding` and the
  /// headers of signatures itself.
  public var headers: [(name: String, value: String)] = []
  /// The `User-Agent`, if ``headers`` has none.
  public var userAgent: String?
  /// The secrets with which requests are signed according to Standard Webhooks, the current one first. Each secret adds a
  /// signature; without secrets there are no signatures.
  public var secrets: [WebhookSecret] = []
  /// A PEM file of certificates to trust *instead of* the system's, for example of a company's own certificate
  /// authority.
  public var certificateAuthorityFile: String?
  /// The program's names of ``certificateAuthorityFile`` and of the URL, for messages.
  package var names = Names()
  /// The timeout for opening a connection.
  public var connectTimeout: Duration = .seconds(10)
  /// The timeout of one attempt, up to the head of the response. A body that is read for a success rule or a batch may
  /// take the same time again; otherwise the body has no effect.
  public var timeout: Duration = .seconds(60)
  /// Whether the complete body of each response is read and returned, for a success rule (`WorkerOptions.success`).
  /// Responses to batches are always read.
  public var readsResponses = false
  /// The maximum size of a response body in bytes. A longer body cannot be evaluated, and its upload is sent again.
  public var maximumResponseByteCount = 1 << 20
  /// The format of the body of a batch.
  public var batchFormat = BatchFormat.ndjson
  /// Whether a web page (HTML) with a 2xx status means success. If not, it is a login page or a proxy's page, and the
  /// upload is sent again.
  public var acceptsHTML = true

  /// The names of settings that may help after an attempt without an answer. Without a name, the remedy is described.
  package struct Names: Sendable, Equatable {
    package var url: String?
    package var certificateAuthorityFile: String?

    package init(url: String? = nil, certificateAuthorityFile: String? = nil) {
      self.url = url
      self.certificateAuthorityFile = certificateAuthorityFile
    }
  }

  /// Creates the default options: each upload is one request with JSON as its body.
  public init() {}
}

/// An invalid option of an upload transport.
public enum UploadHTTPError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The template is not an http or https URL, or has an unknown placeholder.
  case template(String)
  /// The header is not valid, or the transport sets it itself.
  case header(String)
  /// The secret is not valid; the text says why.
  case secret(String)

  /// The template, header or secret that cannot be used, and the reason, for people.
  public var description: String {
    switch self {
    case .template(let text):
      "\(text) is no http or https URL with {id} and {kind} as the only placeholders, behind the host, and without a user"
    case .header(let name): "the header \(name) cannot be sent"
    case .secret(let problem): "the secret cannot be used: \(problem)"
    }
  }
}
