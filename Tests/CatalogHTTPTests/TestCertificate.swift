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
}
