import Foundation
import StrataRemote
import StrataStore

/// A public key of StackMob.
let testKey = "XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX"

/// A folder of its own for the file of a store, removed with this object.
final class TestFolder: Sendable {
    let url: URL
    var path: String { url.appending(path: "guide.sqlite").path }

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "strata-remote-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // The folder is in the system's temporary folder; a failure leaves litter there, no wrong result.
        try? FileManager.default.removeItem(at: url)
    }
}

/// A back end whose network can be down, and which can refuse all writes.
final class SwitchedBackend: RemoteBackend {
    private let base: any RemoteBackend
    private let state = Guarded((isDown: false, refuses: false))

    init(_ base: any RemoteBackend) { self.base = base }

    var isDown: Bool {
        get { state.withLock(\.isDown) }
        set { state.withLock { $0.isDown = newValue } }
    }
    var refuses: Bool {
        get { state.withLock(\.refuses) }
        set { state.withLock { $0.refuses = newValue } }
    }

    var name: String { base.name }
    var capabilities: RemoteCapabilities { base.capabilities }
    func check(_ model: ManagedObjectModel) throws(RemoteError) { try base.check(model) }
    func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        if isDown { throw RemoteError(.unreachable, domain: "Switch", message: "the network is down") }
        let refusal = RemoteOutcome.failed(RemoteError(.rejected, domain: "Switch", code: 7, message: "refused"))
        switch operation {
        case .create(_, let writes) where refuses: return .outcomes(writes.map { _ in refusal })
        case .update where refuses, .delete where refuses: return .outcomes([refusal])
        default: return try await base.perform(operation, options: options)
        }
    }
}

extension WireRequest {
    /// The method, and the path without its query.
    var line: String { "\(head.method.rawValue) \((head.path ?? "").prefix { $0 != "?" })" }
}
