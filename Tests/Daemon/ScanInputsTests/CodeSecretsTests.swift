import RandomTestSupport
import Testing

@testable import ScanInputs

@Suite struct CodeSecretsTests {
  @Test(arguments: [
    ("WIFI:T:WPA;S:shop;P:secret;;", "WIFI:T:WPA;S:shop;P:***;;"),
    ("WIFI:P:secret;T:WPA;S:shop;;", "WIFI:P:***;T:WPA;S:shop;;"),
    ("wifi:t:wpa;s:shop;p:secret;;", "wifi:t:wpa;s:shop;p:***;;"),
    ("Wifi:S:shop;P:secret;H:true;", "Wifi:S:shop;P:***;H:true;"),
    ("]Q1WIFI:S:shop;P:secret;;", "]Q1WIFI:S:shop;P:***;;"),
    // Escaped characters.
    (#"WIFI:S:a\;P:b;P:se\;cr\:et\\;T:WPA;;"#, #"WIFI:S:a\;P:b;P:***;T:WPA;;"#),
    (#"WIFI:S:shop;P:se\;S:cret;;"#, #"WIFI:S:shop;P:***;;"#), (#"WIFI:P:"se;cret";S:shop;;"#, #"WIFI:P:***;S:shop;;"#),
    (#"WIFI:P:secret\"#, "WIFI:P:***"),
    // Not escaped, cut off, and with blanks.
    ("WIFI:S:shop;P:se;cr;;et;;", "WIFI:S:shop;P:***;;"), ("WIFI:S:shop;P:sec", "WIFI:S:shop;P:***"),
    ("WIFI: S:shop; P:secret;;", "WIFI: S:shop; P:***;;"), ("WIFI:S:shop;P:secret", "WIFI:S:shop;P:***"),
    // WPA2 Enterprise.
    (
      "WIFI:T:WPA2-EAP;S:shop;E:PEAP;PH2:MSCHAPV2;I:ana;P:secret;;",
      "WIFI:T:WPA2-EAP;S:shop;E:PEAP;PH2:MSCHAPV2;I:ana;P:***;;"
    ),
    ("WIFI:T:WPA;S:店;P:秘密;;", "WIFI:T:WPA;S:店;P:***;;"),
    (#"{"code":"WIFI:S:shop;P:secret;;"}"#, #"{"code":"WIFI:S:shop;P:***"#),
    ("WIFI:S:a;P:b;;WIFI:S:c;P:d;;", "WIFI:S:a;P:***;P:***;;"),
    // Full-width characters and ones that nobody sees, which are matched as those of ASCII.
    ("ＷＩＦＩ:S:shop;P:secret;;", "ＷＩＦＩ:S:shop;P:***;;"),
    (
      "ＷＩＦＩ：Ｓ：ｓｈｏｐ；Ｐ：ｓｅｃ；；", "ＷＩＦＩ：Ｓ：ｓｈｏｐ；Ｐ：***；；"
    ),
    ("ｗｉｆｉ：ｐ：ｓｅｃ", "ｗｉｆｉ：ｐ：***"), ("WIFI：P：秘密", "WIFI：P：***"),
    ("WI\u{200B}FI:S:shop;\u{FEFF}P\u{AD}:secret;;", "WI\u{200B}FI:S:shop;\u{FEFF}P\u{AD}:***;;"),
    ("WIFI:　S:shop;　P:secret;;", "WIFI:　S:shop;　P:***;;"),
    ("WIFI:P:se；T:cret;;", "WIFI:P:***;;"), ("ＷＩＦＩ:S:shop;P:se；T:cret;;", "ＷＩＦＩ:S:shop;P:***;;"),
    ("otpauth：／／totp／x？ｓecret＝ABC＆issuer=Shop", "otpauth：／／totp／x？ｓecret＝***"),
    ("ＬＰＡ：１＄server＄CODE", "ＬＰＡ：１＄server＄***"), ("ＦＩＤＯ：／1308", "ＦＩＤＯ：／***"),
    ("https：／／ana：secret＠example.com", "https：／／ana：***＠example.com"),
    // Other payloads.
    ("otpauth://totp/Shop:ana?secret=ABC&issuer=Shop", "otpauth://totp/Shop:ana?secret=***&issuer=Shop"),
    ("OTPAUTH://hotp/x?issuer=Shop&SECRET=ABC", "OTPAUTH://hotp/x?issuer=Shop&SECRET=***"),
    ("otpauth-migration://offline?data=Abc%3D", "otpauth-migration://offline?data=***"),
    ("LPA:1$smdp.example.com$CODE-1$1.3.6", "LPA:1$smdp.example.com$***$1.3.6"),
    ("FIDO:/13086400838107303667332719012595", "FIDO:/***"),
    ("https://ana:secret@example.com/01/4", "https://ana:***@example.com/01/4"),
    ("ftp://ana:se:cr@et@example.com", "ftp://ana:***@example.com"),
  ])
  func `secrets are replaced`(_ code: String, _ masked: String) {
    #expect(CodeSecrets.masked(code) == masked)
    // A code that is already masked stays so.
    #expect(CodeSecrets.masked(masked) ?? masked == masked)
  }

  @Test(arguments: [
    "", ":", "WIFI:", "WIFI:;;", "WIFI:T:nopass;S:shop;;", "WIFI:T:nopass;S:shop;P:;;", "WIFI:S:P;H:true;;",
    "4719999000019",
    "https://example.com/01/04719999000019?17=261231&secret=1", "https://id.gs1.org/01/4:a@b", "mailto:a@b.example",
    "otpauth://totp/x?issuer=secret", "LPA:1$", "LPA:1$server", "LPA:1$server$", "FIDO:/", "MECARD:N:P;TEL:1;;",
    "P:secret;", "ＷＩＦＩ：；；", "ＷＩＦＩ：Ｓ：店；；", "４７１９：９９", "\u{200B}:",
    "https://@example.com", "https://ana:@example.com", "a\u{1D}b:c",
  ])
  func `other codes stay as they are`(_ code: String) {
    #expect(CodeSecrets.masked(code) == nil)
  }

  @Test func `bytes that are no text are masked too`() {
    #expect(
      CodeSecrets.masked(Array("WIFI:S:".utf8) + [0xFF] + Array(";P:".utf8) + [0xFE, 0xFD] + Array(";;".utf8))
        == Array("WIFI:S:".utf8) + [0xFF] + Array(";P:***;;".utf8))
    guard case .notText(_, let shown) = InputFault.notText(.utf8, Array("WIFI:P:secret".utf8) + [0xFF]) else { return }
    #expect(shown == "WIFI:P:***")
  }

  @Test func `a reading without secrets is the same in everything else`() {
    let reading = Reading(input: "a", code: "WIFI:P:secret;;", tag: "t", symbology: "]Q1")
    let masked = reading.withoutSecrets
    #expect(masked == Reading(input: "a", code: "WIFI:P:***;;", tag: "t", symbology: "]Q1"))
    #expect(masked.withoutSecrets == masked)
    let plain = Reading(input: "a", code: "1")
    #expect(plain.withoutSecrets == plain)
    let undecoded = Reading(input: "a", undecoded: Array("WIFI:P:secret".utf8) + [0xFF, 0x3B, 0x3B]).withoutSecrets
    #expect(undecoded.code == "WIFI:P:***;;" && undecoded.undecodedBytes == Array("WIFI:P:***;;".utf8))
    let typed = Reading(
      input: "a", undecoded: Array("WIFI:P:se".utf8) + [0xFF] + Array("cret;;".utf8), code: "WIFI:P:se{F8}cret;;",
      reason: "could not be decoded")
    #expect(typed.withoutSecrets.code == "WIFI:P:***;;")
  }

  @Test func `a random password never stays`() {
    var generator = SeededGenerator(for: "CodeSecretsTests")
    let alphabet = Array("abc;:\\\"PST ,*@/?&=é".unicodeScalars)
    for _ in 0..<2000 * depth {
      var password = "x"
      for _ in 0..<Int.random(in: 0..<20, using: &generator) {
        password.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
      }
      var escaped = ""
      for scalar in password.unicodeScalars {
        if #"\;,:""#.unicodeScalars.contains(scalar) { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
      }
      #expect(CodeSecrets.masked("WIFI:T:WPA;P:\(escaped);S:shop;;") == "WIFI:T:WPA;P:***;S:shop;;", "\(escaped)")
      #expect(CodeSecrets.masked("WIFI:S:shop;P:\(escaped);;") == "WIFI:S:shop;P:***;;", "\(escaped)")
    }
  }
}
