import BenchmarkSupport

import struct Foundation.Date

/// Makes member number *i* from a seed and *i*, and knows what every question has to answer.
struct MemberGenerator: Sendable {
  let count: Int
  let seed: UInt64

  private static let consonants = Array("bdklmnrs")
  private static let vowels = Array("aeiouyhw")
  /// Given names and family names, three syllables each, in the order of their letters.
  private static let words: [String] = {
    var syllables: [String] = []
    for consonant in consonants { for vowel in vowels.sorted() { syllables.append("\(consonant)\(vowel)") } }
    var words: [String] = []
    for first in consonants {
      for second in syllables { words.append("\(first)a\(second)ri") }
    }
    return words.sorted()
  }()
  static let remarkCount = words.count * words.count
  static let placeCount = 4096

  // MARK: One member

  private func random(_ id: Int, _ purpose: UInt64) -> Int {
    var random = KeyRandom(seed &* 0x1_0000_01B3 &+ purpose &* 0x9E37_79B9 &+ UInt64(id) &* 0xD6E8_FEB8_6659_FD93)
    return Int(random.next() >> 2)
  }

  /// The number of the remark that the user wrote about the member; `nil` for a stranger.
  func remarkNumber(_ id: Int) -> Int? { random(id, 1) % 4 == 0 ? nil : random(id, 2) % Self.remarkCount }

  /// Two names, 13 letters. Numbers and names stand in the same order.
  static func remark(_ number: Int) -> String { "\(words[number / words.count]) \(words[number % words.count])" }

  func isOnline(_ id: Int) -> Bool { random(id, 3) % 4 == 0 }
  func placeNumber(_ id: Int) -> Int { random(id, 4) % Self.placeCount }
  func deviceNumber(_ id: Int) -> Int { random(id, 5) % Self.placeCount }

  static func city(_ number: Int) -> String { "City of \(words[number % words.count]) \(number)" }
  static func device(_ number: Int) -> String { "device-\(number)" }

  /// The first second at which a member may have been seen, and the number of seconds from there on.
  static let (firstSeen, seenSeconds) = (1_600_000_000, 0x400_0000)

  /// Seconds since 1970, whole ones, no two alike below 67 million members.
  func lastSeen(_ id: Int) -> Int { Self.firstSeen + (id &* 40_503_001 &+ 12_345) & 0x3FF_FFFF }

  func member(_ id: Int) -> GroupMember {
    let age = 16 + random(id, 6) % 70
    let name = Self.remark(random(id, 7) % Self.remarkCount)
    return GroupMember(
      id: id, groupId: id / 500, role: random(id, 8) % 3, joined: Self.date(1_500_000_000 + random(id, 9) % 90_000_000),
      user: GroupMember.User(
        id: 7_000_000_000 + id, name: name,
        avatar: "https://images.example.org/avatars/\(7_000_000_000 + id)/large.png",
        age: age, gender: Gender(rawValue: random(id, 10) % 4), city: Self.city(placeNumber(id)),
        friendRelation: remarkNumber(id).map { number in
          GroupMember.User.Relation(
            remarkName: Self.remark(number), isBlocked: random(id, 11) % 50 == 0,
            since: Self.date(1_520_000_000 + random(id, 12) % 70_000_000))
        },
        status: GroupMember.User.Status(
          isOnline: isOnline(id), lastSeen: Self.date(lastSeen(id)), device: Self.device(deviceNumber(id)))))
  }

  private static func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
}
