#if Postgres
    /// A type of PostgreSQL that values are sent as: its number in `pg_type`, which is the same on every server, and that of
    /// arrays of it.
    enum PostgresType: UInt32, Sendable, Hashable, CaseIterable {
        case boolean = 16
        case bytes = 17
        case integer = 20
        case text = 25
        case json = 114
        case point = 600
        case double = 701
        case timestamp = 1184
        case numeric = 1700
        case uuid = 2950

        /// The type of arrays.
        var arrayNumber: UInt32 {
            switch self {
            case .boolean: 1000
            case .bytes: 1001
            case .integer: 1016
            case .text: 1009
            case .json: 199
            case .point: 1017
            case .double: 1022
            case .timestamp: 1185
            case .numeric: 1231
            case .uuid: 2951
            }
        }

        /// The name in SQL.
        var name: String {
            switch self {
            case .boolean: "boolean"
            case .bytes: "bytea"
            case .integer: "bigint"
            case .text: "text"
            case .json: "json"
            case .point: "point"
            case .double: "double precision"
            case .timestamp: "timestamptz"
            case .numeric: "numeric"
            case .uuid: "uuid"
            }
        }
    }
#endif
