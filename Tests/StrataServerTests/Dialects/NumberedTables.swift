#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    /// Notes in folders, both with numbers as keys, and people with texts, who have a favorite note.
    enum NumberedTables {
        static func model() throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "Numbered") {
                Entity("Folder", primaryKey: "folderId") {
                    Attribute("folderId", .integer64, optional: true)
                    Attribute("name", .string, optional: true)
                    Relationship("notes", to: "Note", .toMany, inverse: "folder")
                }
                Entity("Note", primaryKey: "noteId") {
                    Attribute("noteId", .integer64, optional: true)
                    Attribute("text", .string, optional: true)
                    Attribute("stars", .integer64, optional: true)
                    Relationship("folder", to: "Folder", .optionalToOne, inverse: "notes")
                    Relationship("owner", to: "Person", .optionalToOne, inverse: "notes")
                    Relationship("fans", to: "Person", .toMany, inverse: "favorite")
                }
                Entity("Person") {
                    Attribute("personId", .string)
                    Attribute("name", .string, optional: true)
                    Relationship("notes", to: "Note", .toMany, inverse: "owner")
                    Relationship("favorite", to: "Note", .optionalToOne, inverse: "fans")
                }
            }
        }

        static func bench(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> Bench {
            try Bench.withDialects(model: try model(), change)
        }

        /// Both in YAML, as the program reads them.
        static let modelFile = """
            model: Numbered
            entities:
              Note:
                primaryKey: noteId
                attributes:
                  noteId: integer64?
                  text: string?
            """
        static let configuration = """
            dialects:
              - {dialect: stackmob}
              - {dialect: azure-services, path: /v1, key: zumo}
            """
    }

    extension Bench {
        /// Inserts a note in the first version of Azure's dialect.
        /// - Returns: Its id.
        @discardableResult
        func insertNote(_ body: JSONObject = ["text": "x"]) async -> Int64? {
            await azure(.mobileServices, "POST", "tables/Note", .object(body)).json?["id"]?.integer
        }

        /// The ids of the notes that a query in the first version of Azure's dialect finds, and the status.
        func notes(_ query: String) async -> (ids: [JSONValue], status: Int) {
            let answer = await azure(.mobileServices, "GET", "tables/Note?" + query)
            return (answer.json?.elements?.map { $0["id"] ?? .null } ?? [], answer.status)
        }
    }
#endif
