import Bytes

/// Comparison of words that may have one typing mistake.
public enum OneEdit {
  /// Whether two texts are the same after at most one edit: a character inserted, deleted, replaced, or swapped with
  /// its neighbour.
  ///
  /// The order of the texts does not matter. Characters are Unicode scalars, not bytes: `你好` and `您好` differ in one.
  ///
  /// - Parameters:
  ///   - first: A text, as UTF-8.
  ///   - second: The other text, as UTF-8.
  /// - Complexity: O(n) for n bytes, without allocation.
  public static func matches(_ first: RawSpan, _ second: RawSpan) -> Bool {
    var start = 0
    let shorter = min(first.byteCount, second.byteCount)
    while start < shorter, first.u8(at: start) == second.u8(at: start) { start += 1 }
    if start == first.byteCount, start == second.byteCount { return true }
    // Back to the first byte of the character that differs.
    start = characterStart(first, second, at: start)
    let firstNext = end(ofCharacterAt: start, in: first)
    let secondNext = end(ofCharacterAt: start, in: second)
    if hasSameRest(first, firstNext, second, secondNext) { return true }
    if hasSameRest(first, firstNext, second, start) || hasSameRest(first, start, second, secondNext) { return true }
    return isSwap(first, second, start, firstNext, secondNext)
  }

  /// The start of the character that contains the first different byte. The bytes before it are the same in both texts.
  private static func characterStart(_ first: RawSpan, _ second: RawSpan, at offset: Int) -> Int {
    var start = offset
    // A character of UTF-8 has at most three bytes after its first one.
    while start > max(0, offset - 3), isContinuation(first, start) || isContinuation(second, start) { start -= 1 }
    return start
  }

  private static func isContinuation(_ text: RawSpan, _ offset: Int) -> Bool {
    offset < text.byteCount && text.u8(at: offset) & 0xC0 == 0x80
  }

  /// The end of the character that starts at an offset; the offset itself at the end of the text.
  private static func end(ofCharacterAt offset: Int, in text: RawSpan) -> Int {
    offset == text.byteCount ? offset : offset + UTF8Decoding.value(at: offset, in: text).byteCount
  }

  /// Whether both texts are the same from the given offsets to their ends.
  private static func hasSameRest(_ first: RawSpan, _ firstStart: Int, _ second: RawSpan, _ secondStart: Int) -> Bool {
    let count = first.byteCount - firstStart
    return second.byteCount - secondStart == count
      && first.slice(firstStart, count).hasSameBytes(as: second.slice(secondStart, count))
  }

  /// Whether the next two characters are the same in the other order, and everything after them is the same.
  private static func isSwap(
    _ first: RawSpan, _ second: RawSpan, _ start: Int, _ firstNext: Int, _ secondNext: Int
  ) -> Bool {
    let firstEnd = end(ofCharacterAt: firstNext, in: first)
    if firstEnd != end(ofCharacterAt: secondNext, in: second) { return false }
    let left = firstNext - start
    let right = firstEnd - firstNext
    if secondNext - start != right { return false }
    return first.slice(start, left).hasSameBytes(as: second.slice(secondNext, left))
      && first.slice(firstNext, right).hasSameBytes(as: second.slice(start, right))
      && hasSameRest(first, firstEnd, second, firstEnd)
  }
}
