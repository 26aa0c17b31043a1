/// What becomes of a queued change when a server answers its write with an error. ``Documentation/RemoteAnswers.md`` has
/// the same table in words.
///
/// Errors fall into three classes. Those about the world – no network, a portal, an ended session, a server that is
/// down – say nothing of the change, which stays queued. Those about the object set the change aside. Those about its
/// version are decided by the conflict policy. In doubt the wider class counts: to send a change again costs little.
enum WriteReaction: Sendable, Hashable, CaseIterable {
    /// Whether it was done is not known. It stays queued with its token and body, and is sent again after a wait.
    case retryLater
    /// Whether it was done is not known. It stays queued with its token and body, and the push ends.
    case stop
    /// It was not done: the server carries out nothing without a session. The push ends.
    case stopUnsent
    /// The object may be gone. The server is asked for it by its primary key before anything is deleted here.
    case confirmAbsence
    /// The server has another state of the object: the conflict policy decides.
    case resolveConflict
    /// The server refuses this change. It is set aside with the reason; others go on.
    case setAside

    /// - Parameters:
    ///   - kind: What the server answered.
    ///   - change: What was to be done.
    ///   - attempts: How often the change has been sent, this time included.
    static func to(_ kind: RemoteError.Kind, of change: ChangeKind, attempts: Int) -> WriteReaction {
        switch kind {
        case .unreachable, .timeout, .throttled, .unavailable: .retryLater
        case .cancelled, .invalidAnswer: .stop
        // An earlier attempt may have been done before the session ended.
        case .unauthorized: attempts > 1 ? .stop : .stopUnsent
        // A server that lacks the schema says so, too: of an object that it may never have had it means nothing.
        case .notFound: change == .insert ? .setAside : .confirmAbsence
        // Of a creation it means that an earlier attempt was carried out, and that the object was deleted since.
        case .gone: .confirmAbsence
        case .conflict: .resolveConflict
        // Of an update it means that another object has a value that must be unique.
        case .duplicate: change == .insert ? .resolveConflict : .setAside
        case .forbidden, .rejected, .invalidRequest, .missingSecret, .unsupported, .cursorExpired: .setAside
        }
    }
}
