extension KeyMap {
  /// The layout of the United States.
  static let us = KeyMap(rows: [
    (KeyCode.leftOfDigits, "`", "~"),
    (KeyCode.digits, "1234567890-=", "!@#$%^&*()_+"),
    (KeyCode.upperLetters, "qwertyuiop[]", "QWERTYUIOP{}"),
    (KeyCode.middleLetters, "asdfghjkl;'", "ASDFGHJKL:\""),
    (KeyCode.besideReturn, "\\", "|"),
    (KeyCode.besideShift, "<", ">"),
    (KeyCode.lowerLetters, "zxcvbnm,./", "ZXCVBNM<>?"),
  ])
}
