import Foundation
import StoreTestSupport
import Testing

/// Certificates that openssl makes for one test, and servers that show them and pass everything on to a port.
final class TLSReceiver {
  static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private let folder: TemporaryDirectory
  private var process: Process?
  private let input = Pipe()
  /// The authority, as a file in PEM form.
  let authority: String
  private(set) var port = 0

  /// - Parameters:
  ///   - name: The host name of the certificate.
  ///   - dates: When it becomes valid and when it expires, as `YYYYMMDDHHMMSSZ`.
  ///   - port: The port of 127.0.0.1 that everything is passed on to.
  init(name: String = "localhost", dates: (String, String), port: Int) throws {
    folder = try TemporaryDirectory()
    authority = folder.path + "/authority.pem"
    try makeAuthority()
    try makeCertificate(name, dates)
    let front = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Server/CatalogHTTPTests/Resources/tls-front.py")
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", front.standardizedFileURL.path, folder.path + "/server.pem", folder.path + "/server.key", String(port),
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    self.process = process
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    self.port = try #require(Int(line.filter(\.isNumber)))
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process?.waitUntilExit()
  }

  private func makeAuthority() throws {
    try Data(
      """
      [ca]
      default_ca = authority
      [authority]
      database = \(folder.path)/index
      rand_serial = yes
      default_md = sha256
      policy = policy
      copy_extensions = copy
      x509_extensions = leaf
      [policy]
      commonName = supplied
      [leaf]
      basicConstraints = CA:FALSE
      [req]
      distinguished_name = name
      [name]
      """.utf8
    ).write(to: URL(filePath: folder.path + "/openssl.cnf"))
    try Data().write(to: URL(filePath: folder.path + "/index"))
    try openssl([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "36500", "-subj",
      "/CN=Test authority", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", folder.path + "/authority.key",
      "-out", authority,
    ])
  }

  private func makeCertificate(_ name: String, _ dates: (String, String)) throws {
    try openssl([
      "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
      "-addext",
      "subjectAltName=DNS:\(name)", "-keyout", folder.path + "/server.key", "-out", folder.path + "/server.csr",
    ])
    try openssl([
      "ca", "-batch", "-notext", "-config", folder.path + "/openssl.cnf", "-cert", authority, "-keyfile",
      folder.path + "/authority.key", "-startdate", dates.0, "-enddate", dates.1, "-outdir", folder.path, "-in",
      folder.path + "/server.csr", "-out", folder.path + "/server.pem",
    ])
  }

  private func openssl(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.openssl))
    process.arguments =
      arguments.first == "req" ? arguments + ["-config", folder.path + "/openssl.cnf"] : arguments
    let words = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = words
    try process.run()
    let text = String(decoding: try words.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(text)")
  }
}
