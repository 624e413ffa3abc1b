import DocumentFormat
import Documents
import Foundation
import LogStore
import StoreTestSupport
import Testing
import UploadQueue

@testable import UploadHTTP

/// What a transport says of a receiver's certificate, and which authorities it trusts.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: TLSReceiver.openssl != nil, "openssl is not installed, which makes certificates"))
struct UploadSecurityTests {
  private static let valid = ("20200101000000Z", "21200101000000Z")

  private let folder: TemporaryDirectory
  private let queue: UploadQueue

  init() throws {
    folder = try TemporaryDirectory()
    queue = try UploadQueue(in: DocumentStore.open(StoreLocation.test(folder.directory, name: "documents")))
  }

  /// Sends an upload to `https://HOST:PORT/` of a receiver behind TLS.
  private func send(
    to host: String = "localhost", name: String = "localhost", dates: (String, String) = valid, trusts: Bool = false,
    change: (inout UploadHTTPOptions) -> Void = { _ in }
  ) async throws -> UploadResponse {
    var result: UploadResponse?
    try await Receiver.run { _, _ in
      .status("204 No Content")
    } _: { receiver in
      let front = try TLSReceiver(name: name, dates: dates, port: receiver.port)
      var options = UploadHTTPOptions()
      options.timeout = .seconds(600)
      if trusts { options.certificateAuthorityFile = front.authority }
      options.names = UploadHTTPOptions.Names(url: "webhooks.w.url", certificateAuthorityFile: "webhooks.w.caFile")
      change(&options)
      let http = try UploadHTTPTransport(url: "https://\(host):\(front.port)/", options: options)
      let upload = try await queue.upload(queue.enqueue(payload: .value(.text("a")), kind: "k"))
      let sent: Result<UploadResponse, any Error>
      do { sent = .success(try await http.send(#require(upload))) } catch { sent = .failure(error) }
      try await http.shutdown()
      // Nothing of an upload reaches a receiver that is not trusted.
      if case .failure = sent { #expect(receiver.requests.isEmpty) }
      withExtendedLifetime(front) {}
      result = try sent.get()
    }
    return try #require(result)
  }

  private func reason(
    to host: String = "localhost", name: String = "localhost", dates: (String, String) = valid, trusts: Bool = false,
    change: (inout UploadHTTPOptions) -> Void = { _ in }
  ) async throws -> String {
    let error = await #expect(throws: UploadNoAnswer.self) {
      try await send(to: host, name: name, dates: dates, trusts: trusts, change: change)
    }
    return try #require(error).reason
  }

  @Test func `an authority is trusted if its file is named`() async throws {
    #expect(try await send(trusts: true).status == 204)
  }

  @Test func `an unknown authority, and the setting that makes it known`() async throws {
    let reason = try await reason()
    #expect(
      reason
        == "no secure connection: the server's certificate is signed by an authority that is not trusted here; name the PEM"
        + " file of the authority that signed it with webhooks.w.caFile, or have the server send the whole chain of its"
        + " certificates")
  }

  @Test(arguments: [false, true])
  func `a certificate that expired, and what this clock says`(trusts: Bool) async throws {
    let today = Date().ISO8601Format().prefix(10)
    let reason = try await reason(dates: ("20200101000000Z", "20210101000000Z"), trusts: trusts)
    #expect(
      reason
        == "no secure connection: the server's certificate expired on 2021-01-01; have the server's certificate renewed, or set"
        + " the clock of this machine, which says \(today)")
  }

  @Test func `a certificate that is not valid yet`() async throws {
    let reason = try await reason(dates: ("21000101000000Z", "21200101000000Z"), trusts: true)
    let words = "the server's certificate is valid from 2100-01-01 on, and this machine's clock says "
    #expect(reason.contains(words) && reason.contains("set the clock of this machine"), "\(reason)")
  }

  @Test func `a certificate of another host`() async throws {
    let reason = try await reason(name: "shop.example.org", trusts: true)
    #expect(
      reason
        == "no secure connection: the server's certificate is for another host name than localhost; use a name of the"
        + " certificate in webhooks.w.url")
  }

  @Test(arguments: ["/none/authority.pem", "/dev/null"])
  func `a file that names no authorities`(path: String) async throws {
    let reason = try await reason { $0.certificateAuthorityFile = path }
    #expect(
      reason
        == "no secure connection: \(path) cannot be read, or holds no certificates in PEM form; correct webhooks.w.caFile"
    )
  }
}
