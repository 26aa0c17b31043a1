package import Strata

/// The versions of the model of the processes that are killed, for these processes and for the tests that look at what they leave.
package enum CrashModels {
    /// The first version. Everything else migrates from it.
    package static func first() throws -> ManagedObjectModel { try item() }

    /// Another name, other types, one attribute more.
    package static func later() throws -> ManagedObjectModel { try article() }

    /// The version after that.
    package static func last() throws -> ManagedObjectModel { try article([Attribute("note", .string).optional()]) }

    /// An optional attribute more than the first version, and one with a default.
    package static func added() throws -> ManagedObjectModel {
        try item([Attribute("note", .string).optional(), Attribute("rank", .integer64, default: .value(7))])
    }

    /// The first version with a count of visits.
    package static func visited() throws -> ManagedObjectModel {
        try item([Attribute("visits", .integer64).optional()])
    }

    /// The entity inherits from a new one, and has a sibling.
    package static func moved() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Crash") {
            Entity("Thing", abstract: true) {
                Attribute("itemId", .string).unique()
                Attribute("title", .string)
            }
            Entity("Item", inherits: "Thing") {
                Attribute("amount", .integer64).indexed()
                Attribute("weight", .double)
            }
            Entity("Parcel", inherits: "Thing") { Attribute("sender", .string).optional() }
        }
    }

    /// Accounts, and what was moved between them: another model, for processes that save against each other.
    package static func ledger() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Ledger") {
            Entity("Account") {
                Attribute("number", .integer64).unique()
                Attribute("balance", .integer64, default: .value(0))
                Relationship("moves", to: "Move", .toMany, inverse: "account")
            }
            Entity("Move") {
                Attribute("writer", .string)
                Attribute("number", .integer64)
                Attribute("amount", .integer64)
                Relationship("account", to: "Account", .optionalToOne, inverse: "moves")
            }
        }
    }

    /// The version to which a process migrates in a mode.
    package static func target(of mode: String) throws -> ManagedObjectModel {
        switch mode {
        case "add": try added()
        case "move": try moved()
        case "stages": try last()
        default: try later()
        }
    }

    private static func item(_ more: [Attribute] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Crash") {
            Entity("Item") {
                Attribute("itemId", .string).unique()
                Attribute("title", .string)
                Attribute("amount", .integer64).indexed()
                Attribute("weight", .double)
                for attribute in more { attribute }
            }
        }
    }

    private static func article(_ more: [Attribute] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Crash") {
            Entity("Article") {
                Attribute("itemId", .string).unique()
                Attribute("heading", .string).indexed().renamed(from: "title")
                Attribute("amount", .string)
                Attribute("weight", .double)
                Attribute("searchHeading", .string).optional().derived(.canonical("heading"))
                for attribute in more { attribute }
            }.renamed(from: "Item")
        }
    }
}
