import Testing
import TextFormat

@Suite struct HexadecimalTests {
  @Test func `bytes have two digits each`() {
    #expect(Hexadecimal.text([0x00, 0x0F, 0xA9, 0xFF]) == "000FA9FF")
    #expect(Hexadecimal.text([0x00, 0x0F, 0xA9, 0xFF], .lowercase) == "000fa9ff")
    #expect(Hexadecimal.text(0x1D) == "1D")
    #expect(Hexadecimal.text([]) == "")
  }

  @Test func `only digits have a value`() {
    for byte in UInt8.min...UInt8.max {
      let expected = Character(Unicode.Scalar(byte)).isASCII ? Character(Unicode.Scalar(byte)).hexDigitValue : nil
      #expect(Hexadecimal.value(of: byte).map(Int.init) == expected)
    }
  }
}
