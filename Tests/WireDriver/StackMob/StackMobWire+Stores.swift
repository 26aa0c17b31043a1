import Foundation
import StrataStackMob
import StrataStore

extension StackMobWire {
    /// Where a fetch looks, and what it finds.
    static func cachePolicy(_ input: WireCase) async throws -> JSONValue {
        // A store without a cache is one that always asks the network.
        let policy = input.flag("cacheEnabled") == false ? .networkOnly : try fetchPolicy(input)
        let store = try WireStore(policy: policy)
        guard let cached = input.texts("cache") else { throw WireFault("\"cache\" is no list of objects") }
        try store.learn(cached)
        store.backend.answer(try network(input))
        var actual: JSONObject = [:]
        do {
            let plan = FetchPlan(entityIndex: store.entity.index)
            let ids = try store.ids(await store.store.prepare(plan, reading: [], options: nil))
            actual["results"] = .array(ids.map(JSONValue.string))
        } catch StoreError.remote(let failure) {
            actual["error"] = .integer(Int64(failure.code))
            actual["code"] = .integer(Int64(failure.code))
            actual["domain"] = .string(failure.domain)
            actual["message"] = .string(failure.message)
        }
        actual["networkCalls"] = .integer(Int64(store.backend.calls))
        let left = try store.ids(FetchPlan(entityIndex: store.entity.index))
        actual["cacheAfter"] = .array(left.map(JSONValue.string))
        return .object(actual)
    }

    private static func fetchPolicy(_ input: WireCase) throws -> FetchPolicy {
        if let number = input.whole("policy") {
            guard let policy = FetchPolicy(rawValue: number) else { throw WireFault("there is no policy \(number)") }
            return policy
        }
        var name = WireCase.plain(input.text("policy", "fetchPolicy") ?? "NetworkOnly")
        for prefix in ["smfetchpolicy", "smcachepolicy", "fetchpolicy", "cachepolicy", "try"]
        where name.hasPrefix(prefix) {
            name = String(name.dropFirst(prefix.count))
        }
        switch name {
        case "networkonly": return .networkOnly
        case "cacheonly": return .cacheOnly
        case "networkelsecache": return .networkElseCache
        case "cacheelsenetwork": return .cacheElseNetwork
        case "cachethennetwork": return .cacheThenNetwork
        default: throw WireFault("there is no policy \(name.prefix(40))")
        }
    }

    private static func network(_ input: WireCase) throws -> Result<[String], RemoteError> {
        if let ids = input.texts("network"), input["network"]?.elements != nil { return .success(ids) }
        let word = input.text("network") ?? "unreachable"
        if let number = word.split(separator: "-").last.flatMap({ Int($0) }), (300..<600).contains(number) {
            let answer = Self.response(number, ["error": "as the case says"])
            return .failure(try input.dialect().failure(answer) ?? WireServer.unreachable)
        }
        return .failure(StackMobError.networkNotReachable.error("there is no network in this case"))
    }

    /// What waits to be told to the server after changes made off line.
    static func dirtyQueue(_ input: WireCase) throws -> JSONValue {
        let operations = try (input.elements("operations") ?? []).map { element -> (String, String) in
            guard let parts = element.elements, parts.count >= 2, let name = parts[0].string else {
                throw WireFault("\(element.description.prefix(80)) is not an operation")
            }
            return (WireCase.plain(name), WireValues.text(parts[1]))
        }
        let store = try WireStore(policy: .cacheOnly)
        // The server has reported the objects that are changed or deleted first.
        var seen: Set<String> = []
        try store.learn(operations.filter { seen.insert($0.1).inserted && $0.0 != "insert" }.map(\.1))
        var maker = WireChanges(store: store)
        for (name, id) in operations { try maker.perform(name, id) }
        let entries = try store.store.mirror.pendingEntries()
        let names = try store.store.mirror.ids(of: entries.map(\.identity))
        func ids(_ kind: ChangeKind) -> JSONValue {
            .array(
                entries.filter { $0.kind == kind }
                    .map { .string($0.id.isEmpty ? names[$0.identity]?.id ?? "" : $0.id) })
        }
        return ["inserted": ids(.insert), "updated": ids(.update), "deleted": ids(.delete)]
    }

