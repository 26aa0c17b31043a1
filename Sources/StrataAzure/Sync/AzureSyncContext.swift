import Foundation
import StrataStore

/// Tables that work without a network, in terms of JSON objects: changes are made here first and wait until they are pushed;
/// pulls bring what has changed at the server.
///
///     let sync = try AzureSyncContext(client, keptIn: FileSessionStorage(), named: "notes")
///     try await sync.insert(["text": "Buy milk"], into: "Note")
///     try await sync.push()
///     try await sync.pull("Note", queryID: "all")
///
/// Choose it for code that was written for Azure's old libraries, whose rules it keeps. All tables are held in memory, and kept
/// as one file that is written at each change. For more than some thousand rows, and for objects, use a `RemoteStore` with
/// ``AzureClient/backend``.
public actor AzureSyncContext {
    /// Decides about an operation that the server refused.
    public typealias Resolver = @Sendable (AzureOperationFailure) async -> AzureResolution

    private let client: AzureClient
    private let storage: any SessionStorage
    private let name: String
    /// Rows and waiting changes.
    public private(set) var state: AzureSyncState
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Opens tables, or begins with none.
    /// - Parameters:
    ///   - storage: Where the tables are kept.
    ///   - name: What they are kept under. Each application, and each user, needs a name of its own.
    /// - Throws: ``RemoteError`` of code ``AzureError/syncTableLocalStore`` or ``AzureError/syncTableInternal`` if what is
    ///   kept cannot be read.
    public init(
        _ client: AzureClient, keptIn storage: any SessionStorage, named name: String
    ) throws(RemoteError) {
        self.client = client
        self.storage = storage
        self.name = "\(name).tables"
        let version = client.configuration.dialect.version
        let data: Data?
        do throws(SessionStorageError) {
            data = try storage.session(named: self.name)
        } catch {
            throw AzureError.syncTableLocalStore.error(error.description, version: version)
        }
        state =
            try data.map { data throws(RemoteError) in try AzureSyncState(version: version, data: data) }
            ?? AzureSyncState(version: version)
    }

    private var version: AzureVersion { state.version }

    /// Makes a change and keeps it, or does nothing.
    private func change<Result>(
        _ body: (inout AzureSyncState) throws(RemoteError) -> Result
    ) throws(RemoteError) -> Result {
        var next = state
        let result = try body(&next)
        do throws(SessionStorageError) {
            try storage.keep(try kept(next), named: name)
        } catch {
            throw AzureError.syncTableLocalStore.error(error.description, version: version)
        }
        state = next
        return result
    }

    private func kept(_ state: AzureSyncState) throws(SessionStorageError) -> Data {
        do throws(RemoteError) {
            return try state.data()
        } catch {
            throw SessionStorageError(place: name, reason: error.message)
        }
    }

    // MARK: Rows

    /// The rows of a table, ordered by id.
    public func items(in table: String) -> [JSONObject] { state.items(in: table) }

    /// A row; nil if there is none.
    public func item(_ id: String, in table: String) -> JSONObject? { state.item(id, in: table) }

    /// The number of changes that wait to be sent.
    public var pendingOperations: Int { state.operations.count }

    /// Makes a row here. Without an id it gets a new one.
    /// - Returns: The row with its id.
    /// - Throws: ``RemoteError`` of code ``AzureError/syncTableInvalidAction`` if there is such a row,
    ///   ``AzureError/invalidItemID``, or ``AzureError/syncTableLocalStore`` if the tables cannot be written.
    @discardableResult
    public func insert(_ item: JSONObject, into table: String) throws(RemoteError) -> JSONObject {
        try change { state throws(RemoteError) in try state.insert(item, into: table) }
    }

    /// Changes a row here: the item takes its place.
    /// - Throws: ``RemoteError`` of code ``AzureError/missingItemID``, ``AzureError/invalidItemID``,
    ///   ``AzureError/syncTableInvalidAction`` if the row's deletion waits, or ``AzureError/syncTableLocalStore``.
    public func update(_ item: JSONObject, in table: String) throws(RemoteError) {
        try change { state throws(RemoteError) in try state.update(item, in: table) }
    }

    /// Deletes a row here.
    /// - Throws: ``RemoteError`` of code ``AzureError/missingItemID``, ``AzureError/invalidItemID``,
    ///   ``AzureError/syncTableInvalidAction`` if its deletion waits already, or ``AzureError/syncTableLocalStore``.
    public func delete(_ item: JSONObject, in table: String) throws(RemoteError) {
        try change { state throws(RemoteError) in try state.delete(item, in: table) }
    }

    /// Forgets rows of a table here, by their ids or all of them; the server is told nothing. See
    /// ``AzureSyncState/purge(_:ids:force:)``.
    /// - Throws: ``RemoteError`` of code ``AzureError/purgeAbortedPendingChanges``, or ``AzureError/syncTableLocalStore`` if
    ///   the tables cannot be written.
    public func purge(_ table: String, ids: [String]? = nil, force: Bool = false) async throws(RemoteError) {
        await begin()
        defer { end() }
        try change { state throws(RemoteError) in try state.purge(table, ids: ids, force: force) }
    }

    /// Forgets the rows of a table here that a query finds; the server is told nothing. See
    /// ``AzureSyncState/purge(_:matching:)``.
    /// - Throws: ``RemoteError`` of code ``AzureError/purgeAbortedPendingChanges``, ``AzureError/invalidParameter`` or
    ///   ``AzureError/predicateNotSupported``, or ``AzureError/syncTableLocalStore`` if the tables cannot be written.
    public func purge(_ table: String, matching query: AzureQuery) async throws(RemoteError) {
        await begin()
        defer { end() }
        try change { state throws(RemoteError) in try state.purge(table, matching: query) }
    }

    // MARK: Push

    /// Sends what waits, in the order in which it was done.
    ///
    ///     do throws(AzureFailure) {
    ///         try await sync.push()
    ///     } catch {
    ///         for refused in error.pushResult { print(refused.operation.itemID, refused.error.message) }
    ///     }
    ///
    /// - Parameter resolver: Asked about each operation that the server refused; nil to leave them all.
    /// - Throws: ``AzureFailure``: of code ``AzureError/pushCompleteWithErrors`` if the server refused some of it, with the
    ///   refusals in ``AzureFailure/pushResult``; of another of the codes of pushes if the push ended early;
    ///   ``AzureError/syncTableCancel`` or ``AzureError/syncTableOperationNotFound`` if a resolution is not possible. The
    ///   remaining operations keep waiting.
    public func push(resolvingBy resolver: Resolver? = nil) async throws(AzureFailure) {
        await begin()
        defer { end() }
        try await pushAll(resolver)
    }

    private func pushAll(_ resolver: Resolver?) async throws(AzureFailure) {
        var refused: [AzureOperationFailure] = []
        var last: Int64 = 0
        while let operation = state.operations.first(where: { $0.sequence > last }) {
            last = operation.sequence
            if let failure = try await send(operation) { refused.append(failure) }
        }
        var left: [AzureOperationFailure] = []
        // A delete that was sent since has removed the earlier operations of its row.
        for failure in refused where state.hasWaiting(failure.operation) {
            let resolution = await resolver?(failure) ?? .leave
            guard resolution != .leave else {
                left.append(failure)
                continue
            }
            do throws(RemoteError) {
                try change { state throws(RemoteError) in try state.resolve(failure.operation, resolution) }
            } catch {
                throw AzureFailure(inPush(error), pushResult: refused)
            }
        }
        guard !left.isEmpty else { return }
        throw AzureFailure(
            AzureError.pushCompleteWithErrors.error(
                "the server refused \(left.count) of the changes; they wait on", version: version,
                underlying: left.map(\.error)),
            pushResult: left)
    }

    /// Sends one operation.
    /// - Returns: Why the server refused it; nil if it is done, or if the delete after it decides.
    private func send(_ operation: AzureTableOperation) async throws(AzureFailure) -> AzureOperationFailure? {
        let item = operation.kind == .delete ? operation.item : state.item(operation.itemID, in: operation.table)
        guard operation.kind == .delete || item != nil else {
            // The row was deleted here after an attempt to send it. The delete after it removes this operation.
            if !state.isDeleted(after: operation) { try changeInPush { $0.drop(operation) } }
            return nil
        }
        state.inProgress.insert(operation.sequence)
        defer { state.inProgress.remove(operation.sequence) }
        let dialect = client.configuration.dialect
        let json = item.map(JSONValue.object)
        let told: JSONObject?
        do throws(AzureFailure) {
            told = try await client.exchange(nil) { options throws(RemoteError) in
                switch operation.kind {
                case .insert:
                    try dialect.insertRequest(
                        table: operation.table, item: json, features: [.offline], options: options)
                case .update:
                    try dialect.updateRequest(
                        table: operation.table, item: json, features: [.offline], options: options)
                case .delete:
                    try dialect.deleteRequest(
                        table: operation.table, item: json, features: [.offline], options: options)
                }
            } _: { response throws(RemoteError) in
                operation.kind == .delete ? nil : try dialect.item(response)
            }
        } catch {
            if let abort = abort(error.error) {
                throw AzureFailure(
                    abort.error(
                        "the push ended: \(error.message)", version: version,
                        kind: error.error.kind == .cancelled ? .cancelled : nil, status: error.status,
                        underlying: [error.error]),
                    request: error.request, response: error.response)
            }
            if state.isDeleted(after: operation) {
                // An insert that the server refused and a delete cancel out. After any other failure the server may have the
                // row, so the delete is sent.
                if operation.kind == .insert, isRefusal(error) { try changeInPush { $0.drop(operation) } }
                return nil
            }
            guard operation.kind == .delete, error.error.kind == .notFound || error.error.kind == .gone,
                state.isInserted(before: operation)
            else {
                return AzureOperationFailure(
                    operation: operation, item: item, serverItem: error.serverItem, error: error.error)
            }
            // The insert before it has not reached the server: there is nothing to delete.
            told = nil
        }
        try changeInPush { $0.complete(operation, told) }
        return nil
    }

    /// Makes a change that belongs to a push, which ends if the change cannot be kept.
    private func changeInPush(_ body: (inout AzureSyncState) -> Void) throws(AzureFailure) {
        do throws(RemoteError) {
            try change(body)
        } catch {
            throw AzureFailure(inPush(error))
        }
    }

    /// A failure of a change as a push throws it: tables that cannot be written end the push.
    private func inPush(_ error: RemoteError) -> RemoteError {
        guard error.code == AzureError.syncTableLocalStore.rawValue else { return error }
        return AzureError.pushAbortedDataSource.error(
            "the push ended: \(error.message)", version: version, underlying: [error])
    }

    /// Whether the server has certainly not carried out a request: it answered that it refuses it.
    private func isRefusal(_ failure: AzureFailure) -> Bool {
        switch failure.error.kind {
        case .invalidAnswer, .timeout, .throttled, .unavailable: false
        default: (400..<500).contains(failure.status ?? 0)
        }
    }

    /// The code of a push that an error ends; nil if the push goes on.
    private func abort(_ error: RemoteError) -> AzureError? {
        switch error.kind {
        case .unauthorized: .pushAbortedAuthentication
        case .unreachable, .timeout: error.status == nil ? .pushAbortedNetwork : nil
        case .cancelled: .pushAbortedUnknown
        default: nil
        }
    }

    // MARK: Pull

    /// Brings rows from the server. Changes that wait for the table are pushed first.
    /// - Parameters:
    ///   - query: Which rows.
    ///   - queryID: A name, for a pull of what has changed since the last one of that name; nil for all rows.
    ///   - pageSize: How many rows to ask for at once.
    /// - Throws: ``AzureFailure``: of the push, of code ``AzureError/invalidParameter`` or ``AzureError/invalidQueryID`` for
    ///   what a pull cannot have, ``AzureError/syncTableLocalStore`` if the tables cannot be written, or of what the server
    ///   says. If the task is cancelled, the code is ``AzureError/pullAbortedUnknown`` and the kind
    ///   ``RemoteError/Kind/cancelled``. Pages that came before stay.
    public func pull(
        _ table: String, query: AzureQuery = AzureQuery(), queryID: String? = nil,
        pageSize: Int = AzurePullPlan.pageSize
    ) async throws(AzureFailure) {
        await begin()
        defer { end() }
        do throws(AzureFailure) {
            try await pullAll(table, query, queryID, pageSize)
        } catch {
            guard error.error.kind == .cancelled else { throw error }
            var failure = error
            failure.error = AzureError.pullAbortedUnknown.error(
                "the pull ended: \(error.message)", version: version, kind: .cancelled, status: error.status,
                underlying: [error.error])
            throw failure
        }
    }

    private func pullAll(
        _ table: String, _ query: AzureQuery, _ queryID: String?, _ pageSize: Int
    ) async throws(AzureFailure) {
        let dialect = client.configuration.dialect
        var plan: AzurePullPlan
        do throws(RemoteError) {
            plan = try AzurePullPlan(
                dialect, table: table, query: query, queryID: queryID,
                token: queryID.flatMap { state.token(of: table, queryID: $0) }, pageSize: pageSize)
        } catch {
            throw AzureFailure(error)
        }
        if !state.operations(of: table).isEmpty { try await pushAll(nil) }
        while true {
            let request: WireRequest?
            do throws(RemoteError) {
                request = try plan.nextRequest(options: client.configuration.requestOptions)
            } catch {
                throw AzureFailure(error)
            }
            guard let request else { return }
            let rows = try await client.exchange(nil) { _ in
                request
            } _: { response throws(RemoteError) in
                try dialect.list(response).items
            }
            do throws(RemoteError) {
                try plan.take(rows)
                let token = plan.token
                try change { state throws(RemoteError) in
                    try state.apply(rows, to: table)
                    if let token, let queryID { state.tokens[table, default: [:]][queryID] = token }
                }
            } catch {
                throw AzureFailure(error)
            }
        }
    }

    // MARK: One at a time

    /// Waits until no other push, pull or purge is on its way.
    private func begin() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
