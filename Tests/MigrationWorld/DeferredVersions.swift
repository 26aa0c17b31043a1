package import Strata

/// Three versions of a model, and a step that is done after the migration to the second one.
package enum DeferredVersions {
    package static func first() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") { Entity("Person") { Attribute("name", .string) } }
    }

    /// - Parameter more: What a later version has in addition.
    package static func second(_ more: [Attribute] = []) throws -> ManagedObjectModel {
        try version(Attribute("name", .string), more)
    }

    /// Renames an attribute that the step uses.
    package static func third() throws -> ManagedObjectModel {
        try version(Attribute("fullName", .string).renamed(from: "name"))
    }

    private static func version(_ name: Attribute, _ more: [Attribute] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") {
            Entity("Person") {
                name
                Attribute("initials", .string).optional()
                Attribute("visits", .integer64).optional()
                for attribute in more { attribute }
            }
            Entity("Entry") { Attribute("text", .string) }
        }
    }

    /// Sets initials, and counts how often it saw an object in the object itself.
    /// - Parameter also: What else the step does with an object.
    package static func stage(
        _ name: String = "initials", batchSize: Int = 10,
        also: @escaping @Sendable (ManagedObject) throws -> Void = { _ in }
    ) throws -> MigrationStage {
        .deferred(name, from: try first(), to: try second(), forEach: "Person", batchSize: batchSize) { person in
            let words = (person["name"] as? String ?? "").split(separator: " ")
            person["initials"] = words.compactMap(\.first).map(String.init).joined()
            person["visits"] = (person["visits"] as? Int64 ?? 0) + 1
            try also(person)
        }
    }
}
