import StrataStore

/// An entity as `strata store info` prints it. The stored properties are the members of the JSON.
struct EntityReport: Encodable {
    let name: String
    let inherits: String?
    let isAbstract: Bool
    let table: String
    let count: Int

    init(_ entity: StoreEntityInfo) {
        name = entity.name
        inherits = entity.parent
        isAbstract = entity.isAbstract
        table = entity.table
        count = entity.count
    }

    /// Prints entities as a table.
    static func printText(_ entities: [EntityReport]) {
        print("\nentities")
        Output.columns(
            entities.map { entity in
                let traits = [entity.inherits.map { "inherits \($0)" }, entity.isAbstract ? "abstract" : nil]
                return [
                    entity.name, "\(entity.count)", entity.table, traits.compactMap(\.self).joined(separator: ", "),
                ]
            })
    }
}
