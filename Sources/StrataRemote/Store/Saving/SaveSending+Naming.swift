import Foundation
import StrataSQLite
import StrataStore

/// New objects of a back end that gives them primary keys of its own: what refers to one waits for its key.
extension SaveSending {
    /// Whether the server gives a new object its primary key.
    func isNamed(_ write: MirrorWrite) -> Bool { store.mirror.server.assigning.contains(write.entity.index) }

    /// Sends new objects, first those that do not refer to other new ones. If they refer to each other in a circle, one is sent
    /// without references to objects that have no key yet, and a change after all of them adds these.
    mutating func sendNaming(_ list: [MirrorWrite]) async {
        var waiting = list
        var behind: [MirrorWrite] = []
        while !waiting.isEmpty, failures.isEmpty {
            let unnamed = Set(waiting.map(\.name))
            var ready = waiting.filter { $0.references.isDisjoint(with: unnamed) }
            if ready.isEmpty {
                var first = waiting[0]
                let rest = first.cut(Set(waiting.filter(isNamed).map(\.name)), store.model)
                if !rest.references.isEmpty { behind.append(rest) }
                ready = [first]
            }
            let sent = Set(ready.map(\.name))
            waiting.removeAll { sent.contains($0.name) }
            await send(ready)
            let names = names(of: ready)
            for index in waiting.indices { waiting[index].take(names, store.model) }
            for index in behind.indices { behind[index].take(names, store.model) }
            for index in writes.indices where writes[index].kind != .insert {
                writes[index].take(names, store.model)
            }
        }
        undone.formUnion(waiting.map(rooted))
        for write in behind where !undone.contains(rooted(write)) { add(write) }
    }

    /// The keys that the server gave to objects that were sent under others.
    private func names(of list: [MirrorWrite]) -> [RemoteIdentity: String] {
        var names: [RemoteIdentity: String] = [:]
        for write in list {
            guard let id = renamed[rooted(write)] else { continue }
            names[write.rootedName] = id
        }
        return names
    }

    /// Puts the references of a new object into a change of their own.
    private mutating func add(_ write: MirrorWrite) {
        var write = write
        let identity = rooted(write)
        if let id = renamed[identity] { write.write.id = id }
        write.write.baseVersion = records.last { store.mirror.isSame($0, write.entity, write.write.id) }?.version
        following.names[identity] = Set(write.write.values.keys)
        writes.append(write)
    }
}

/// References of new objects that are sent after them.
struct FollowingReferences {
    /// The relationships, by object.
    var names: [RowIdentity: Set<String>] = [:]
    /// Those of them that the server has not taken: the objects are done without them.
    var withheld: [RowIdentity: Set<String>] = [:]
}

extension MirrorWrite {
    /// The object as others refer to it.
    fileprivate var name: RemoteIdentity { RemoteIdentity(entity: entity.name, id: write.id) }

    /// Takes the references to some objects out.
    /// - Returns: A change that puts them in.
    fileprivate mutating func cut(_ unnamed: Set<RemoteIdentity>, _ model: ManagedObjectModel) -> MirrorWrite {
        var rest = self
        rest.kind = .update
        rest.relations = []
        rest.references = references.intersection(unnamed)
        rest.write = RemoteWrite(id: write.id)
        for relationship in entity.relationships {
            let root = model.destination(of: relationship).rootIndex
            let ids = Set(
                rest.references.filter { model.entity(named: $0.entity)?.rootIndex == root }.map(\.id))
            switch write.values[relationship.name] {
            case .reference(let id?)? where ids.contains(id):
                rest.write.values[relationship.name] = .reference(id)
                write.values[relationship.name] = .reference(nil)
            case .references(let list)? where !ids.isDisjoint(with: list):
                rest.write.values[relationship.name] = .references(list)
                write.values[relationship.name] = .references(list.filter { !ids.contains($0) })
            default: break
            }
        }
        references.subtract(unnamed)
        return rest
    }

    /// Refers to objects by the keys that the server gave them.
    /// - Parameter names: The keys, by topmost entity and the key that there was.
    fileprivate mutating func take(_ names: [RemoteIdentity: String], _ model: ManagedObjectModel) {
        if names.isEmpty { return }
        for relationship in entity.relationships {
            let root = model.destination(of: relationship).rootName
            func new(_ id: String) -> String { names[RemoteIdentity(entity: root, id: id)] ?? id }
            switch write.values[relationship.name] {
            case .reference(let id?)?: write.values[relationship.name] = .reference(new(id))
            case .references(let ids)?: write.values[relationship.name] = .references(ids.map(new))
            default: break
            }
            for index in relations.indices where relations[index].relationship == relationship.name {
                relations[index].added = relations[index].added.map(new)
                relations[index].removed = relations[index].removed.map(new)
            }
        }
        references = Set(
            references.map { reference in
                let root = model.entity(named: reference.entity)?.rootName ?? reference.entity
                return RemoteIdentity(
                    entity: reference.entity, id: names[RemoteIdentity(entity: root, id: reference.id)] ?? reference.id)
            })
    }
}
