/// A certificate for `localhost` that signs itself, valid from 2020 to 2120, and its key. Made for these
/// tests; it protects nothing.
enum TestCertificate {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBQjCB6KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
    bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHCQv3KyD6Ifls6lw
    VP1U7gFopCGa8um5JqXDChgzGhzjnfpBaikilDUj4YfBGA84sYdM9KnTZmkMYWWC
    AayqSKMpMCcwFAYDVR0RBA0wC4IJbG9jYWxob3N0MA8GA1UdEwEB/wQFMAMBAf8w
    CgYIKoZIzj0EAwIDSQAwRgIhAPKtIm3Hv/trV3daiOAowr4jSTo/wnk6m33/vLho
    SvjGAiEAqCfmzx0GpXjBxNdQSLavgfrWqLF5B85qi2BRozMp+EI=
    -----END CERTIFICATE-----
    """

  static let privateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwhQaaMd4M2yvQGaG
    3qDp3vWfbW1fMSvW37Bynk14YnGhRANCAAQcJC/crIPoh+WzqXBU/VTuAWikIZry
    6bkmpcMKGDMaHOOd+kFqKSKUNSPhh8EYDzixh0z0qdNmaQxhZYIBrKpI
    -----END PRIVATE KEY-----
    """

  /// The same, valid in the year 2020 only.
  static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBXzCCAQWgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
    b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASB+ELfL2vxzM/VkP89
    omj1L70rk0Qa5CrEqBPNCw/HfzvKrYBGrGEa1pWQvvVnbttPaW4M3NpgdodTrD9N
    vL6Ho0gwRjAUBgNVHREEDTALgglsb2NhbGhvc3QwDwYDVR0TAQH/BAUwAwEB/zAd
    BgNVHQ4EFgQU+vUvjxDRkvEVX6PZVqpvwlaayIYwCgYIKoZIzj0EAwIDSAAwRQIh
    AP56jeZ4NlRq1jFVKC64sLnzX3he/z6kGnM9Wa3aqV2fAiBVtFX5oUQXrKPAVuGq
    pP5zyZ2698rOAvzRQTHKknLFPQ==
    -----END CERTIFICATE-----
    """

  static let expiredPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPVBLx8Tm4odlixod
    lZsVwhNd716UoWFSSi+oxYNbeTChRANCAASB+ELfL2vxzM/VkP89omj1L70rk0Qa
    5CrEqBPNCw/HfzvKrYBGrGEa1pWQvvVnbttPaW4M3NpgdodTrD9NvL6H
    -----END PRIVATE KEY-----
    """
}
