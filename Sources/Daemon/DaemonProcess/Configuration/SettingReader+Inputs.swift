import DaemonHTTP
import ScanDaemon
import ScanInputs

extension SettingReader {
  /// The inputs. Also stores their individual double-scan windows, separators and splits in `daemon`.
  ///
  /// - Parameter server: The HTTP server, whose port is in use.
  mutating func inputs(
    _ daemon: inout DaemonOptions, besides server: DaemonServer.Options?, hasStandardInput: Bool
  ) -> [InputOptions] {
    let isNamed = isSet(["inputs", "names"])
    let names = names("inputs") { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_.".unicodeScalars.contains(scalar)
    }
    var inputs: [InputOptions] = []
    for name in names {
      if let milliseconds = int(["inputs", name, "doubleScanMilliseconds"]) {
        daemon.doubleScanWindows[name] = .milliseconds(milliseconds)
      }
      if let separators = separators(["inputs", name, "separators"]) { daemon.inputSeparators[name] = separators }
      if bool(["inputs", name, "split"]) == true { daemon.splitInputs.insert(name) }
      guard let input = input(name) else { continue }
      if let other = inputs.first(where: { Self.collide($0.source, input.source) }) {
        refuse(["inputs", name, "kind"], nil, "the inputs \(other.name) and \(name) read from the same place")
      }
      if case .tcp(let host, let port, _) = input.source, case .host(let other, let taken)? = server?.address,
        HTTPAddress.collide((host, port), (other, taken))
      {
        refuse(
          ["inputs", name, "port"], "\(port)", "is the port of http.address too; choose another one for one of them")
      }
      if case .socket(let file) = input.source, case .socket(file)? = server?.address {
        refuse(["inputs", name, "path"], file, "is the socket of http.address too; choose another one for one of them")
      }
      inputs.append(input)
    }
    refuseUnused("inputs", names: names)
    if !isNamed, hasStandardInput { inputs.append(InputOptions(name: "stdin", source: .standardInput)) }
    return inputs
  }

  private mutating func input(_ name: String) -> InputOptions? {
    func path(_ last: String) -> [String] { ["inputs", name, last] }
    guard let kind = text(path("kind")) else {
      if !isSet(path("kind")) {
        refuse(path("kind"), nil, "is missing: stdin, serial, keyboard, tcp or socket")
      }
      return nil
    }
    refuseForeign(name, kind: kind)
    guard let source = source(name, kind: kind) else { return nil }
    var options = InputOptions(name: name, source: source)
    options.line.maximumByteCount = int(path("maximumLineBytes")) ?? options.line.maximumByteCount
    options.line.prefix = text(path("prefix")) ?? ""
    options.line.suffix = text(path("suffix")) ?? ""
    if let milliseconds = int(path("silenceMilliseconds")) { options.line.idleTimeout = .milliseconds(milliseconds) }
    if let encoding = text(path("encoding")).flatMap({ TextEncoding(rawValue: $0) }) {
      if !encoding.isAvailable {
        refuse(
          path("encoding"), encoding.rawValue,
          "this system has no converter for it; install those of its C library (on Red Hat's: glibc-gconv-extra)")
      }
      options.line.encoding = encoding
    }
    // A keyboard types characters, whose ends are looked for in UTF-8.
    let encoding = kind == "keyboard" ? .utf8 : options.line.encoding
    if let ends = ends(path("end"), options.line, encoding) { options.line.ends = ends }
    return options
  }

  /// The line terminators; `nil` if none is set or one is invalid.
  private mutating func ends(_ path: [String], _ line: LineFormat, _ encoding: TextEncoding) -> [LineEnd]? {
    guard let texts = list(path) else { return nil }
    if texts.isEmpty, line.idleTimeout == nil {
      refuse(path, nil, "is empty, and silenceMilliseconds is not set: no code would ever end")
    }
    let names: [String: LineEnd] = [
      "cr": .carriageReturn, "lf": .lineFeed, "crlf": .carriageReturnLineFeed, "tab": .tab, "etx": .endOfText,
      "\r\n": .carriageReturnLineFeed,
    ]
    var ends: [LineEnd] = []
    for text in texts {
      if let end = names[text] {
        ends.append(end)
        continue
      }
      // A Latin-1 character is the byte with its number; an ASCII character is the same byte in every encoding.
      let scalar = text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
      guard let scalar, let byte = UInt8(exactly: scalar.value), byte < 0x80 || encoding == .latin1 else {
        let encoding = encoding.rawValue
        refuse(path, text, "is to be cr, lf, crlf, tab, etx or one character that is one byte in \(encoding)")
        continue
      }
      if encoding.isInsideCharacters(byte) {
        refuse(path, text, "may be a part of a character in \(encoding.rawValue): codes would be cut there")
      }
      ends.append(LineEnd(byte: byte))
    }
    return ends
  }

