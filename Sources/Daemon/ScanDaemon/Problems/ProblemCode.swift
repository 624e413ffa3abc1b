import LogStore

/// The kinds of problems that a daemon reports. Programs rely on the raw values, so they never change.
package enum ProblemCode: String, Sendable, CaseIterable {
  // The catalogue.

  /// The catalogue file is damaged, or the device cannot read it.
  case catalogueUnreadable = "catalogue_unreadable"
  /// There is no catalogue: no synchronisation or import has ever succeeded for the user.
  case catalogueNeverSynchronised = "catalogue_never_synchronised"
  /// The last synchronisation failed.
  case syncFailing = "sync_failing"
  /// The last import from the file, folder or database of `sync.from` failed.
  case sourceFailing = "source_failing"
  /// What is published was refused: its signature, an older state, another catalogue, rows with another digest.
  case publicationRefused = "publication_refused"
  /// The head of the publication has expired.
  case publicationStale = "publication_stale"
  /// There was no news of the publication for three intervals.
  case publicationOverdue = "publication_overdue"
  /// A mirror has other bytes than were published, or has been behind for three intervals. About: the mirror.
  case publicationMirror = "publication_mirror"
  /// A server is configured, but no user is signed in.
  case syncNoUser = "sync_no_user"
  /// A server is configured and a user is signed in, but no synchronisation has ended since.
  case syncNeverRan = "sync_never_ran"

  // Users, documents and their files.

  /// The stores of a user are sealed, and there is no key for them. About: the user.
  case keyUnavailable = "key_unavailable"
  /// The key does not open the sealed stores of a user. About: the user.
  case keyWrong = "key_wrong"

  /// A sealed store is older than a commit that was seen. About: the store.
  case storeWentBack = "store_went_back"
  /// The daemon cannot determine the signed-in user, or which users have uploads.
  case usersUnreadable = "users_unreadable"
  /// The queue, the miss journal and the set sessions cannot be read.
  case documentsUnreadable = "documents_unreadable"
  /// Scans cannot be written.
  case recordingFailing = "recording_failing"
  /// Codes that matched nothing cannot be written.
  case missJournalFailing = "miss_journal_failing"
  /// The queue cannot record the outcome of its uploads.
  case queueNotWritten = "queue_not_written"
  /// The queue accepts no more uploads.
  case uploadsRefused = "uploads_refused"
  /// Scans that could not be looked up cannot be looked up again.
  case rematchFailing = "rematch_failing"
  /// A setting of the stores cannot be used; its default holds. About: the setting.
  case settingsFaulty = "settings_faulty"
  /// A store could not be compacted.
  case compactionFailing = "compaction_failing"
  /// What is too old could not be forgotten, or its bytes are still in the file.
  case forgettingFailing = "forgetting_failing"

  // Uploads.

  /// The last upload to a webhook failed. About: the webhook.
  case webhookFailing = "webhook_failing"
  /// Only probes are sent to a webhook, because its responses show that it is not ready. About: the webhook.
  case targetPaused = "target_paused"
  /// Uploads to a webhook were given up. About: the webhook.
  case uploadsParked = "uploads_parked"
  /// Uploads to a webhook wait for a person's decision about a parked one. About: the webhook.
  case keysHeld = "keys_held"
  /// The signed-in user's queue is paused: nothing is sent until it is resumed.
  case queuePaused = "queue_paused"
  /// The task that sends a user's uploads ended with an error. About: the user.
  case uploadsStopped = "uploads_stopped"
  /// Uploads wait for a time that was asked for and that is far away, or was asked for while the clock was ahead.
  case uploadsForLater = "uploads_for_later"

  // Inputs and connections.

  /// An input is not open. About: the input.
  case inputClosed = "input_closed"
  /// Connections were refused, or had to wait, because of a limit. About: the input, or `http`.
  case connectionsRefused = "connections_refused"
  /// Requests to a path were answered with 500. About: the path.
  case requestsFailing = "requests_failing"
  /// The daemon cannot observe when the network comes back.
  case networkUnwatched = "network_unwatched"

  // The process.

  /// A new configuration was rejected; the daemon continues with the previous one.
  case reloadRefused = "reload_refused"
  /// Another daemon uses the same root directory, or tries to.
  case secondDaemon = "second_daemon"
  /// The path of the root directory no longer leads to the directory that the daemon started with.
  case rootReplaced = "root_replaced"
  /// The clock was set back, or is behind the times in the stores.
  case clockSetBack = "clock_set_back"

  /// What a person can do to fix the problem that `message` describes.
  package func remedy(for message: String) -> String {
    // Whatever the store is, its file is not damaged.
    if message.contains(StoreError.newerWords) {
      return "install the newer version of Shelfmark; the daemon leaves the file as it is and tries again by itself"
    }
    return remedy
  }

  /// What a person can usually do to fix the problem.
  package var remedy: String {
    switch self {
    case .catalogueUnreadable:
      "do what the message says; if it tells of damage and sync.url, sync.from or sync.published is set, the daemon replaces the"
        + " catalogue by itself; else run 'catalogctl verify --repair', or 'catalogctl sync --full --replace-damaged'"
    case .catalogueNeverSynchronised:
      "set sync.url, sync.from or sync.published and sign a user in, or fetch a catalogue with 'catalogctl sync' or 'catalogctl import'"
    case .syncFailing: "check the server, the network and sync.url or sync.published; the daemon tries again by itself"
    case .sourceFailing:
      "correct what the message names; the daemon reads a file again when it has changed, and asks a database again by"
        + " itself. 'catalogctl import --dry-run' with the same file and mapping shows all errors"
    case .publicationRefused:
      "compare sync.published and sync.rootKey with what the publisher says; if they are right, tell the publisher what the"
        + " message says. The catalogue that is there goes on; the daemon tries again by itself"
    case .publicationStale:
      "tell the publisher to publish again: 'catalogctl publish' renews the head even if no row has changed. If the head is"
        + " not old, compare 'date' with the right time. The catalogue that is there goes on"
    case .publicationOverdue:
      "check the network, sync.published and sync.mirrors; lastError of sync in /v1/status says what fails. The daemon"
        + " tries again by itself"
    case .publicationMirror:
      "see to the mirror, or take it out of sync.mirrors. The catalogue is not affected: all that a mirror answers is checked"
    case .syncNoUser: "sign a user in: set user, run 'catalogctl login USER', or POST /v1/session"
    case .syncNeverRan:
      "wait for the synchronisation that runs; if none ends, look at sync in /v1/status and at the log"
    case .keyUnavailable:
      "do what the message says; sealing.keyFile, sealing.keyCommand or sealing.passphraseFile says where the key is, or a unit"
        + " of systemd passes it with LoadCredential=shelfmark.key:FILE. A changed setting is in force after SIGHUP; a file or"
        + " command is tried again by itself"
    case .keyWrong:
      "put a key there that opens the stores: 'catalogctl keys list --user USER' shows which there are. The daemon tries again"
        + " by itself, and at once after SIGHUP"
    case .storeWentBack:
      "find out who or what put an older file there; everything in it is readable. A catalogue is as it should be after the"
        + " next full update ('catalogctl sync --full', or POST /v1/sync with {\"full\": true}); 'catalogctl keys accept' accepts the"
        + " stores as they are"
    case .usersUnreadable:
      "do what the message says: the daemon must be able to read the root directory; it tries again by itself"
    case .documentsUnreadable:
      "do what the message says; if it tells of damage, run 'catalogctl verify --repair'; the daemon tries again by"
        + " itself"
    case .rematchFailing:
      "see to the catalogue and the free space of the root directory; the daemon tries again by itself"
    case .recordingFailing, .missJournalFailing, .queueNotWritten:
      "do what the message says about space or owners; if it tells of damage, run 'catalogctl verify --repair'; the"
        + " daemon tries again by itself"
    case .uploadsRefused: "see what stops the uploads (GET /v1/queue), then send or drop some"
    case .settingsFaulty:
      "set it anew with 'catalogctl config set', or unset it as the message says; the daemon notices it by itself"
    case .compactionFailing: "check the free space of the root directory; the daemon tries again by itself"
    case .forgettingFailing:
      "check the file that the message names and the free space; the daemon tries again within an hour, and 'catalogctl"
        + " forget' does it at once"
    case .webhookFailing:
      "check the receiver and webhooks.NAME.url; the daemon tries again by itself. If the receiver works and never answers the first"
        + " scan of an input, drop it ('catalogctl queue list', 'catalogctl queue drop ID')"
    case .queuePaused: "resume it: 'catalogctl queue resume', or POST /v1/queue/resume"
    case .targetPaused: "check the receiver, its address and its credentials; the daemon probes it by itself"
    case .uploadsParked:
      "see why with 'catalogctl queue list --state parked', then retry or drop them ('catalogctl queue retry --parked')"
    case .keysHeld:
      "decide about the parked upload that holds the key: 'catalogctl queue retry ID' or 'catalogctl queue drop ID'"
    case .uploadsStopped: "do what the message says about the file that it names; the daemon tries again by itself"
    case .uploadsForLater:
      "if the time is meant, wait; else find them with 'catalogctl queue list --state waiting --json' (notBefore), add them"
        + " again without --not-before, and drop these with 'catalogctl queue drop ID'"
    case .inputClosed: "check that the device is connected, or that no other program uses the port or the path"
    case .connectionsRefused: "close connections that are not needed, or raise the limit that the message names"
    case .requestsFailing:
      "ask again; if it fails each time, see to the file that the message names, or report it as a fault of the daemon"
    case .networkUnwatched: "allow the process AF_NETLINK, or set watchNetwork to false"
    case .reloadRefused:
      "correct the configuration ('catalogd --check-config --config FILE' lists what is wrong) and send SIGHUP again"
    case .rootReplaced:
      "give the directory back to its user if the message says so; bring it back if it was moved or unmounted; else"
        + " restart the daemon, which goes on with the new one"
    case .clockSetBack:
      "compare 'date' with the right time; if the clock is wrong, set it ('timedatectl'). Nothing waits for the clock. The"
        + " problem ends by itself an hour after the stores have no time from the future any more"
    case .secondDaemon: "stop one of the two daemons, or give it a root directory of its own"
    }
  }
}
