import BenchmarkSupport

/// From nothing open to the first answer, with the files in the page cache; and what lookups read when they are not.
struct OpeningStage {
  let keys: KeySets
  let options: CompareOptions

  func run(_ entrants: [Entrant], _ figures: inout Figures) throws {
    var values = entrants.map { (peer: $0.peer.name, values: [Double]()) }
    for round in 0..<(options.isQuick ? 10 : 40) {
      for (number, entrant) in entrants.enumerated() {
        let range = round..<(round + 1)
        let start = Elapsed.wallNow()
        let one = try OpenEntrant(entrant)
        let sum = try one.sessions[0].run(.hit, keys.barcodes, range)
        values[number].values.append(Elapsed.wallNow() - start)
        try one.check(.hit, keys.barcodes, range, sum)
        one.close()
      }
    }
    figures.add(.opening, values)
  }

  // MARK: Cold

  /// What a process did so far.
  private struct Reading {
    var wall = Elapsed.wallNow()
    var pages = 0.0
    var faults = 0.0

    init() throws {
      pages = Double(try Self.number("/proc/self/io", after: "read_bytes: ")) / 4096
      // The twelfth word of the line, the tenth behind the program's name.
      let stat = String(decoding: try Files.read("/proc/self/stat"), as: UTF8.self)
      let words = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
      faults = words.count > 10 ? Double(words[10]) ?? 0 : 0
    }

    private static func number(_ path: String, after key: String) throws -> Int {
      let text = String(decoding: try Files.read(path), as: UTF8.self)
      let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
      return line.flatMap { Int($0.dropFirst(key.count)) } ?? 0
    }
  }

  /// Lookups right after the system forgot the file, in an order without neighbours. Opening is not counted.
  func runCold(_ entrants: [Entrant], _ figures: inout Figures) throws {
    let count = min(options.isQuick ? 100 : 300, keys.barcodes.count)
    var times = entrants.map { (peer: $0.peer.name, values: [Double]()) }
    var pages = times
    var faults = times
    var place = 0
    for _ in 0..<min(options.rounds, 5) {
      for (number, entrant) in entrants.enumerated() {
        if place + count > keys.barcodes.count { place = 0 }
        let range = place..<(place + count)
        let resident = try PageCache.drop(entrant.directory)
        if resident > 0.01 {
          complain("\(entrant.peer.name): \(Int(resident * 100)) % of its pages stayed in memory")
        }
        let one = try OpenEntrant(entrant)
        let before = try Reading()
        let sum = try one.sessions[0].run(.hit, keys.barcodes, range)
        let after = try Reading()
        try one.check(.hit, keys.barcodes, range, sum)
        one.close()
        times[number].values.append((after.wall - before.wall) / Double(count))
        pages[number].values.append((after.pages - before.pages) / Double(count))
        faults[number].values.append((after.faults - before.faults) / Double(count))
      }
      place += count
    }
    figures.add(.coldTime, times)
    figures.add(.coldPages, pages)
    figures.add(.coldFaults, faults)
    for entrant in entrants { try PageCache.fill(entrant.directory) }
  }
}