  private mutating func source(_ name: String, kind: String) -> InputSource? {
    func path(_ last: String) -> [String] { ["inputs", name, last] }
    switch kind {
    case "serial":
      let rates = [
        50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200, 230_400,
        460_800,
        500_000, 576_000, 921_600, 1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000,
        4_000_000,
      ]
      var options = SerialOptions(path: place(path("device"), "such as /dev/ttyACM0"))
      if let baud = int(path("baud")) {
        if !rates.contains(baud) {
          refuse(path("baud"), "\(baud)", "is no rate of a serial line, such as 9600 or 115200")
        }
        options.baud = baud
      }
      options.answers = bool(path("answers")) ?? options.answers
      if let seconds = number(path("reopenSeconds")) { options.reopenInterval = .seconds(seconds) }
      return .serial(options)
    case "keyboard":
      var options = KeyboardOptions(path: place(path("device"), "such as /dev/input/by-id/…-event-kbd"))
      options.layout = text(path("layout")).flatMap { KeyboardLayout(rawValue: $0) } ?? options.layout
      if let keys = text(path("keys")) {
        do throws(KeyAssignments.Problem) { options.keys = try KeyAssignments(json: keys) } catch {
          refuse(path("keys"), nil, error.description)
        }
      }
      options.grabs = bool(path("grab")) ?? options.grabs
      if let seconds = number(path("reopenSeconds")) { options.reopenInterval = .seconds(seconds) }
      return .keyboard(options)
    case "tcp": return isSet(path("connect")) ? tcpClient(name) : tcpServer(name)
    case "socket":
      let place = place(path("path"), "such as /run/catalogd/scans.sock")
      if place.utf8.count > SocketFile.pathByteLimit {
        refuse(path("path"), place, "a socket's path has at most \(SocketFile.pathByteLimit) bytes")
      }
      return .socket(path: place)
    default: return .standardInput
    }
  }

  private mutating func tcpServer(_ name: String) -> InputSource? {
    func path(_ last: String) -> [String] { ["inputs", name, last] }
    for last in ["answers", "reopenSeconds"] where isSet(path(last)) {
      refuse(path(last), nil, "an input of the kind tcp has no \(last) without connect")
    }
    let host = text(path("host")) ?? "127.0.0.1"
    if host.isEmpty { refuse(path("host"), host, "names no address, such as 127.0.0.1 or 0.0.0.0") }
    var networks: [PeerNetwork] = []
    if let texts = list(path("allow")) {
      if texts.isEmpty {
        refuse(path("allow"), nil, "is empty: nobody could connect; leave it out to let everybody in")
      }
      for text in texts {
        do throws(PeerNetwork.Problem) { networks.append(try PeerNetwork(text)) } catch {
          refuse(path("allow"), text, error.description)
        }
      }
    }
    guard let port = int(path("port")) else {
      if !isSet(path("port")) {
        refuse(path("port"), nil, "is missing: the port to listen on; or set connect to call a scanner that listens")
      }
      return nil
    }
    return .tcp(host: host, port: port, allow: networks)
  }

  private mutating func tcpClient(_ name: String) -> InputSource? {
    func path(_ last: String) -> [String] { ["inputs", name, last] }
    for last in ["host", "port", "allow"] where isSet(path(last)) {
      refuse(path(last), nil, "is for an input that listens, and connect for one that calls; keep one of them")
    }
    guard let address = text(path("connect")) else { return nil }
    guard case .success(.host(let host, let port)) = HTTPAddress.parse(address), port > 0 else {
      refuse(
        path("connect"), address, "is to be HOST:PORT or [IPV6]:PORT with a port from 1 to 65535, such as 10.0.0.5:9004"
      )
      return nil
    }
    var options = TCPClientOptions(host: host, port: port)
    options.answers = bool(path("answers")) ?? options.answers
    if let seconds = number(path("reopenSeconds")) { options.reopenInterval = .seconds(seconds) }
    return .tcpClient(options)
  }

  /// A required path.
  private mutating func place(_ path: [String], _ example: String) -> String {
    guard let place = text(path) else {
      if !isSet(path) { refuse(path, nil, "is missing: a path, \(example)") }
      return ""
    }
    if !place.hasPrefix("/") { refuse(path, place, "is to be a whole path, \(example)") }
    return place
  }

  /// Refuses settings that have no effect on this kind of input, because setting them is a mistake.
  private mutating func refuseForeign(_ name: String, kind: String) {
    let common = ["kind", "maximumLineBytes", "prefix", "suffix", "separators", "split", "doubleScanMilliseconds"]
    let ends = ["end", "silenceMilliseconds"]
    let own: [String: [String]] = [
      "stdin": ends + ["encoding"], "serial": ends + ["encoding", "device", "baud", "answers", "reopenSeconds"],
      "keyboard": ends + ["encoding", "device", "layout", "keys", "grab", "reopenSeconds"],
      "tcp": ends + ["encoding", "host", "port", "allow", "connect", "answers", "reopenSeconds"], "socket": ["path"],
    ]
    let allowed = common + (own[kind] ?? [])
    for setting in DaemonSetting.all where setting.path.count == 3 && setting.path[0] == "inputs" {
      let path = ["inputs", name, setting.path[2]]
      if isSet(path), !allowed.contains(setting.path[2]) {
        refuse(path, nil, "an input of the kind \(kind) has no \(setting.path[2])")
      }
    }
  }

  private static func collide(_ a: InputSource, _ b: InputSource) -> Bool {
    switch (a, b) {
    case (.standardInput, .standardInput): true
    case (.serial(let one), .serial(let other)): one.path == other.path
    case (.keyboard(let one), .keyboard(let other)): one.path == other.path
    case (.tcp(let host, let port, _), .tcp(let other, let otherPort, _)):
      HTTPAddress.collide((host, port), (other, otherPort))
    case (.tcpClient(let one), .tcpClient(let other)): one.host == other.host && one.port == other.port
    case (.socket, .socket): a == b
    default: false
    }
  }
}