    /// What synchronization does about one waiting change.
    static func sync(_ input: WireCase) throws -> JSONValue {
        if input.flag("reachable", "networkReachable") == false || input.flag("alreadyRunning", "syncRunning") == true {
            // Nothing is begun, so all that waits goes on waiting.
            return ["action": "none", "policyCalled": false, "staysDirty": true, "callback": .null]
        }
        let kind: ChangeKind
        switch WireCase.plain(input.text("list") ?? "update") {
        case "insert", "inserted", "inserts": kind = .insert
        case "delete", "deleted", "deletes": kind = .delete
        default: kind = .update
        }
        func date(_ name: String) -> Date? { input[name]?.double.map { Date(timeIntervalSince1970: $0) } }
        let identity = RemoteIdentity(entity: "Item", id: "1")
        let answer: SyncDecision.Answer
        let status = input.whole("serverStatus")
        if let status, status != 404, !(200..<300).contains(status) {
            answer = .failed
        } else if let time = date("serverLastMod") {
            answer = .found(RemoteRecord(entity: "Item", id: "1", modified: time))
        } else {
            answer = .missing
        }
        let conflict = SyncConflict(
            kind: kind, identity: identity,
            client: RemoteRecord(entity: "Item", id: "1", modified: date("clientLastMod")), server: nil,
            baseModified: date("baseLastMod"))
        let (decision, called) = SyncDecision.decide(conflict, answer, policy: try mergePolicy(input))
        let action: String =
            switch decision {
            case .create: "POST"
            case .replace: "PUT"
            case .delete: "DELETE"
            case .takeServer: "update-cache"
            case .deleteHere: "purge-cache"
            case .drop: "drop"
            case .fail: "failed"
            }
        return [
            "action": .string(action), "policyCalled": .boolean(called), "staysDirty": .boolean(decision == .fail),
            "callback": decision == .fail ? .string(kind.rawValue) : .null,
        ]
    }

    private static func mergePolicy(_ input: WireCase) throws -> ConflictPolicy {
        var name = WireCase.plain(input.text("policy", "mergePolicy") ?? "ServerModifiedWins")
        if name.hasPrefix("smmergepolicy") { name = String(name.dropFirst("smmergepolicy".count)) }
        switch name {
        case "clientwins": return .clientWins
        case "lastmodifiedwins": return .lastModifiedWins
        case "servermodifiedwins": return .serverModifiedWins
        default: throw WireFault("there is no policy \(name.prefix(40))")
        }
    }
}

/// Makes changes off line, one save each.
struct WireChanges {
    let store: WireStore
    private var nextKey: Int64 = 1_000_000

    init(store: WireStore) { self.store = store }

    mutating func perform(_ operation: String, _ id: String) throws {
        let mirror = store.store.mirror
        let index = store.entity.index
        let known = try mirror.key(of: RemoteIdentity(entity: store.entity.name, id: id))
        let row = try known.flatMap { try mirror.store.rows(entityIndex: index, keys: [$0]).rows.first }
        var changes = ChangeSet()
        switch operation {
        case "insert" where row == nil:
            nextKey += 1
            changes.inserts.append(.init(row: self.row(id, key: nextKey, version: 1)))
        case "update":
            guard let row else { return }
            let changed = self.row(id, key: row.row.key, version: row.row.version + 1, date: Date())
            guard let slot = store.entity.slot(named: "lastmoddate") else { return }
            changes.updates.append(
                .init(row: changed, slots: SlotSet([slot.index]), baseVersion: row.row.version))
        case "delete":
            guard let row else { return }
            changes.deletes.append(.init(entityIndex: index, key: row.row.key, baseVersion: row.row.version))
        case "insert": return
        default: throw WireFault("there is no operation \(operation.prefix(40)) of objects")
        }
        _ = try mirror.commit(changes, enqueues: true)
    }

    private func row(_ id: String, key: Int64, version: Int64, date: Date? = nil) -> RowReference {
        var builder = RowBatchBuilder(expectedRows: 1)
        builder.beginRow(entity: store.entity, key: key, version: version)
        if let slot = store.entity.slot(named: "itemId") { builder.setText(id, slot: slot.index) }
        if let date, let slot = store.entity.slot(named: "lastmoddate") {
            builder.setDouble(date.timeIntervalSinceReferenceDate, slot: slot.index)
        }
        builder.endRow()
        return builder.finish()[0]
    }
}
