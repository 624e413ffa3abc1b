import CurlClient
import Essentials
import UploadQueue

/// An attempt without a response, described for people: `cannot reach 127.0.0.1:9000: connection refused`.
public struct UploadNoAnswer: Error, Sendable, Equatable, CustomStringConvertible {
  /// Host and port.
  public let destination: String
  /// The reason in a few words.
  public let reason: String

  /// Describes an error. If the receiver's certificate is not trusted, asks for it once more, to say why.
  ///
  /// - Parameters:
  ///   - error: The error of the HTTP client.
  ///   - request: The request of the upload.
  init(_ error: ClientError, of request: ClientRequest, _ options: UploadHTTPOptions) async {
    let url = URL(string: request.url)
    let host = url?.host ?? "the receiver"
    let name = host.contains(":") ? "[\(host)]" : host
    let port = url?.port ?? (url?.scheme?.lowercased() == "https" ? 443 : 80)
    destination = url?.host == nil ? host : "\(name):\(port)"
    let now = Int64(Date().timeIntervalSince1970)
    let timeout = min(options.connectTimeout, .seconds(5))
    guard let fault = await EncryptionFault(error, of: request, host: host, timeout: timeout, now: now) else {
      reason = error.reason(host: host)
      return
    }
    let advice = fault.advice(
      authorityFile: options.names.certificateAuthorityFile, url: options.names.url, now: now)
    reason = "no secure connection: " + [fault.reason, advice].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// The receiver and the reason, for people.
  public var description: String { "cannot reach \(destination): \(reason)" }
}
