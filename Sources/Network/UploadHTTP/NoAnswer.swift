import CurlClient
import Essentials
import UploadQueue

/// An attempt without a response, described for people: `cannot reach 127.0.0.1:9000: connection refused`.
public struct UploadNoAnswer: Error, Sendable, Equatable, CustomStringConvertible {
  /// Host and port.
  public let destination: String
  /// The reason in a few words.
  public let reason: String

  /// - Parameters:
  ///   - error: The error of the HTTP client.
  ///   - url: The URL of the upload.
  init(_ error: ClientError, url: String) {
    let url = URL(string: url)
    let host = url?.host ?? "the receiver"
    let name = host.contains(":") ? "[\(host)]" : host
    let port = url?.port ?? (url?.scheme?.lowercased() == "https" ? 443 : 80)
    destination = url?.host == nil ? host : "\(name):\(port)"
    reason = error.reason(host: host)
  }

  /// The receiver and the reason, for people.
  public var description: String { "cannot reach \(destination): \(reason)" }
}
