import Bytes
import Testing

@Suite struct SipHashTests {
  /// The hashes of the bytes 0, 1, 2, … under the key of the bytes 0 to 15, for 0 bytes, 1 byte and so on. Computed by
  /// another program, which also computes SipHash-2-4, and there agrees with libsodium.
  private static let hashes: [UInt64] = [
    0xabac_0158_050f_c4dc,
    0xc9f4_9bf3_7d57_ca93,
    0x82cb_9b02_4dc7_d44d,
    0x8bf8_0ab8_e7dd_f7fb,
    0xcf75_5760_88d3_8328,
    0xdef9_d52f_4953_3b67,
    0xc50d_2b50_c59f_22a7,
    0xd392_7d98_9bb1_1140,
    0x3690_9511_8d29_9a8e,
    0x25a4_8eb3_6c06_3de4,
    0x79de_85ee_92ff_097f,
    0x70c1_18c1_f94d_c352,
    0x78a3_84b1_57b4_d9a2,
    0x306f_760c_1229_ffa7,
    0x605a_a111_c0f9_5d34,
    0xd320_d86d_2a51_9956,
    0xcc4f_dd1a_7d90_8b66,
    0x9cf2_6890_63db_d80c,
  ]

  @Test func isThatOfThePaper() {
    let key = SipHash.Key(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
    for (count, expected) in Self.hashes.enumerated() {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(SipHash.of(bytes.rawSpan, key) == expected, "\(count) bytes")
    }
    let long = (0..<63).map { UInt8($0) }
    #expect(SipHash.of(long.rawSpan, key) == 0x9d19_9062_b7bb_b3a8)
  }
}
