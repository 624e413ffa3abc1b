import Foundation
import Glibc

/// A program that ends by itself.
enum Command {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs a program, and returns what it writes to its standard output.
  static func output(_ arguments: [String]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failed(description: "\(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
    }
    return [UInt8](data)
  }
}

/// nginx that serves a directory on loopback, with a configuration in a temporary directory.
final class Nginx {
  /// Where Debian has it.
  static let path = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  let url: String
  let secureURL: String?
  let authorityPath: String
  private let process = Process()
  private let folder: String
  private let log: String

  /// - Parameter hasTLS: Whether it has an address with TLS too, and a certificate of its own.
  init(_ root: String, _ folder: BenchFolder, hasTLS: Bool) throws {
    guard let program = Self.path else {
      throw Command.Failed(description: "there is no nginx: install it (Debian: nginx-light)")
    }
    self.folder = folder.path + "/nginx"
    try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    log = self.folder + "/access.log"
    authorityPath = self.folder + "/certificate.pem"
    let port = try Self.freePort()
    let securePort = try Self.freePort()
    url = "http://127.0.0.1:\(port)"
    secureURL = hasTLS ? "https://127.0.0.1:\(securePort)" : nil
    var secure = ""
    if hasTLS {
      _ = try Command.output([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-keyout",
        self.folder + "/key.pem", "-out", authorityPath, "-subj", "/CN=127.0.0.1", "-addext",
        "subjectAltName=IP:127.0.0.1",
      ])
      secure = """
        server {
          listen 127.0.0.1:\(securePort) ssl backlog=4096;
          ssl_certificate \(authorityPath);
          ssl_certificate_key \(self.folder)/key.pem;
          ssl_session_cache shared:all:10m;
          keepalive_timeout 0;
          root \(root);
        }
        """
    }
    // As Documentation/Fleet.md says, with logs and files of its own.
    let user = getuid() == 0 ? "user root;" : ""
    let text = """
      daemon off; \(user) worker_processes 1; pid \(self.folder)/pid; error_log \(self.folder)/error.log;
      worker_rlimit_nofile 20000;
      events { worker_connections 10000; }
      http {
        log_format fleet '$status $bytes_sent $ssl_session_reused $request_length';
        access_log \(log) fleet buffer=64k flush=1s;
        client_body_temp_path \(self.folder)/b; proxy_temp_path \(self.folder)/p; fastcgi_temp_path \(self.folder)/f;
        uwsgi_temp_path \(self.folder)/u; scgi_temp_path \(self.folder)/s;
        default_type application/octet-stream;
        server {
          listen 127.0.0.1:\(port) backlog=4096;
          root \(root);
          location /objects/ { add_header Cache-Control "public, max-age=31536000, immutable"; }
          location / { add_header Cache-Control no-cache; }
        }
        \(secure)
      }
      """
    try text.write(toFile: self.folder + "/nginx.conf", atomically: true, encoding: .utf8)
    process.executableURL = URL(filePath: program)
    process.arguments = ["-p", self.folder, "-c", self.folder + "/nginx.conf", "-e", self.folder + "/error.log"]
    try process.run()
    for _ in 0..<200 where !FileManager.default.fileExists(atPath: self.folder + "/pid") { usleep(50_000) }
    usleep(200_000)
    guard process.isRunning else {
      let errors = (try? String(contentsOfFile: self.folder + "/error.log", encoding: .utf8)) ?? ""
      throw Command.Failed(description: "nginx does not start: \(errors.suffix(400))")
    }
  }

  deinit {
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
    }
  }

  /// The seconds of processor time of its processes so far.
  var processorSeconds: Double {
    let main = process.processIdentifier
    let children = (try? String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)) ?? ""
    return ([Int(main)] + children.split(separator: " ").compactMap { Int($0) }).reduce(0) { sum, id in
      // The first field: the nanoseconds on a processor.
      let times = (try? String(contentsOfFile: "/proc/\(id)/schedstat", encoding: .utf8)) ?? ""
      return sum + (times.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  /// What the log says: the answers of each status, the bytes of all, and how many sessions of TLS were resumed.
  struct Log {
    var statuses: [String: Int] = [:]
    var bytes = 0
    var resumedCount = 0
    var requestCount: Int { statuses.values.reduce(0, +) }
  }

  func readLog() -> Log {
    usleep(1_500_000)
    var result = Log()
    for line in ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count == 4 else { continue }
      result.statuses[String(fields[0]), default: 0] += 1
      result.bytes += Int(fields[1]) ?? 0
      if fields[2] == "r" { result.resumedCount += 1 }
    }
    return result
  }

  private static func freePort() throws -> Int {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The structure is alive during the calls.
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
      }
    }
    guard isBound else { throw Command.Failed(description: "there is no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
