/// Finds the attribute that names an object to the outside world.
enum PrimaryKeyConvention {
    /// The declared primary key of the entity or the nearest that it inherits from; else `username` for a user; else
    /// `<entity>Id` or `<entity>_id` of the entity or the nearest that it inherits from. Only strings count.
    /// - Parameter lineage: The entity first, then those that it inherits from.
    static func field(of lineage: [Entity]) -> String? {
        let strings = Set(lineage.flatMap(\.attributes).filter { $0.type == .string }.map(\.name))
        for entity in lineage {
            if let declared = entity.primaryKey { return declared }
            if entity.isUser, strings.contains("username") { return "username" }
            let name = NamingConvention.lowerCamelCase(entity.name)
            let candidates = [
                name + "Id", NamingConvention.snakeCase(entity.name) + "_id", name.lowercased() + "Id",
                name.lowercased() + "_id",
            ]
            if let found = candidates.first(where: strings.contains) { return found }
        }
        return nil
    }
}
