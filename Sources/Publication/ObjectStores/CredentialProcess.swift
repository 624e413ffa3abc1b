import Essentials
import Platform
import TextFormat

/// A command that prints credentials as JSON: `{"Version": 1, "AccessKeyId": …, "SecretAccessKey": …}`, and
/// `SessionToken` and `Expiration` for those that end.
///
/// The command is not run by a shell. Its words are separated by blanks; quotation marks keep blanks in a word. What it
/// prints is in no message.
struct CredentialProcess: Sendable {
  private struct Output: Decodable {
    let Version: Int
    let AccessKeyId: String
    let SecretAccessKey: String
    let SessionToken: String?
    let Expiration: String?
  }

  let command: String
  /// The file and the section that name the command, for messages.
  let source: String
  var timeout: Duration = .seconds(60)

  /// Runs the command. Blocks until it ends, or its time is over.
  ///
  /// - Parameters:
  ///   - environment: The environment of the command.
  ///   - now: Seconds since 1970 UTC.
  func run(environment: [String: String], now: Int64) throws(ObjectStoreError) -> S3Credentials {
    let words = Self.words(command)
    guard let program = words.first else { throw failure("names no command") }
    let bytes: [UInt8]
    do {
      let result = try ChildOutput.read(words, environment: environment, limit: 1 << 16, timeout: timeout)
      switch result {
      case .ended(let status, _) where status != 0:
        throw failure("ended with status \(status); run it by hand to see why")
      case .ended(_, let output): bytes = output
      case .signalled(let signal): throw failure("was ended by signal \(signal)")
      case .tooLong: throw failure("printed more than 64 KiB")
      case .timedOut: throw failure("did not end within \(timeout.components.seconds) s")
      }
    } catch let error as StorageError {
      throw failure("cannot be run: \(program): \(error.reason)")
    } catch let error as ObjectStoreError {
      throw error
    } catch { throw failure("cannot be run") }
    guard let output = try? JSONDecoder().decode(Output.self, from: Data(bytes)) else {
      throw failure("did not print a JSON object with Version, AccessKeyId and SecretAccessKey")
    }
    guard output.Version == 1 else { throw failure("printed version \(output.Version); only version 1 is known") }
    let texts = [output.AccessKeyId, output.SecretAccessKey, output.SessionToken ?? ""]
    guard texts.prefix(2).allSatisfy({ !$0.isEmpty }),
      texts.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
    else { throw failure("printed a key that is empty, or has characters that no key has") }
    var expiration: Int64?
    if let text = output.Expiration {
      guard let date = Self.date(text) else { throw failure("printed an Expiration that is no date of ISO 8601") }
      guard date > now else { throw failure("printed credentials that have ended; is the clock right?") }
      expiration = date
    }
    return S3Credentials(
      accessKey: output.AccessKeyId, secret: output.SecretAccessKey, sessionToken: output.SessionToken,
      expiration: expiration)
  }

  private func failure(_ what: String) -> ObjectStoreError {
    .credentials(reason: "the credential_process of \(source) \(what)")
  }

  /// The words of a command: blanks separate them, quotation marks of both kinds keep blanks, and a backslash keeps the
  /// next character except between single ones.
  static func words(_ command: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in command {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return words
  }

  /// Seconds since 1970 of `2026-11-28T14:00:00Z`. A fraction of a second is dropped; an offset may stand for the `Z`.
  static func date(_ text: String) -> Int64? {
    let pattern =
      /(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):?(\d\d))/
    guard let match = text.wholeMatch(of: pattern) else { return nil }
    func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
    let (year, month, day) = (number(match.1), number(match.2), number(match.3))
    let clock = [number(match.4), number(match.5), number(match.6)]
    guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), clock[0] < 24, clock[1] < 60,
      clock[2] <= 60
    else { return nil }
    let offset = (number(match.8) * 60 + number(match.9)) * (match.7 == "-" ? -60 : 60)
    let days = CalendarDate(year: year, month: month, day: day).daysSince1970
    return Int64(days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2] - offset)
  }
}
