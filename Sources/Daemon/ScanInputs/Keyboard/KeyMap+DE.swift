extension KeyMap {
  /// The layout of Germany.
  static let de = KeyMap(
    rows: [
      (KeyCode.leftOfDigits, "^", "°"),
      (KeyCode.digits, "1234567890ß´", "!\"§$%&/()=?`"),
      (KeyCode.upperLetters, "qwertzuiopü+", "QWERTZUIOPÜ*"),
      (KeyCode.middleLetters, "asdfghjklöä", "ASDFGHJKLÖÄ"),
      (KeyCode.besideReturn, "#", "'"),
      (KeyCode.besideShift, "<", ">"),
      (KeyCode.lowerLetters, "yxcvbnm,.-", "YXCVBNM;:_"),
    ],
    alternates: [
      "2": "²", "3": "³", "7": "{", "8": "[", "9": "]", "0": "}", "ß": "\\", "q": "@", "e": "€", "+": "~", "<": "|",
      "m": "µ",
    ],
    dead: ["^", "´", "`"], decimalSeparator: ",")
}
