/// The words for true and false that spreadsheets and programs write in other languages than English.
enum TruthWords {
  /// The value of a word, in any case; `nil` for other texts. Numbers and single letters are none: they mean something
  /// else too often.
  static func value(of text: String) -> Bool? {
    let word = text.lowercased()
    return yes.contains(word) ? true : no.contains(word) ? false : nil
  }

  /// The words for true: first as spreadsheets write the value, then as people write yes.
  static let yes: Set<String> = Set(
    """
    true wahr vrai verdadero vero verdadeiro waar sand sant sann tosi prawda pravda igaz adevărat истина истинно true() \
    doğru αληθές 真 참 是 对 對 正 yes ja oui sí sì si sim tak ano igen da да так evet kyllä はい 예 네
    """.split(separator: " ").map(String.init))

  /// The words for false, in the same order.
  static let no: Set<String> = Set(
    """
    false falsch faux falso onwaar falsk usann epätosi fałsz nepravda hamis fals ложь false() yanlış yanliş ψευδές 假 거짓 \
    否 错 錯 误 no nein non não nao nee nej nei nie ne nem nu нет ні hayır hayir ei いいえ 아니요 아니오
    """.split(separator: " ").map(String.init))
}
