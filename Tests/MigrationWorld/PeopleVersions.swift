package import Strata

/// Three versions of a model: a name is split and cities are made by a stage, then entity and attribute get other names.
package enum PeopleVersions {
    private static func person(named entity: String = "Person", _ names: [Attribute], _ more: [Relationship] = [])
        -> Entity
    {
        Entity(entity) {
            for name in names { name }
            Attribute("photo", .binary, optional: true).externalStorage()
            Relationship("friends", to: entity, .toMany, inverse: "friends")
            for relationship in more { relationship }
        }
    }

    private static func city(of person: String) -> Entity {
        Entity("City") {
            Attribute("name", .string).unique()
            Relationship("people", to: person, .toMany, inverse: "city")
        }
    }

    private static let home = Relationship("city", to: "City", .optionalToOne, inverse: "people")

    package static func first() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") { person([Attribute("name", .string)]) }
    }

    package static func second() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") {
            person([Attribute("firstName", .string).optional(), Attribute("lastName", .string).optional()], [home])
            city(of: "Person")
        }
    }

    package static func third() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") {
            person(
                named: "Human",
                [
                    Attribute("given", .string).optional().renamed(from: "firstName"),
                    Attribute("lastName", .string).optional(),
                ], [home]
            ).renamed(from: "Person")
            city(of: "Human")
        }
    }

    /// Splits the names of the first version, and makes a city of each last name.
    /// - Parameter end: What else the stage does.
    package static func split(
        _ end: @escaping @Sendable (StageMigration) throws -> Void = { _ in }
    ) throws -> MigrationStage {
        .custom(from: try first(), to: try second()) { migration in
            try migration.forEach("Person", batchSize: 7) { old, new in
                let words = (old["name"] as? String ?? "").split(separator: " ").map(String.init)
                new?["firstName"] = words.first
                new?["lastName"] = words.last
                let request = FetchRequest<ManagedObject>(
                    entity: "City", where: try FetchPredicate(format: "name == %@", words.last ?? ""))
                let city = try migration.new.fetch(request).first ?? migration.new.insert(entityNamed: "City")
                city["name"] = words.last
                new?["city"] = city
            }
            try end(migration)
        }
    }
}
