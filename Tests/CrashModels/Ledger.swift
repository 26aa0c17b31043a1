package import SeededRandom
package import Strata

/// The objects of ``CrashModels/ledger()``: accounts, and amounts that are moved between them.
package enum Ledger {
    /// How many accounts there are.
    package static let accounts = 8

    /// The sum of all balances, as a context shows them. It is 0 in every version of the store.
    package static func sum(_ context: ManagedObjectContext) throws -> Int64 {
        try context.fetch(FetchRequest<ManagedObject>(entity: "Account")).reduce(0) {
            $0 + ($1["balance"] as? Int64 ?? 0)
        }
    }
}

/// An amount that goes from one account to another.
package struct Transfer: Sendable {
    private let source: Int
    private let target: Int
    private let amount: Int64

    /// Any amount from 1 to 100, and any two accounts.
    package init(_ random: inout SplitMix64) {
        source = random.below(Ledger.accounts)
        target = (source + 1 + random.below(Ledger.accounts - 1)) % Ledger.accounts
        amount = Int64(random.below(100) + 1)
    }

    /// Changes both accounts, and adds a move to each.
    package func apply(_ context: ManagedObjectContext) throws(PersistenceError) {
        let accounts = try context.fetch(
            FetchRequest<ManagedObject>(entity: "Account", sortedBy: [FetchSort("number")]))
        for (number, change) in [(source, -amount), (target, amount)] {
            let account = accounts[number]
            account["balance"] = (account["balance"] as? Int64 ?? 0) + change
            let move = try context.insert(entityNamed: "Move")
            move["writer"] = "writer"
            move["number"] = Int64(number)
            move["amount"] = change
            move["account"] = account
        }
    }

    /// Applies the transfer and saves. If others have changed an account meanwhile, it begins again with what they have made of it.
    package func save(_ context: ManagedObjectContext) throws(PersistenceError) {
        repeat { try apply(context) } while try !context.savesWithoutConflict()
    }
}

extension ManagedObjectContext {
    /// Saves. If others have changed the same objects meanwhile, drops the changes, and shows what the others have made.
    /// - Returns: Whether the changes are saved.
    package func savesWithoutConflict() throws(PersistenceError) -> Bool {
        do throws(PersistenceError) {
            try save()
            return true
        } catch {
            guard case .conflicts = error else { throw error }
            rollback()
            try refreshAllObjects()
            return false
        }
    }
}
