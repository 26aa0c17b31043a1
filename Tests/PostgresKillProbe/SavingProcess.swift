#if Postgres
    import CrashModels
    import Foundation
    import SeededRandom
    import Strata
    import StrataPostgres

    /// Moves amounts between accounts, in one save each, as long as nobody kills the process.
    ///
    /// Others do the same at the same time, so that saves meet conflicts: the accounts are read again then, and the move is done
    /// with what they have now.
    struct SavingProcess {
        let writer: String
        private let context: ManagedObjectContext
        private var random: SplitMix64
        private var accounts: [ManagedObject]
        /// The number of the last save that this or an earlier process of the writer has done.
        private(set) var last: Int64

        init(_ container: PersistentContainer, writer: String, seed: UInt64) throws {
            self.writer = writer
            random = SplitMix64(seed: seed)
            context = container.newContext()
            accounts = try context.fetch(FetchRequest<ManagedObject>(entity: "Account"))
            var request = FetchRequest<ManagedObject>(entity: "Move")
            request.predicate = try FetchPredicate(format: "writer == %@", writer)
            request.sorts = [FetchSort("number", ascending: false)]
            request.limit = 1
            last = try context.fetch(request).first?["number"] as? Int64 ?? 0
        }

        /// Moves an amount from an account to another one.
        /// - Returns: How often others were first.
        mutating func move() throws -> Int {
            let number = last + 1
            let amount = Int64(random.below(100) + 1)
            let source = random.below(accounts.count)
            let target = (source + 1 + random.below(accounts.count - 1)) % accounts.count
            for conflicts in 0... {
                let pair = [(accounts[source], -amount), (accounts[target], amount)]
                for (account, change) in pair {
                    account["balance"] = (account["balance"] as? Int64 ?? 0) + change
                    let move = try context.insert(entityNamed: "Move")
                    move["writer"] = writer
                    move["number"] = number
                    move["amount"] = change
                    move["account"] = account
                }
                do throws(PersistenceError) {
                    try context.save()
                    last = number
                    return conflicts
                } catch {
                    guard case .conflicts = error else { throw error }
                    context.rollback()
                    for (account, _) in pair { try context.refresh(account, mergingChanges: false) }
                }
            }
            return 0
        }
    }
#endif
