import Bytes
import CSearchTables

/// Folds text and divides it into tokens, so that texts which people take for the same have the same bytes.
///
///     var folder = TextFolder()
///     folder.fold(Array("Pâte à tartiner 400g".utf8).rawSpan)
///     folder.tokens.map { folder.string(of: $0) }  // ["pate", "a", "tartiner", "400g"]
///
/// The page of the module lists what folding does. Keep a folder for many texts: it allocates only when a text is
/// longer than all texts before it.
///
/// - Complexity: Folding takes O(n) time and memory for n bytes. Only marks that are kept and are not in Unicode's
///   order are sorted, m marks of one letter in O(m log m).
public struct TextFolder: Sendable {
  /// The tokens in the order of the text.
  public private(set) var tokens: [FoldedToken] = []

  /// The folded text is the first `byteCount` bytes. The others are room for the texts to come.
  private var buffer: [UInt8] = []
  private var byteCount = 0

  private var open = OpenToken()

  /// The marks after the last letter that stay, each as its entry · 2²⁴ + its scalar. They are written when all are
  /// known.
  private var marks: [UInt32] = []
  private var marksAreInOrder = true

  // With tracking: the characters of the source that letters came from, in UTF-16 code units, and the character that
  // each folded byte came from. `position` is the scalar that is being folded.
  private var isTracking = false
  private var characters: [Range<Int>] = []
  private var characterOfByte: [Int] = []
  private var position = 0..<0
  private var hasCharacter = false

  /// The token that is being read, which ends at the end of the folded text.
  private struct OpenToken {
    /// `nil` between tokens.
    var kind: FoldedToken.Kind?
    var start = 0
    var isJoined = false
    var isAfterPoint = false
    /// What separates the last token from what follows it.
    var gap = Gap.other

    enum Gap { case nothing, joiner, point, other }

    @inline(__always)
    mutating func begin(_ kind: FoldedToken.Kind, at offset: Int) {
      self.kind = kind
      start = offset
      isAfterPoint = gap == .point
      isJoined = gap == .joiner || isAfterPoint
    }

    /// Ends the token, if there is one.
    @inline(__always)
    mutating func end(at offset: Int, in tokens: inout [FoldedToken]) {
      guard let kind else { return }
      tokens.append(FoldedToken(range: start..<offset, kind: kind, isJoined: isJoined, isAfterPoint: isAfterPoint))
      self.kind = nil
      gap = .nothing
    }

    @inline(__always)
    mutating func separate(isJoiner: Bool, by scalar: UInt32) {
      gap = !isJoiner || gap != .nothing ? .other : Self.isPoint(scalar) ? .point : .joiner
    }

    /// Whether a joining character is a point or a slash: `.`, `·`, `/`, and the fraction slashes, of any width.
    @inline(__always)
    private static func isPoint(_ scalar: UInt32) -> Bool {
      switch scalar {
      case 0x2E, 0x2F, 0xB7, 0x2024, 0x2044, 0x2215, 0xFF0E, 0xFF0F: true
      default: false
      }
    }
  }

  /// Creates a folder with empty buffers.
  public init() {}

  /// Folds a text. Its result replaces the one before.
  ///
  /// - Parameters:
  ///   - utf8: The text. Bytes that are not UTF-8 separate tokens.
  ///   - tracking: Whether to record what ``source(of:)`` needs. Costs time and memory.
  public mutating func fold(_ utf8: RawSpan, tracking: Bool = false) {
    reset(tracking)
    let count = utf8.byteCount
    var offset = 0
    while offset < count {
      let byte = utf8.u8(at: offset)
      if byte < 0x80 {
        if !tracking {
          offset = foldASCII(utf8, from: offset)
        } else {
          advance(1)
          foldASCII(byte)
          offset += 1
        }
        continue
      }
      let (scalar, length) = UTF8Decoding.value(at: offset, in: utf8)
      offset += length
      // A part of invalid UTF-8 counts as one code unit: as U+FFFD, which is what `String(decoding:as:)` makes of it.
      advance(scalar < 0x10000 ? 1 : 2)
      foldScalar(scalar)
    }
    close()
  }

