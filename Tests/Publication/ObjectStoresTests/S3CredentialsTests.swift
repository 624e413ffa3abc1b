import Foundation
import StoreTestSupport
import Synchronization
import Testing

@testable import ObjectStores

@Suite struct S3CredentialsTests {
  /// A home directory with the two files.
  private final class Home {
    let folder: TemporaryDirectory
    var environment: [String: String]

    init(credentials: String? = nil, config: String? = nil) throws {
      folder = try TemporaryDirectory()
      environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
      try FileManager.default.createDirectory(atPath: folder.path + "/.aws", withIntermediateDirectories: true)
      for (name, text) in [("credentials", credentials), ("config", config)] {
        if let text { try folder.write(Array(text.utf8), to: ".aws/" + name) }
      }
    }

    func found(now: Int64 = 1_000) async throws -> S3Credentials {
      try await S3CredentialSource(environment: environment) { now }.current()
    }
  }

  @Test func `the environment goes before the files`() async throws {
    let home = try Home(credentials: "[default]\naws_access_key_id = F\naws_secret_access_key = S\n")
    #expect(try await home.found() == S3Credentials(accessKey: "F", secret: "S"))
    home.environment["AWS_ACCESS_KEY_ID"] = "E"
    home.environment["AWS_SECRET_ACCESS_KEY"] = "X"
    #expect(try await home.found() == S3Credentials(accessKey: "E", secret: "X"))
    home.environment["AWS_SESSION_TOKEN"] = "T"
    #expect(try await home.found().sessionToken == "T")
  }

  @Test func `a file is read as other programs read it`() async throws {
    let home = try Home(
      credentials: """
        # a comment
        [default]
        aws_access_key_id=ONE
        aws_secret_access_key = a/b+c==
        ; another one

        [ shop ]
        AWS_ACCESS_KEY_ID = TWO
        aws_secret_access_key = s#t
        aws_session_token = t=1
        """)
    #expect(try await home.found() == S3Credentials(accessKey: "ONE", secret: "a/b+c=="))
    home.environment["AWS_PROFILE"] = "shop"
    #expect(try await home.found() == S3Credentials(accessKey: "TWO", secret: "s#t", sessionToken: "t=1"))
    home.environment["AWS_SHARED_CREDENTIALS_FILE"] = "~/other"
    try home.folder.write(Array("[shop]\naws_access_key_id = O\naws_secret_access_key = P".utf8), to: "other")
    #expect(try await home.found().accessKey == "O")
  }

  @Test func `the file of settings has profiles, and values below values are none of its own`() async throws {
    let config = """
      [default]
      region = r-1
      [profile shop]
      s3 =
        region = wrong
        addressing_style = path
      region = r-2
      endpoint_url = http://s.example
      aws_access_key_id = C
      aws_secret_access_key = D
      """
    let home = try Home(config: config)
    home.environment["AWS_PROFILE"] = "shop"
    #expect(try await home.found().accessKey == "C")
    let store = try S3Store(S3Location(bucket: "shop"), environment: home.environment)
    #expect(store.region == "r-2")
    #expect(store.endpoint.base == "http://s.example/shop/")
    home.environment["AWS_PROFILE"] = nil
    #expect(try S3Store(S3Location(bucket: "shop"), environment: home.environment).region == "r-1")
    let longer = AWSProfile.parse("[default]\na = 1\n[profile  default]\na = 2\n[default]\nb = 3")
    #expect(longer == ["default": ["a": "1", "b": "3"], "profile default": ["a": "2"]])
  }

