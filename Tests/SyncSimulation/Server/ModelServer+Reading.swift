import Foundation
import StrataRemote

// What a server reports about its objects.
extension ModelServer {
    /// Whether there is an object of an entity or of one that inherits from it.
    func hasObject(_ entity: String, _ id: String) -> Bool {
        guard let description = model.entity(named: entity) else { return false }
        return description.descendantIndexes.contains {
            record(RemoteIdentity(entity: model.entities[$0].name, id: id)) != nil
        }
    }

    func page(_ query: RemoteQuery) throws(RemoteError) -> RemotePage {
        var found: [RemoteIdentity] = []
        for (identity, object) in objects where identity.entity == query.entity.name && !object.isDeleted {
            guard let predicate = query.predicate else {
                found.append(identity)
                continue
            }
            var values: [String: Value] = [query.entity.primaryKeyField ?? "": key(identity, query.entity)]
            for case (let name, .value(let value)) in object.values { values[name] = value }
            do throws(PredicateEvaluationError) {
                if try predicate.evaluate(on: Value.composite(values)) { found.append(identity) }
            } catch {
                throw RemoteError(.rejected, domain: "Simulation", message: "\(error)", status: 400)
            }
        }
        let part = found.sorted { $0.id < $1.id }.dropFirst(query.offset)
            .prefix(min(query.limit ?? .max, variant.maximumPage ?? .max))
        return RemotePage(
            records: part.compactMap { identity in
                var record = record(identity)
                if query.properties != nil { record?.values = [:] }
                return record
            })
    }

    private func key(_ identity: RemoteIdentity, _ entity: EntityDescription) -> Value {
        switch entity.primaryKeyField.flatMap(entity.slot(named:))?.storage {
        case .integer: Int64(identity.id).map(Value.integer) ?? .null
        case .uuid: UUID(uuidString: identity.id).map(Value.uuid) ?? .null
        default: .string(identity.id)
        }
    }

    func page(_ pull: RemotePull) throws(RemoteError) -> RemotePage {
        let cursor = pull.cursor?.split(separator: ".").compactMap { Int($0) } ?? [epoch, 0]
        guard cursor.count == 2, cursor[0] == epoch else {
            throw RemoteError(.cursorExpired, domain: "Simulation", message: "begin anew", status: 410)
        }
        let from = cursor[1]
        let news = objects.filter { $0.key.entity == pull.entity.name && $0.value.sequence > from }
            .sorted { $0.value.sequence < $1.value.sequence }
        let part = news.prefix(pull.limit)
        var page = RemotePage(next: "\(epoch).\(part.last?.value.sequence ?? from)", hasMore: news.count > part.count)
        for (identity, object) in part {
            if !object.isDeleted {
                if let record = record(identity) { page.records.append(record) }
            } else if variant.features.contains(.deletions) {
                page.deleted.append(identity)
            }
        }
        return page
    }

    /// All properties that the server knows, including those without a value.
    func told(_ values: [String: RemoteValue], _ name: String) -> [String: RemoteValue] {
        guard let entity = model.entity(named: name) else { return values }
        var result = values
        for slot in entity.slots where slot.name != entity.primaryKeyField && result[slot.name] == nil {
            result[slot.name] = slot.relationshipIndex == nil ? .value(.null) : .reference(nil)
        }
        if let members = entity.simulatedMembers, result[members.name] == nil { result[members.name] = .references([]) }
        return result
    }

    // MARK: What it makes of values

    /// What the server keeps of what it is given.
    func taken(_ values: [String: RemoteValue], _ entity: EntityDescription) -> [String: RemoteValue] {
        var result = values
        if marksTexts, case .value(.string(let text))? = values["b"] {
            result["b"] = .value(.string(Self.marked(text)))
            onChange(false)
        }
        if renamesFolders, case .reference(let id?)? = values["folder"], !hasObject("Folder", id) {
            // A reference by the name that the object had when it was sent.
            let renamed = Self.marked(id)
            if hasObject("Folder", renamed) { result["folder"] = .reference(renamed) }
        }
        return result
    }

    /// The primary key that a new object gets in place of the one it came with.
    static func renamed(_ id: String, _ entity: EntityDescription) -> String {
        entity.name == "Folder" ? marked(id) : id
    }

    private static let mark = "~"

    private static func marked(_ text: String) -> String { text.hasSuffix(mark) ? text : text + mark }

    /// A value as a client gave it.
    static func given(_ value: RemoteValue) -> RemoteValue {
        guard case .value(.string(let text)) = value, text.hasSuffix(mark) else { return value }
        return .value(.string(String(text.dropLast(mark.count))))
    }

    /// The name of an object as a client gave it.
    static func given(_ identity: RemoteIdentity) -> RemoteIdentity {
        guard identity.id.hasSuffix(mark) else { return identity }
        return RemoteIdentity(entity: identity.entity, id: String(identity.id.dropLast(mark.count)))
    }
}