  /// The folded text of all tokens as UTF-8, one token after another without separators.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get { buffer.rawSpan.slice(0, byteCount) }
  }

  /// The folded text of a token as UTF-8.
  ///
  /// - Parameter token: One of ``tokens``. Traps if it is a longer text's.
  @_lifetime(borrow self)
  public func bytes(of token: FoldedToken) -> RawSpan {
    precondition(token.range.upperBound <= byteCount, "the token is of another text")
    return buffer.rawSpan.slice(token.range.lowerBound, token.range.count)
  }

  /// The folded text of a token.
  ///
  /// - Parameter token: One of ``tokens``. Traps if it is a longer text's.
  public func string(of token: FoldedToken) -> String {
    precondition(token.range.upperBound <= byteCount, "the token is of another text")
    return String(decoding: buffer[token.range], as: UTF8.self)
  }

  /// The part of the source that folded bytes came from, in UTF-16 code units, as `String.utf16` counts them.
  ///
  /// It consists of whole characters: a letter and all of its marks, both halves of a ligature, all letters of a Hangul
  /// syllable.
  ///
  /// - Parameter range: Offsets in ``bytes``; what exceeds it is left out.
  /// - Returns: The code units. Empty if no byte is in `range`, or if the text was folded without `tracking`.
  /// - Complexity: O(1).
  public func source(of range: Range<Int>) -> Range<Int> {
    let range = range.clamped(to: 0..<characterOfByte.count)
    if range.isEmpty { return 0..<0 }
    let first = characters[characterOfByte[range.lowerBound]]
    return first.lowerBound..<characters[characterOfByte[range.upperBound - 1]].upperBound
  }

  private mutating func reset(_ tracking: Bool) {
    byteCount = 0
    tokens.removeAll(keepingCapacity: true)
    open = OpenToken()
    isTracking = tracking
    characters.removeAll(keepingCapacity: true)
    characterOfByte.removeAll(keepingCapacity: true)
    position = 0..<0
  }

  /// Goes on to a scalar of that many UTF-16 code units.
  @inline(__always)
  private mutating func advance(_ unitCount: Int) {
    if !isTracking { return }
    position = position.upperBound..<position.upperBound + unitCount
    hasCharacter = false
  }

  // The folding of a scalar.

  @inline(__always)
  private mutating func foldASCII(_ character: UInt8) {
    let folded = search_fold_ascii(character)
    if folded > 1 { appendASCII(folded) } else { separate(isJoiner: folded == 1, by: UInt32(character)) }
  }

  /// Folds all ASCII characters from `start` to the next other one, as the loop of ``fold(_:tracking:)`` does one by
  /// one. Most texts consist of such stretches.
  ///
  /// - Returns: The offset of the first character that is not ASCII.
  private mutating func foldASCII(_ utf8: RawSpan, from start: Int) -> Int {
    // Such a stretch continues a word or begins a token. No character of it becomes longer.
    if open.kind == .cjk { close() } else { flushMarks() }
    reserve(utf8.byteCount - start)
    return Self.foldASCII(utf8, from: start, &buffer, &byteCount, &tokens, &open)
  }

  private static func foldASCII(
    _ utf8: RawSpan, from start: Int, _ buffer: inout [UInt8], _ byteCount: inout Int, _ tokens: inout [FoldedToken],
    _ token: inout OpenToken
  ) -> Int {
    var output = buffer.mutableSpan
    var end = byteCount
    var open = token
    var offset = start
    while offset < utf8.byteCount {
      let byte = utf8.u8(at: offset)
      if byte >= 0x80 { break }
      offset &+= 1
      let folded = search_fold_ascii(byte)
      if folded > 1 {
        if open.kind == nil { open.begin(.word, at: end) }
        output[end] = folded
        end &+= 1
      } else {
        open.end(at: end, in: &tokens)
        open.separate(isJoiner: folded == 1, by: UInt32(byte))
      }
    }
    byteCount = end
    token = open
    return offset
  }

  private mutating func foldScalar(_ scalar: UInt32) {
    let entry = search_fold_entry(scalar)
    if entry < SEARCH_FIRST_ASCII {
      keep(scalar, entry)
    } else if entry < SEARCH_FIRST_SEQUENCE {
      appendASCII(UInt8(truncatingIfNeeded: entry) & 0x7F)
    } else if entry < SEARCH_FIRST_HAN {
      foldSequence(search_sequence(entry))
    } else {
      append(UInt32(entry), .cjk)
    }
  }

  /// Folds a scalar into several. Each of them stays as it is.
  private mutating func foldSequence(_ sequence: UInt32) {
    var index: UInt32 = 0
    while true {
      let unit = UInt32(search_sequence_unit(sequence, index))
      if unit == 0 { return }
      index += 1
      if unit < 0x80 {
        foldASCII(UInt8(unit))
      } else if unit & 0xFC00 == 0xD800 {
        let low = UInt32(search_sequence_unit(sequence, index))
        index += 1
        let scalar = 0x10000 + ((unit & 0x3FF) << 10 | low & 0x3FF)
        keep(scalar, search_fold_entry(scalar))
      } else {
        keep(unit, search_fold_entry(unit))
      }
    }
  }

  /// Takes a scalar that stays as it is, or nothing of it.
  @inline(__always)
  private mutating func keep(_ scalar: UInt32, _ entry: UInt16) {
    switch Int(entry) {
    case SEARCH_WORD: append(scalar, .word)
    case SEARCH_CJK: append(scalar, .cjk)
    case SEARCH_SEPARATOR: separate(isJoiner: false, by: scalar)
    case SEARCH_JOINER: separate(isJoiner: true, by: scalar)
    case SEARCH_IGNORED: break
    case SEARCH_DROPPED_MARK: extendCharacter()
    default: appendMark(scalar, entry)
    }
  }

  // The tokens.

  @inline(__always)
  private mutating func separate(isJoiner: Bool, by scalar: UInt32) {
    close()
    open.separate(isJoiner: isJoiner, by: scalar)
  }

  /// Ends the open token, if any.
  @inline(__always)
  private mutating func close() {
    flushMarks()
    open.end(at: byteCount, in: &tokens)
  }

  /// Makes the open token one of that kind.
  @inline(__always)
  private mutating func open(_ kind: FoldedToken.Kind) {
    flushMarks()
    if open.kind == kind { return }
    open.end(at: byteCount, in: &tokens)
    open.begin(kind, at: byteCount)
  }

  @inline(__always)
  private mutating func appendASCII(_ character: UInt8) {
    open(.word)
    reserve(1)
    buffer[byteCount] = character
    byteCount += 1
    track(1)
  }

  @inline(__always)
  private mutating func append(_ scalar: UInt32, _ kind: FoldedToken.Kind) {
    open(kind)
    if kind == .cjk, Composition.endsHangulSyllable(scalar), compose(scalar) {
      extendCharacter()
      return
    }
    write(scalar)
  }

  /// Writes a scalar that is not ASCII.
  @inline(__always)
  private mutating func write(_ scalar: UInt32) {
    reserve(4)
    let length = UTF8Decoding.encode(scalar, at: byteCount, in: &buffer)
    byteCount += length
    track(length)
  }

  /// Makes room for more bytes. The buffer at least doubles, so that long texts are not copied often.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if buffer.count - byteCount < count { grow(count) }
  }

  private mutating func grow(_ count: Int) {
    buffer.appendZeros(max(count, buffer.count, 64))
  }

  // Tracking.

  /// Records which character the last `count` bytes came from.
  @inline(__always)
  private mutating func track(_ count: Int) {
    if isTracking { trackBytes(count) }
  }

  private mutating func trackBytes(_ count: Int) {
    if !hasCharacter {
      characters.append(position)
      hasCharacter = true
    }
    for _ in 0..<count { characterOfByte.append(characters.count - 1) }
  }

  /// Makes the scalar that is being folded a part of the character before it, if that is in the open token.
  private mutating func extendCharacter() {
    if !isTracking || open.kind == nil { return }
    characters[characters.count - 1] = characters[characters.count - 1].lowerBound..<position.upperBound
    hasCharacter = true
  }

  // Marks that stay, and what is composed.

  private mutating func appendMark(_ scalar: UInt32, _ entry: UInt16) {
    // A mark without a letter is no text.
    if open.kind == nil { return }
    extendCharacter()
    if entry == SEARCH_FIRST_MARK {
      flushMarks()
      write(scalar)
      return
    }
    let mark = UInt32(entry) << 24 | scalar
    if let last = marks.last, last >> 24 > mark >> 24 { marksAreInOrder = false }
    marks.append(mark)
  }

  /// Writes the marks of the last letter in Unicode's canonical order, so that it does not matter in which one they
  /// came.
  @inline(__always)
  private mutating func flushMarks() {
    if !marks.isEmpty { writeMarks() }
  }

  private mutating func writeMarks() {
    if !marksAreInOrder { sortMarks() }
    // The marks belong to the character before the scalar that is being folded.
    let scalarHasCharacter = hasCharacter
    hasCharacter = true
    var isVoiced = false
    for mark in marks {
      let scalar = mark & 0xFF_FFFF
      // Only the first voicing mark can belong to the kana before it.
      if !isVoiced, Composition.isVoicing(scalar) {
        isVoiced = true
        if compose(scalar) { continue }
      }
      write(scalar)
    }
    hasCharacter = scalarHasCharacter
    marks.removeAll(keepingCapacity: true)
    marksAreInOrder = true
  }

  /// Sorts the marks by their class. Two of one class keep their order, which is a part of the text.
  private mutating func sortMarks() {
    let order = marks.indices.sorted { (marks[$0] >> 24, $0) < (marks[$1] >> 24, $1) }
    marks = order.map { marks[$0] }
  }

  /// Replaces the last scalar of the open token by what it composes with the next one.
  ///
  /// - Returns: Whether the two compose.
  private mutating func compose(_ scalar: UInt32) -> Bool {
    // All scalars that compose, and what they compose, have three bytes.
    let start = byteCount - 3
    if start < open.start || buffer[start] & 0xF0 != 0xE0 { return false }
    let last = UTF8Decoding.scalar(at: start, in: bytes).scalar.value
    guard let composed = Composition.of(last, scalar) else { return false }
    _ = UTF8Decoding.encode(composed, at: start, in: &buffer)
    return true
  }
}
