import Essentials
public import JSONFormat
import UploadQueue
import Workspace

extension Daemon {
  /// The daemon's state as JSON: version, user, catalogue with its age, synchronisation, queue, inputs, current
  /// problems, counters.
  ///
  /// Values that cannot be read are null, and the reason is listed among the problems.
  public func status() -> JSONText {
    let problems = currentProblems()
    let now = context.time.now()
    let time = Date(microseconds: now)
    let uptime = context.uptime() - started.uptime
    return .object([
      ("version", .text(Self.version)), ("time", .text(time.precise)),
      ("started", .text(Date(microseconds: started.time).precise)),
      ("uptimeSeconds", .double((uptime.seconds * 1000).rounded() / 1000)), ("ready", .bool(isReady)),
      ("user", .optional((try? user()) ?? nil)), ("catalogue", catalogueJSON(time)), ("sync", sync.json),
      ("network", network.json),
      ("rootWarning", .optional(WorkspaceDirectory(root: options.root).placeWarning())),
      ("queue", queueJSON()), ("webhooks", .array(webhooks.options.map { .text($0.name) })), ("inputs", inputs.json),
      ("sessionsOpen", .int(sessions.openCount())), ("eventListeners", .int(events.listenerCount)),
      ("scansPerSecond", .double((rate.perSecond(at: context.uptime()) * 1000).rounded() / 1000)),
      ("problems", problems),
    ])
  }

  /// The current problems, as ``status()`` lists them.
  package func currentProblems() -> JSONText {
    causes.check()
    return problems.json
  }

  private func catalogueJSON(_ time: Date) -> JSONText {
    do {
      return try context.access.withCatalogue { catalogue, stores in
        let age = context.access.age(catalogue, of: stores)
        return .object([
          ("user", .optional(age.user)), ("cursor", .text(age.cursor)), ("sequence", .uint(age.sequence)),
          ("generation", .uint(catalogue.generation)), ("products", .int(catalogue.productCount)),
          ("relations", .int(catalogue.relationCount)), ("codes", .int(catalogue.codeCount)),
          ("currentAt", .optional(age.currentAt?.precise)),
          ("ageSeconds", age.ageSeconds(at: time).map(JSONText.double) ?? .null),
        ])
      }
    } catch {
      return .null
    }
  }

  private func queueJSON() -> JSONText {
    do {
      guard let documents = try context.userDocuments.documents(of: context.access.stores(), creates: false) else {
        return QueueCounts().json([])
      }
      let queue = documents.queue
      return try queue.counts().json(queue.pauses(), heldKeys: queue.heldKeys())
    } catch {
      return .null
    }
  }
}
