import CStemmer

/// The singular and the plural of folded words, in English, German, French and Spanish.
///
/// A text does not say its language, so a word is tried in each. The endings of this type say what a plural may look
/// like, and Snowball's stemmer of the language has to agree: `glas` is a form of `glaser`, and none of `glass`. A
/// stemmer alone would take too much for the same, such as `pasta` and `paste` in Spanish.
///
/// Not for several threads at a time.
@safe package final class NounForms {
  /// A language and how it ends nouns: the singular, then the plural.
  private struct Language {
    /// The name of Snowball's algorithm.
    let name: String
    let endings: [(singular: [UInt8], plural: [UInt8])]

    init(_ name: String, _ endings: KeyValuePairs<String, String>) {
      self.name = name
      self.endings = endings.map { (Array($0.utf8), Array($1.utf8)) }
    }
  }

  private static let languages = [
    Language("english", ["": "s", "": "es", "y": "ies"]),
    Language("german", ["": "e", "": "n", "": "en", "": "er", "": "ern", "": "s", "": "nen"]),
    Language("french", ["": "s", "": "x", "l": "ux"]),
    Language("spanish", ["": "s", "": "es"]),
  ]

  /// The fewest letters of a form. Shorter words are mostly no nouns, or units.
  private static let shortest = 3
  /// The most letters of a word whose forms are looked for.
  package static let longest = 40

  // Made when a word is first stemmed, one for each of `languages`, and freed with this value.
  private var stemmers: [OpaquePointer] = unsafe []

  package init() {}

  deinit {
    for number in unsafe stemmers.indices { unsafe sb_stemmer_delete(stemmers[number]) }
  }

  private func makeStemmers() {
    for language in Self.languages {
      // The names and the encoding are those of libstemmer; only a lack of memory makes it fail.
      guard let stemmer = unsafe sb_stemmer_new(language.name, nil) else {
        preconditionFailure("libstemmer has no stemmer for \(language.name)")
      }
      unsafe stemmers.append(stemmer)
    }
  }

  /// Returns the words that may be the singular or the plural of a word, each once: `berry` for `berries`, and `chevaux`
  /// for `cheval`.
  ///
  /// Those that begin with the word are left out, such as `cookies` for `cookie`: a search finds them as beginnings.
  /// Some of the others are no words of any language; the caller keeps those that it knows.
  ///
  /// - Parameter word: The folded word as UTF-8. A word with anything but the letters a to z has no forms.
  package func forms(of word: [UInt8]) -> [[UInt8]] {
    guard (Self.shortest...Self.longest).contains(word.count),
      word.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
    else { return [] }
    var forms: [[UInt8]] = []
    for (number, language) in Self.languages.enumerated() {
      // Few words have an ending of a language, so most words are not stemmed.
      var own: [UInt8]?
      for (singular, plural) in language.endings {
        for (old, new) in [(plural, singular), (singular, plural)] where !old.isEmpty {
          guard let form = Self.replacing(old, with: new, in: word), form.count >= Self.shortest,
            !forms.contains(form)
          else { continue }
          let stemOfWord = own ?? stem(word, number)
          own = stemOfWord
          if stem(form, number) == stemOfWord { forms.append(form) }
        }
      }
    }
    return forms
  }

  private func stem(_ word: [UInt8], _ language: Int) -> [UInt8] {
    if unsafe stemmers.isEmpty { makeStemmers() }
    return unsafe word.withUnsafeBufferPointer { bytes in
      // The stemmer copies the word, and its answer is valid until it is called again. It is null without memory.
      guard let stem = unsafe sb_stemmer_stem(stemmers[language], bytes.baseAddress, Int32(bytes.count)) else {
        return word
      }
      return unsafe Array(UnsafeBufferPointer(start: stem, count: Int(sb_stemmer_length(stemmers[language]))))
    }
  }

  /// Replaces the end of a word; `nil` if it ends otherwise.
  private static func replacing(_ old: [UInt8], with new: [UInt8], in word: [UInt8]) -> [UInt8]? {
    guard word.count > old.count, word.suffix(old.count).elementsEqual(old) else { return nil }
    return word.dropLast(old.count) + new
  }
}
