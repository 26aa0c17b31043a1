import Strata
import StrataRemote
import StrataStore

extension SimulatedClient {
    /// All objects as the server would tell them; references to what is not here lead to nobody.
    func contents() throws -> [RemoteIdentity: [String: RemoteValue]] {
        var names: [RowIdentity: String] = [:]
        var all: [(RowReference, EntityDescription)] = []
        for entity in model.entities {
            for row in try rows(entity.name, subentities: false) {
                names[RowIdentity(entityIndex: entity.rootIndex, key: row.key)] = identity(row).id
                all.append((row, entity))
            }
        }
        func name(_ key: Int64, _ index: Int) -> String {
            names[RowIdentity(entityIndex: model.entities[index].rootIndex, key: key)] ?? "nobody"
        }
        var result: [RemoteIdentity: [String: RemoteValue]] = [:]
        for (row, entity) in all {
            var values: [String: RemoteValue] = [:]
            for slot in entity.slots where slot.name != entity.primaryKeyField {
                if let index = slot.relationshipIndex {
                    let destination = entity.relationships[index].destinationIndex
                    let key = row.row.isPresent(slot.index) ? Int64(bitPattern: row.row.word(slot.index)) : nil
                    values[slot.name] = .reference(key.map { name($0, destination) })
                } else {
                    values[slot.name] = .value(value(row.row, slot))
                }
            }
            if let told = entity.simulatedMembers {
                let members = try store.memberKeys(
                    entityIndex: entity.index, relationshipIndex: told.index, owners: [row.key]
                ).map { name($0.member, told.destinationIndex) }
                values[told.name] = .references(told.isOrdered ? members : members.sorted())
            }
            result[identity(row)] = values
        }
        return result
    }

    /// Nobody may see an object go back, in whatever order answers come. A server that was restored has gone back itself.
    func checkVersions() throws {
        guard !world.server.wasRestored else { return }
        let found = try mirror.store.transaction { (transaction) throws(StoreError) in
            var found: [String: [Int]] = [:]
            let statement = try transaction.connection.statement(
                "SELECT root, id, version FROM _remote WHERE version IS NOT NULL")
            while try statement.step() {
                found["\(statement.integer(0))/\(statement.text(1))"] = statement.text(2).split(separator: ".")
                    .compactMap { Int($0) }
            }
            return found
        }
        for (name, version) in found.sorted(by: { $0.key < $1.key }) {
            guard let before = seenVersions[name], version.lexicographicallyPrecedes(before) else { continue }
            world.violate("client \(number): \(name) goes back from version \(before) to \(version)")
        }
        seenVersions = found
    }
}
