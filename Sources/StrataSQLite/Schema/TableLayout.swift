import StrataStore

/// A relationship by the entity that declares it and its position there.
struct RelationshipKey: Hashable, Sendable {
    let entityIndex: Int
    let relationshipIndex: Int
}

/// A column that keeps a slot.
struct ColumnLayout: Sendable {
    /// The name as the file has it.
    let name: String
    /// The name as it appears in SQL.
    let quoted: String
    let storage: SlotStorage
    /// The topmost entity of the hierarchy that a key leads to.
    let destinationRoot: Int?
    /// Whether the column may hold the name of a file instead of bytes.
    let allowsExternal: Bool
}

/// The table of a hierarchy of entities.
struct TableLayout: Sendable {
    let rootIndex: Int
    let name: String
    let quoted: String
    /// Whether `_entity` says which entity a row belongs to, otherwise all belong to ``onlyEntityIndex``.
    let hasEntityColumn: Bool
    let onlyEntityIndex: Int
    var columns: [ColumnLayout] = []
    /// The columns that keep the places of the rows in ordered relationships.
    var orderColumns: [String] = []
}

/// The table of a relationship that is kept as pairs.
struct PairTable: Sendable {
    let name: String
    let quoted: String
    /// The column and the table of the primary side, and of the other.
    let ownerColumn: String
    let ownerTable: Int
    let memberColumn: String
    let memberTable: Int
    /// The column for the order of the members of an owner, and of the owners of a member.
    let ownerOrder: String?
    let memberOrder: String?
    /// Whether the relationship is its own inverse, so that each pair is in the table both ways round.
    let isSymmetric: Bool
}

/// One side of a ``PairTable``.
struct PairSide {
    let table: PairTable
    let isPrimary: Bool
    var near: String { isPrimary ? table.ownerColumn : table.memberColumn }
    var far: String { isPrimary ? table.memberColumn : table.ownerColumn }
    var farTable: Int { isPrimary ? table.memberTable : table.ownerTable }
    var order: String? { isPrimary ? table.ownerOrder : table.memberOrder }
}
