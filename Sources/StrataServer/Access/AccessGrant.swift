#if Server
    import Strata

    /// The objects that somebody may do something with.
    enum AccessGrant: Sendable {
        /// What an object must be like.
        enum Condition: Sendable {
            /// It belongs to an account, in the form of `sm_owner`.
            case owner(String)
            /// A field names an account; after `sm_owner.`, a field of the account that it belongs to.
            case member(of: String, Principal.Account)
        }

        /// All of them.
        case everything
        /// Those that meet one of the conditions.
        case some([Condition])

        /// The account whose objects are among them; nil if all are.
        var owner: String? {
            guard case .some(let conditions) = self else { return nil }
            for case .owner(let owner) in conditions { return owner }
            return ""
        }

        /// Whether an object is among them. Names are compared byte by byte as the store does: to Swift, two accounts
        /// whose names look alike but are written with other code points would be one.
        func includes(_ object: ManagedObject, _ schema: ServerSchema, _ scope: DataScope) throws(ServerError) -> Bool {
            guard case .some(let conditions) = self else { return true }
            for condition in conditions {
                switch condition {
                case .owner(let owner):
                    if object.text("sm_owner")?.utf8.elementsEqual(owner.utf8) == true { return true }
                case .member(let path, let account):
                    guard path.hasPrefix(Self.ofOwner) else {
                        if Self.names(account, object, schema.field(path)) { return true }
                        continue
                    }
                    guard let parts = object.text("sm_owner")?.split(separator: "/", maxSplits: 1), parts.count == 2,
                        let accounts = scope.catalogue[String(parts[0])],
                        let owner = try scope.object(accounts, String(parts[1]))
                    else { continue }
                    if Self.names(account, owner, accounts.field(Self.field(path))) { return true }
                }
            }
            return false
        }

        /// The condition of queries that find only these objects; nil if all are among them.
        func predicate(_ schema: ServerSchema, _ scope: DataScope) throws(ServerError) -> FetchPredicate? {
            guard case .some(let conditions) = self else { return nil }
            var parts: [FetchPredicate] = []
            for condition in conditions {
                switch condition {
                case .owner(let owner): parts.append(DataScope.equal("sm_owner", .string(owner)))
                case .member(let path, let account):
                    guard path.hasPrefix(Self.ofOwner) else {
                        parts.append(Self.names(account, schema.field(path)))
                        continue
                    }
                    let owners = try Self.owners(Self.field(path), naming: account, scope)
                    parts.append(
                        .comparison(.keyPath(["sm_owner"]), .isIn, .constant(.list(owners.map(Value.string))), []))
                }
            }
            return parts.count == 1 ? parts[0] : .or(parts)
        }

        // MARK: Relationships

        private static let ofOwner = "sm_owner."
        /// How many owners somebody may be named by; the objects of more are not found by queries.
        private static let maximumOwners = 10_000

        private static func field(_ path: String) -> String { String(path.dropFirst(ofOwner.count)) }

        private static func leads(_ field: SchemaField, to account: Principal.Account) -> Bool {
            field.schema == nil || field.schema == account.schema
        }

        private static func names(_ account: Principal.Account, _ object: ManagedObject, _ field: SchemaField?) -> Bool
        {
            guard let field, leads(field, to: account) else { return false }
            switch field.kind {
            case .string, .reference: return object.text(field.name)?.utf8.elementsEqual(account.id.utf8) == true
            case .list, .references:
                return ObjectReader.elements(object, field)?.contains {
                    $0.string?.utf8.elementsEqual(account.id.utf8) == true
                } == true
            default: return false
            }
        }

        private static func names(_ account: Principal.Account, _ field: SchemaField?) -> FetchPredicate {
            guard let field, leads(field, to: account) else { return .constant(false) }
            switch field.kind {
            case .string, .reference: return DataScope.equal(field.name, .string(account.id))
            case .list, .references: return CollectionMatch.holding([.string(account.id)], in: field)
            default: return .constant(false)
            }
        }

        /// The accounts that name an account in a field, in the form of `sm_owner`.
        private static func owners(
            _ field: String, naming account: Principal.Account, _ scope: DataScope
        ) throws(ServerError) -> [String] {
            var owners: [String] = []
            for schema in scope.catalogue.schemas where schema.isUser {
                let request = FetchRequest<ManagedObject>(
                    entity: schema.entityName, where: names(account, schema.field(field)), limit: maximumOwners)
                for owner in try scope.fetch(request) {
                    if let id = owner.text(schema.keyField) { owners.append(schema.name + "/" + id) }
                }
            }
            return owners
        }
    }
#endif
