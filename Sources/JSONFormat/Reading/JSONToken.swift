/// What ``JSONTokenizer/next()`` found.
///
/// A token carries no bytes: the tokenizer lends the text of the last one until it is asked for another.
public enum JSONToken: UInt8, Sendable, Equatable {
  /// The window holds no further whole token: append bytes, or say that there are no more.
  case needsInput
  /// The value is complete and nothing but white space followed it.
  case endOfDocument
  case beginObject
  case endObject
  case beginArray
  case endArray
  /// The name of a member; its text is unescaped and valid UTF-8. The colon has been taken care of.
  case key
  /// A string; its text is unescaped and valid UTF-8.
  case string
  /// A piece of a string that is read in parts; see ``JSONTokenizer/deliversStringParts``.
  case stringPart
  /// The end of a string that is read in parts.
  case stringEnd
  /// A number; see ``JSONTokenizer/int64Value`` and ``JSONTokenizer/doubleValue``.
  case number
  case `true`
  case `false`
  case null
}