  @Test func `a command prints credentials`() async throws {
    let json =
      #"{"Version": 1, "AccessKeyId": "P", "SecretAccessKey": "Q", "SessionToken": "R", "#
      + #""Expiration": "1970-01-01T01:00:00Z"}"#
    let home = try Home(config: "[default]\ncredential_process = sh -c 'cat \"$HOME/my answer\"'\n")
    try home.folder.write(Array(json.utf8), to: "my answer")
    #expect(
      try await home.found()
        == S3Credentials(accessKey: "P", secret: "Q", sessionToken: "R", expiration: 3_600))
    // The file of credentials goes before.
    try home.folder.write(
      Array("[default]\ncredential_process = echo {}\n".utf8), to: ".aws/credentials")
    let error = await #expect(throws: ObjectStoreError.self) { try await home.found() }
    #expect(error?.description.contains("\(home.folder.path)/.aws/credentials [default]") == true)
  }

  @Test func `credentials that end are renewed shortly before, and after the server refused them`() async throws {
    let home = try Home(
      config: """
        [default]
        credential_process = sh -c 'echo x >> "$HOME/runs"; cat "$HOME/answer"'
        """)
    let json = #"{"Version":1,"AccessKeyId":"P","SecretAccessKey":"Q","Expiration":"1970-01-01T01:00:00.5+00:00"}"#
    try home.folder.write(Array(json.utf8), to: "answer")
    func runs() throws -> Int { try home.folder.contents("runs").count / 2 }
    let clock = Clock()
    let source = S3CredentialSource(environment: home.environment) { clock.now.load(ordering: .relaxed) }
    _ = try await source.current()
    clock.now.store(3_299, ordering: .relaxed)
    let kept = try await source.current()
    #expect(try runs() == 1)
    clock.now.store(3_301, ordering: .relaxed)
    _ = try await source.current()
    #expect(try runs() == 2)
    #expect(await source.drop(kept))
    _ = try await source.current()
    #expect(try runs() == 3)
    #expect(await !S3CredentialSource(S3Credentials(accessKey: "A", secret: "B")).drop(kept.withoutEnd))
  }

  private final class Clock: Sendable {
    let now = Atomic<Int64>(1_000)
  }

  @Test(
    arguments: [
      ("", "names no command"), ("/nowhere/program", "cannot be run: /nowhere/program"),
      ("false", "ended with status 1"),
      ("sh -c 'kill -9 $$'", "ended by signal 9"), ("echo nothing", "did not print a JSON object"),
      (#"echo '{"Version":2,"AccessKeyId":"s3cr","SecretAccessKey":"s3cr"}'"#, "printed version 2"),
      (#"echo '{"Version":1,"AccessKeyId":"s3cr","SecretAccessKey":""}'"#, "printed a key that is empty"),
      (
        #"echo '{"Version":1,"AccessKeyId":"s3cr","SecretAccessKey":"s3cr","Expiration":"1970-01-01T00:00:01Z"}'"#,
        "have ended"
      ),
      (
        #"echo '{"Version":1,"AccessKeyId":"s3cr","SecretAccessKey":"s3cr","Expiration":"soon"}'"#, "no date"
      ),
      ("head -c 70000 /dev/zero", "more than 64 KiB"), ("sleep 60", "did not end within 1 s"),
      ("sh -c 'exec >&-; sleep 60'", "did not end within 1 s"),
    ])
  func `a command that does not is named by its file, and what it printed is not repeated`(
    command: String, expected: String
  ) throws {
    var process = CredentialProcess(command: command, source: "/a/config [default]")
    if expected.contains("within 1 s") { process.timeout = .seconds(1) }
    let error = #expect(throws: ObjectStoreError.self) {
      try process.run(environment: ["PATH": "/usr/bin:/bin"], now: 1_000)
    }
    let text = error?.description ?? ""
    #expect(text.contains("/a/config [default]") && text.contains(expected), "\(text)")
    #expect(!text.contains("s3cr"))
  }

  @Test func `the words of a command are those of a shell without its other rules`() {
    #expect(
      CredentialProcess.words(" a  b\t'c d' \"e 'f'\" g\\ h '' i\"j\"k 'l\\m' ") == [
        "a", "b", "c d", "e 'f'", "g h", "", "ijk", "l\\m",
      ])
    #expect(CredentialProcess.words("  ").isEmpty)
  }

  @Test func `dates of ISO 8601 are read`() {
    #expect(CredentialProcess.date("1970-01-02T00:00:00Z") == 86_400)
    #expect(CredentialProcess.date("1970-01-02T00:00:00.123456+00:00") == 86_400)
    #expect(CredentialProcess.date("1970-01-02T01:30:00+01:30") == 86_400)
    #expect(CredentialProcess.date("1970-01-01T23:00:00-0100") == 86_400)
    #expect(CredentialProcess.date("1970-01-02") == nil)
    #expect(CredentialProcess.date("1970-13-02T00:00:00Z") == nil)
  }

  @Test func `credentials that are missing or halved are named with what to do`() async throws {
    let home = try Home()
    func message() async -> String {
      await #expect(throws: ObjectStoreError.self) { try await home.found() }?.description ?? ""
    }
    #expect(await message().contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
    #expect(await message().contains("\(home.folder.path)/.aws/credentials"))
    home.environment["AWS_ACCESS_KEY_ID"] = "K"
    #expect(await message() == "the environment has AWS_ACCESS_KEY_ID without AWS_SECRET_ACCESS_KEY; set both")
    home.environment["AWS_SECRET_ACCESS_KEY"] = "s3cr et"
    #expect(await message().hasPrefix("AWS_SECRET_ACCESS_KEY of the environment has a blank"))
    #expect(await !message().contains("s3cr"))
    home.environment = ["HOME": home.folder.path, "AWS_PROFILE": "shop"]
    #expect(await message().contains("neither [shop] in \(home.folder.path)/.aws/credentials nor [profile shop]"))
  }

  @Test func `no description has the secret`() {
    let credentials = S3Credentials(accessKey: "KEY", secret: "s3cr", sessionToken: "t0ken")
    var text = "\(credentials) \(String(reflecting: credentials)) "
    dump(credentials, to: &text)
    #expect(text.contains("KEY"))
    #expect(!text.contains("s3cr") && !text.contains("t0ken"))
  }
}

extension S3Credentials {
  fileprivate var withoutEnd: S3Credentials { S3Credentials(accessKey: accessKey, secret: secret) }
}
