/// The names of keys: those of <linux/input-event-codes.h> without `KEY_`.
enum KeyName {
  /// The names of the codes from 1 on; `-` for a code without a key.
  private static let names = """
    ESC 1 2 3 4 5 6 7 8 9 0 MINUS EQUAL BACKSPACE TAB Q W E R T Y U I O P LEFTBRACE RIGHTBRACE ENTER LEFTCTRL A S D F \
    G H J K L SEMICOLON APOSTROPHE GRAVE LEFTSHIFT BACKSLASH Z X C V B N M COMMA DOT SLASH RIGHTSHIFT KPASTERISK \
    LEFTALT SPACE CAPSLOCK F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 NUMLOCK SCROLLLOCK KP7 KP8 KP9 KPMINUS KP4 KP5 KP6 KPPLUS \
    KP1 KP2 KP3 KP0 KPDOT - ZENKAKUHANKAKU 102ND F11 F12 RO KATAKANA HIRAGANA HENKAN KATAKANAHIRAGANA MUHENKAN \
    KPJPCOMMA KPENTER RIGHTCTRL KPSLASH SYSRQ RIGHTALT LINEFEED HOME UP PAGEUP LEFT RIGHT END DOWN PAGEDOWN INSERT \
    DELETE MACRO MUTE VOLUMEDOWN VOLUMEUP POWER KPEQUAL KPPLUSMINUS PAUSE SCALE KPCOMMA HANGEUL HANJA YEN LEFTMETA \
    RIGHTMETA COMPOSE
    """.split(separator: " ").map(String.init)

  /// F13 to F24 have consecutive codes of their own.
  private static let f13 = 183

  /// The name of a key, for people: `F8`, or `key 240` for a key without a name here.
  static func of(_ code: Int) -> String {
    if (f13..<f13 + 12).contains(code) { return "F\(13 + code - f13)" }
    guard names.indices.contains(code - 1), names[code - 1] != "-" else { return "key \(code)" }
    return names[code - 1]
  }

  /// The names of the keys that may be assigned to characters, in the order in which messages list them. They type
  /// nothing otherwise.
  static let assignable =
    (1...24).map { "F\($0)" } + [
      "ESC", "BACKSPACE", "INSERT", "DELETE", "HOME", "END", "PAGEUP", "PAGEDOWN", "UP", "DOWN", "LEFT", "RIGHT",
      "SYSRQ", "PAUSE", "COMPOSE",
    ]

  /// The code of an assignable key; `nil` for any other name.
  static func assignableCode(_ name: String) -> Int? {
    guard assignable.contains(name) else { return nil }
    if let index = names.firstIndex(of: name) { return index + 1 }
    return Int(name.dropFirst()).map { f13 + $0 - 13 }
  }

  /// Whether a code is that of a mouse, joystick or touch button, which belongs to no keyboard and types nothing.
  static func isButton(_ code: Int) -> Bool {
    (0x100..<0x160).contains(code) || (0x220...0x223).contains(code) || (0x2C0...0x2E7).contains(code)
  }
}
