import ScanDaemon
import ScanInputs

extension SettingReader {
  /// The inputs, and in `daemon` the windows of double scans that are theirs alone.
  mutating func inputs(_ daemon: inout DaemonOptions, hasStandardInput: Bool) -> [InputOptions] {
    let isNamed = isSet(["inputs", "names"])
    let names = names("inputs") { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_.".unicodeScalars.contains(scalar)
    }
    var inputs: [InputOptions] = []
    for name in names {
      if let milliseconds = whole(["inputs", name, "doubleScanMilliseconds"]) {
        daemon.doubleScanWindows[name] = .milliseconds(milliseconds)
      }
      guard let input = input(name) else { continue }
      if let other = inputs.first(where: { Self.collide($0.source, input.source) }) {
        refuse(["inputs", name, "kind"], nil, "the inputs \(other.name) and \(name) read from the same place")
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
    options.line.maximumByteCount = whole(path("maximumLineBytes")) ?? options.line.maximumByteCount
    options.line.prefix = text(path("prefix")) ?? ""
    options.line.suffix = text(path("suffix")) ?? ""
    return options
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
      if let baud = whole(path("baud")) {
        if !rates.contains(baud) {
          refuse(path("baud"), "\(baud)", "is no rate of a serial line, such as 9600 or 115200")
        }
        options.baud = baud
      }
      options.answers = truth(path("answers")) ?? options.answers
      if let seconds = real(path("reopenSeconds")) { options.reopenInterval = .seconds(seconds) }
      return .serial(options)
    case "keyboard":
      var options = KeyboardOptions(path: place(path("device"), "such as /dev/input/by-id/…-event-kbd"))
      options.layout = text(path("layout")).flatMap { KeyboardLayout(rawValue: $0) } ?? options.layout
      options.grabs = truth(path("grab")) ?? options.grabs
      if let seconds = real(path("reopenSeconds")) { options.reopenInterval = .seconds(seconds) }
      return .keyboard(options)
    case "tcp":
      let host = text(path("host")) ?? "127.0.0.1"
      if host.isEmpty { refuse(path("host"), host, "names no address, such as 127.0.0.1 or 0.0.0.0") }
      guard let port = whole(path("port")) else {
        if !isSet(path("port")) { refuse(path("port"), nil, "is missing: the port to listen on") }
        return nil
      }
      return .tcp(host: host, port: port)
    case "socket":
      let place = place(path("path"), "such as /run/catalogd/scans.sock")
      if place.utf8.count > SocketFile.pathByteLimit {
        refuse(path("path"), place, "a socket's path has at most \(SocketFile.pathByteLimit) bytes")
      }
      return .socket(path: place)
    default: return .standardInput
    }
  }

  /// A path that has to be there.
  private mutating func place(_ path: [String], _ example: String) -> String {
    guard let place = text(path) else {
      if !isSet(path) { refuse(path, nil, "is missing: a path, \(example)") }
      return ""
    }
    if !place.hasPrefix("/") { refuse(path, place, "is to be a whole path, \(example)") }
    return place
  }

  /// Settings that this kind of input does not have are without effect, which nobody wants.
  private mutating func refuseForeign(_ name: String, kind: String) {
    let common = ["kind", "maximumLineBytes", "prefix", "suffix", "doubleScanMilliseconds"]
    let own: [String: [String]] = [
      "stdin": [], "serial": ["device", "baud", "answers", "reopenSeconds"],
      "keyboard": ["device", "layout", "grab", "reopenSeconds"], "tcp": ["host", "port"], "socket": ["path"],
    ]
    let allowed = common + (own[kind] ?? [])
    for setting in Setting.all where setting.path.count == 3 && setting.path[0] == "inputs" {
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
    case (.tcp(_, let port), .tcp): a == b && port != 0
    case (.socket, .socket): a == b
    default: false
    }
  }
}
