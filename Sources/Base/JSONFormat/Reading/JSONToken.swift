/// A token returned by ``JSONTokenizer/next()``.
///
/// A token contains no bytes: the tokenizer keeps the text of the last token until the next call.
public enum JSONToken: UInt8, Sendable, Equatable {
  /// The window contains no further complete token: append bytes, or call `finish()`.
  case needsInput
  /// The value is complete, and only white space followed it.
  case endOfDocument
  case beginObject
  case endObject
  case beginArray
  case endArray
  /// The name of a member; its text is unescaped and valid UTF-8. The colon is already consumed.
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
