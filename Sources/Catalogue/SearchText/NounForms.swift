import CStemmer

/// The singular and the plural of folded words, in English, German, French and Spanish.
///
/// A text does not say its language, so a word is tried in each. The endings of this type say what a plural may look
/// like, and Snowball's stemmer of the language has to agree: `glas` is a form of `glaser`, and none of `glass`. A
/// stemmer alone would take too much for the same, such as `pasta` and `paste` in Spanish.
///
/// The stemmers do not know some endings that nearly always are a plural, such as `kartoffeln` and `choux`. These are
/// taken without them.
///
/// Not for several threads at a time.
@safe package final class NounForms {
  /// A language and how it ends nouns: the singular, then the plural.
  private struct Language {
    /// The name of Snowball's algorithm.
    let name: String
    let endings: [Ending]

    /// - Parameters:
    ///   - name: The name of Snowball's algorithm.
    ///   - endings: The endings on which the stemmer has to agree.
    ///   - sure: Those that are taken without it, by the fewest letters of the singular.
    init(
      _ name: String, _ endings: KeyValuePairs<String, String>,
      sure: KeyValuePairs<Int, KeyValuePairs<String, String>> = [:]
    ) {
      self.name = name
      self.endings =
        endings.map { Ending($0, $1, least: NounForms.shortest, isSure: false) }
        + sure.flatMap { least, endings in endings.map { Ending($0, $1, least: least, isSure: true) } }
    }
  }

  /// How a singular ends, and how its plural does instead.
  private struct Ending {
    let singular: [UInt8]
    let plural: [UInt8]
    /// The fewest letters of the singular.
    let least: Int
    /// Whether the stemmer need not agree.
    let isSure: Bool

    init(_ singular: String, _ plural: String, least: Int, isSure: Bool) {
      self.singular = Array(singular.utf8)
      self.plural = Array(plural.utf8)
      self.least = least
      self.isSure = isSure
    }
  }

  // The sure endings, and how many pairs of words in 412,000 names have them and are not merged by a stemmer. Their
  // singulars are as long as that few others are among them. Shorter endings merge more: `f` and `ves` the French
  // `actif` and `actives`, `ou` and `oux` the French `dou` and `doux`, `al` and `aux` Meal and Meaux.
  //
  //     language   singular, plural       pairs   of these, no singular and plural
  //     English    lf … ife, lves … ives      6   aperitife, a typing mistake
  //     German     el, eln                   35   none
  //                er, ern                    4   over and overn, ster and stern, pier and piern
  //     French     jou … bou, with x          5   none
  //                eu, eux                    5   dieu and dieux are mostly places
  //                au, aux                    6   none
  //                ou, eu, with s            20   houmou and pamplemou, which were cut off
  //                ail, aux                   1   none
  //     Spanish    az … uz, aces … uces       7   riz and rices, priz and prices, piz and pices, braz and braces
  private static let languages = [
    Language(
      "english", ["": "s", "": "es", "y": "ies"],
      sure: [
        shortest: [
          "lf": "lves", "eaf": "eaves", "oaf": "oaves", "arf": "arves", "hief": "hieves", "oof": "ooves", "ife": "ives",
        ]
      ]),
    Language(
      "german", ["": "e", "": "n", "": "en", "": "er", "": "ern", "": "s", "": "nen"],
      sure: [4: ["el": "eln", "er": "ern"]]),
    Language(
      "french", ["": "s", "": "x", "l": "ux"],
      sure: [
        shortest: ["eu": "eux"],
        4: [
          // The nouns in `ou` that have x are bijou, caillou, chou, genou, hibou, joujou, and pou, which is too short.
          "jou": "joux", "llou": "lloux", "hou": "houx", "nou": "noux", "bou": "boux", "au": "aux", "ou": "ous",
          "eu": "eus",
        ],
        5: ["ail": "aux"],
      ]),
    Language(
      "spanish", ["": "s", "": "es"],
      sure: [shortest: ["az": "aces", "ez": "eces", "iz": "ices", "oz": "oces", "uz": "uces"]]),
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
      for ending in language.endings {
        let (singular, plural) = (ending.singular, ending.plural)
        for (old, new) in [(plural, singular), (singular, plural)] where !old.isEmpty {
          guard let form = Self.replacing(old, with: new, in: word), min(form.count, word.count) >= ending.least,
            !form.starts(with: word), !forms.contains(form)
          else { continue }
          if ending.isSure {
            forms.append(form)
            continue
          }
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
