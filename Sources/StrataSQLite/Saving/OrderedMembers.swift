import StrataCSQLite
import StrataSQL
import StrataStore

extension CommitWriter {
    func writeOrders() throws(StoreError) {
        for change in changes.orders {
            guard let statements = OrderStatements(layout: store.layout, change) else { continue }
            let read = try connection.statement(statements.read)
            read.bind(change.owner, at: 1)
            var members: [OrderedPlaces.Member] = []
            while try read.step() {
                members.append((read.integer(0), read.type(1) == SQLITE_NULL ? nil : read.integer(1)))
            }
            let write = try connection.statement(statements.write)
            for (member, place) in OrderedPlaces.changes(change.kind, to: members) {
                write.bind(place, at: 1)
                write.bind(change.owner, at: 2)
                write.bind(member, at: 3)
                try write.run()
            }
        }
    }
}
