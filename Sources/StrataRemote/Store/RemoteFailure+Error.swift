import StrataStore

extension RemoteFailure {
    /// What a back end's error means to those who know only stores.
    public init(_ error: RemoteError) {
        self.init(
            kind: error.kind.rawValue, domain: error.domain, code: error.code, message: error.message,
            status: error.status, body: error.body, retryAfter: error.retryAfter)
    }

    /// What it means; nil for a save of which a part failed.
    public var remoteKind: RemoteError.Kind? { RemoteError.Kind(rawValue: kind) }

    /// The kind of the failure of a save of which a part failed.
    public static let saveKind = "save"
    /// The code of a save of which a part failed, in the domain `Strata`, where the back end has no code of its own.
    public static let saveCode = 1
}

extension StoreError {
    /// What a back end's error means to those who know only stores.
    init(_ error: RemoteError) {
        self = error.kind == .cancelled ? .cancelled : .remote(RemoteFailure(error))
    }

    /// Why a synchronization ended before a save could begin.
    init(_ error: SyncError) {
        switch error {
        case .remote(let error): self.init(error)
        case .store(let error): self = error
        }
    }

    /// Whether the server cannot be reached: there is no connection, or no answer in time.
    var isUnreachable: Bool {
        guard case .remote(let failure) = self else { return false }
        return failure.remoteKind == .unreachable || failure.remoteKind == .timeout
    }
}
