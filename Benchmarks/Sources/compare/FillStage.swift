import BenchmarkSupport

/// A peer with its files.
struct Entrant {
  let peer: any Peer
  let directory: String
}

/// Fills every store, each in a process of its own, so that its memory is its own and leaves with it.
struct FillStage {
  let spec: SourceSpec
  let source: any CatalogueSource
  let folder: WorkFolder

  /// What a process that filled a store said.
  private struct Filling {
    var seconds: Double
    var peakBytes: Double
  }

  func run(_ peers: [any Peer], _ figures: inout Figures) throws -> [Entrant] {
    // Making the rows is not the stores' work.
    let rows = try child(["rows"]).seconds
    var entrants: [Entrant] = []
    var filled: [String: Filling] = [:]
    for peer in peers {
      let directory = "\(folder.path)/\(peer.store)-\(source.productCount)-\(source.seed)"
      entrants.append(Entrant(peer: peer, directory: directory))
      if filled[peer.store] != nil { continue }
      complain("filling \(peer.name)")
      let filling = try fill(peer, directory)
      filled[peer.store] = filling
      add(.load, peer, max(0, filling.seconds - rows) * 1e9, &figures)
      if !peer.isInMemory {
        add(.loadMemory, peer, filling.peakBytes, &figures)
        add(.byteCount, peer, try Self.byteCount(directory), &figures)
      }
    }
    figures.relate([.load, .byteCount])
    return entrants
  }

  private func add(_ measure: Measure, _ peer: any Peer, _ value: Double, _ figures: inout Figures) {
    figures.add(measure, [(peer.name, [value])])
  }

  private func fill(_ peer: any Peer, _ directory: String) throws -> Filling {
    if peer.isInMemory {
      let (_, elapsed) = try Elapsed.of { try peer.fill(directory, source) }
      return Filling(seconds: elapsed.wall / 1e9, peakBytes: 0)
    }
    // Beside the directory, not in it: its files are counted.
    let note = directory + ".filled"
    if Files.exists(note) {
      let words = String(decoding: try Files.read(note), as: UTF8.self).split(separator: "\n")
      if words.count == 2, words[0] == source.cursor, let filling = Self.filling(String(words[1])) { return filling }
    }
    _ = try Subprocess.run(["rm", "-rf", directory, note])
    _ = try Subprocess.run(["mkdir", "-p", directory])
    let line = try Subprocess.child(["fill", peer.store, directory] + spec.arguments)
    guard let filling = Self.filling(line) else { throw PeerFailure(peer.name, "the process that fills said \(line)") }
    try OutputFile(creating: note).append("\(source.cursor)\n\(line)".utf8)
    return filling
  }

  private func child(_ words: [String]) throws -> Filling {
    let line = try Subprocess.child(words + spec.arguments)
    guard let filling = Self.filling(line) else { throw WrongAnswer("a process said \(line)") }
    return filling
  }

  private static func filling(_ line: String) -> Filling? {
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    return numbers.count == 2 ? Filling(seconds: numbers[0], peakBytes: numbers[1]) : nil
  }

  /// Bytes that the files of a store take on the disk.
  static func byteCount(_ directory: String) throws -> Double {
    let output = String(decoding: try Subprocess.run(["du", "-s", "-B1", directory]).output, as: UTF8.self)
    guard let bytes = output.split(separator: "\t").first.flatMap({ Double($0) }) else {
      throw WrongAnswer("du said \(output)")
    }
    return bytes
  }

  // MARK: In the child

  /// Does what a child process is for, and prints seconds and the peak of its memory in bytes.
  static func runChild(_ arguments: [String]) throws {
    switch arguments.first {
    case "rows":
      let source = try SourceSpec(Array(arguments.dropFirst())).load()
      var sink = NullSink()
      report(try Elapsed.of { try source.writeRows(to: &sink) }.1)
    case "fill" where arguments.count > 3:
      let source = try SourceSpec(Array(arguments.dropFirst(3))).load()
      let peer = try PeerRoster.filler(of: arguments[1])
      report(try Elapsed.of { try peer.fill(arguments[2], source) }.1)
    default: throw UsageError("unknown job")
    }
  }

  private static func report(_ elapsed: Elapsed) { print(elapsed.wall / 1e9, Machine.status("VmHWM") << 10) }
}

extension Figures {
  /// Relates what was added peer by peer to ours.
  mutating func relate(_ measures: [Measure]) {
    for measure in measures {
      let values = all.filter { $0.measure == measure }.map { (peer: $0.peer, values: $0.values) }
      remove(measure)
      add(measure, values)
    }
  }
}
