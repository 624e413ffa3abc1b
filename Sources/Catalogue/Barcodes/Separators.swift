/// The ways in which scanners send FNC1: as GS, as a text that the configuration names, and as one of the texts that
/// scanners and keyboards are known to send for it.
struct Separators {
  /// The texts that the configuration names. The first that matches counts.
  private let configured: [[UInt8]]
  /// Whether the texts that are known without a setting count.
  private let countsTokens: Bool

  init(_ configured: [String], countsTokens: Bool = true) {
    self.configured = configured.map { Array($0.utf8) }.filter { !$0.isEmpty }
    self.countsTokens = countsTokens
  }

  /// The texts for FNC1 that are recognized without a setting, in lower case. Their letters may have either case.
  ///
  /// Each is a text that hardly a value of GS1 data has by itself: a name in brackets, an escape, or a picture of GS.
  /// Where GS itself is in the data, the scanner sends that, and none of these is a separator.
  private static let tokens: [[UInt8]] = [
    "<gs>", "{gs}", "[gs]", "(gs)", "<fnc1>", "{fnc1}", "[fnc1]", "(fnc1)", "^]", "~d029", "^029", "%1d", "\\x1d",
    "\\u001d", "\\029", "\u{241D}", "\u{2194}", "\u{F70B}",
  ].map { Array($0.utf8) }

  /// Whether a byte begins one of ``tokens``.
  private static let beginsToken: [Bool] = {
    var begins = [Bool](repeating: false, count: 256)
    for token in tokens { begins[Int(token[0])] = true }
    return begins
  }()

  /// What a text is after every separator in it was replaced by GS.
  struct Normalized {
    var bytes: [UInt8]
    /// Whether one of the separators was a text that no setting names.
    var hasTokens = false
  }

  /// Replaces every separator in `data` by GS.
  func normalized(_ data: ArraySlice<UInt8>) -> Normalized {
    let hasTokens = mayHaveTokens(data)
    if configured.isEmpty, !hasTokens {
      return Normalized(bytes: Array(data))
    }
    var result = Normalized(bytes: [])
    result.bytes.reserveCapacity(data.count)
    var rest = data
    while let first = rest.first {
      if let pattern = configured.first(where: { rest.starts(with: $0) }) {
        result.bytes.append(ASCII.groupSeparator)
        rest.removeFirst(pattern.count)
      } else if hasTokens, let count = Self.tokenByteCount(at: rest) {
        result.bytes.append(ASCII.groupSeparator)
        result.hasTokens = true
        rest.removeFirst(count)
      } else {
        result.bytes.append(first)
        rest.removeFirst()
      }
    }
    return result
  }

  /// Returns the offset in `data`, from its start, of the byte that has this offset in ``normalized(_:)``.
  func originalOffset(of offset: Int, in data: ArraySlice<UInt8>) -> Int {
    var rest = data
    let hasTokens = mayHaveTokens(data)
    for _ in 0..<offset where !rest.isEmpty {
      let pattern = configured.first { rest.starts(with: $0) }
      rest.removeFirst(pattern?.count ?? (hasTokens ? Self.tokenByteCount(at: rest) : nil) ?? 1)
    }
    return rest.startIndex - data.startIndex
  }

  private func mayHaveTokens(_ data: ArraySlice<UInt8>) -> Bool {
    countsTokens && !data.contains(ASCII.groupSeparator) && data.contains { Self.beginsToken[Int($0)] }
  }

  /// Returns the first text in `value` that usually stands for FNC1; `nil` if there is none.
  static func firstToken(in value: some Sequence<UInt8>) -> String? {
    var rest = Array(value)[...]
    while let first = rest.first {
      if beginsToken[Int(first)], let count = tokenByteCount(at: rest) {
        return String(decoding: rest.prefix(count), as: UTF8.self)
      }
      rest.removeFirst()
    }
    return nil
  }

  /// Removes separators, typed ones too, and invisible characters at both ends.
  func inner(of data: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = Noise.visible(data, withSeparators: true)
    while true {
      let count = rest.count
      if let token = configured.first(where: { rest.starts(with: $0) }) {
        rest.removeFirst(token.count)
      } else if let token = Self.tokenByteCount(at: rest) {
        rest.removeFirst(token)
      }
      if let token = (configured + Self.tokens).first(where: { Self.ends(rest, with: $0) }) {
        rest.removeLast(token.count)
      }
      rest = Noise.visible(rest, withSeparators: true)
      if rest.count == count { return rest }
    }
  }

  /// Returns what follows separators, typed ones too, noise and invisible characters at the start.
  func afterStart(of data: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let visible = Noise.visibleFromStart(data, withSeparators: true)
    return mayBeAround(visible) ? visible[inner(of: visible).startIndex...] : visible
  }

  /// Whether a text may begin or end with a separator.
  func mayBeAround(_ data: ArraySlice<UInt8>) -> Bool {
    guard let first = data.first, let last = data.last else { return false }
    if first == ASCII.groupSeparator || last == ASCII.groupSeparator || !configured.isEmpty { return true }
    return Self.beginsToken[Int(first)] || Self.endsToken[Int(last)]
  }

  /// Whether a byte ends one of ``tokens``, in either case of letters.
  private static let endsToken: [Bool] = {
    var ends = [Bool](repeating: false, count: 256)
    for token in tokens {
      ends[Int(token[token.count - 1])] = true
      if token[token.count - 1] == UInt8(ascii: "d") { ends[Int(UInt8(ascii: "D"))] = true }
    }
    return ends
  }()

  private static func ends(_ text: ArraySlice<UInt8>, with token: [UInt8]) -> Bool {
    text.count >= token.count
      && zip(text.suffix(token.count), token).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }

  /// Returns the number of bytes of the text for FNC1 at the start of `rest`; `nil` if there is none.
  private static func tokenByteCount(at rest: ArraySlice<UInt8>) -> Int? {
    guard let first = rest.first, beginsToken[Int(first)] else { return nil }
    let token = tokens.first { token in
      rest.count >= token.count && zip(rest, token).allSatisfy { ASCII.lowercased($0) == $1 }
    }
    return token?.count
  }
}
