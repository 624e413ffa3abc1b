extension KeyMap {
  /// The layout of France.
  static let fr = KeyMap(
    rows: [
      (KeyCode.leftOfDigits, "²", " "),
      (KeyCode.digits, "&é\"'(-è_çà)=", "1234567890°+"),
      (KeyCode.upperLetters, "azertyuiop^$", "AZERTYUIOP¨£"),
      (KeyCode.middleLetters, "qsdfghjklmù", "QSDFGHJKLM%"),
      (KeyCode.besideReturn, "*", "µ"),
      (KeyCode.besideShift, "<", ">"),
      (KeyCode.lowerLetters, "wxcvbn,;:!", "WXCVBN?./§"),
    ],
    alternates: [
      "é": "~", "\"": "#", "'": "{", "(": "[", "-": "|", "è": "`", "_": "\\", "ç": "^", "à": "@", ")": "]", "=": "}",
      "e": "€", "$": "¤",
    ],
    dead: ["^", "¨"])
}
