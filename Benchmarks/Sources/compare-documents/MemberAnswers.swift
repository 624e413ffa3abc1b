import BenchmarkSupport

/// What the questions have to answer, worked out from the generator before anything is measured.
struct MemberAnswers {
  let generator: MemberGenerator
  /// Ids by the number of their remark, in its order, and by their own.
  private let byRemark: [(number: Int, id: Int)]
  private let byPlace: [[Int32]]
  private let byDevice: [[Int32]]
  let onlineCount: Int
  /// The ids of those who were seen last, the last one first.
  let lastSeen: [Int]
  /// Ids by the seconds of when they were seen, in their order.
  private let bySeen: [(seconds: Int, id: Int)]

  init(_ generator: MemberGenerator) {
    self.generator = generator
    var remarks: [(number: Int, id: Int)] = []
    var places = [[Int32]](repeating: [], count: MemberGenerator.placeCount)
    var devices = places
    var online = 0
    var seen: [(seconds: Int, id: Int)] = []
    for id in 0..<generator.count {
      if let number = generator.remarkNumber(id) { remarks.append((number, id)) }
      places[generator.placeNumber(id)].append(Int32(id))
      devices[generator.deviceNumber(id)].append(Int32(id))
      if generator.isOnline(id) { online += 1 }
      seen.append((generator.lastSeen(id), id))
    }
    byRemark = remarks.sorted { $0 < $1 }
    byPlace = places
    byDevice = devices
    onlineCount = online
    bySeen = seen.sorted { $0 < $1 }
    lastSeen = bySeen.suffix(20).reversed().map(\.id)
  }

  /// Members who were seen in a range of seconds, the first one first.
  func ids(seenIn seconds: Range<Int>) -> [Int] {
    var low = 0
    var high = bySeen.count
    while low < high {
      let middle = (low + high) / 2
      if bySeen[middle].seconds < seconds.lowerBound { low = middle + 1 } else { high = middle }
    }
    return bySeen[low...].prefix { $0.seconds < seconds.upperBound }.map(\.id)
  }

  /// Members that have a remark beginning with `prefix`, ascending. A whole remark is the beginning of one only.
  func ids(remarkPrefix prefix: String) -> [Int] {
    let text = Array(prefix.utf8)
    var low = 0
    var high = byRemark.count
    while low < high {
      let middle = (low + high) / 2
      if MemberGenerator.remark(byRemark[middle].number).utf8.lexicographicallyPrecedes(text) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return byRemark[low...].prefix { MemberGenerator.remark($0.number).utf8.starts(with: text) }.map(\.id).sorted()
  }

  func ids(city number: Int) -> [Int] { byPlace[number].map(Int.init) }
  func ids(device number: Int) -> [Int] { byDevice[number].map(Int.init) }
}
