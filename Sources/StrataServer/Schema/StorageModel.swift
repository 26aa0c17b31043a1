#if Server
    import Strata

    /// The Strata model that keeps the objects of a catalogue and everything else that the server remembers.
    ///
    /// Each schema is an entity with a column for each field, whether it comes from a model file or was inferred: queries
    /// become predicates on indexed columns, sorts are the store's, geo queries read the R*Tree. When a schema is
    /// inferred further, a model with more attributes is made and the file grows by columns (`SQLiteStore.grow`), which
    /// costs SQLite one entry in its catalogue, however many objects there are. The other way, one entity for documents
    /// and one for indexed values, would have made every sort and every range over two fields a join.
    ///
    /// References are kept as the keys that clients send, not as relationships of Strata: the dialect lets an object
    /// name others before they exist, and keeps no inverses.
    enum StorageModel {
        /// - Parameter isShared: Whether several servers share the database.
        static func make(
            _ catalogue: SchemaCatalogue, hints: [String: Entity], isShared: Bool = false
        ) throws(ModelError) -> ManagedObjectModel {
            var entities = serverEntities
            if isShared { entities.append(SharedCounter.entity) }
            if catalogue.schemas.contains(where: \.hasNumberedKeys) { entities.append(KeyNumber.entity) }
            for schema in catalogue.schemas {
                entities.append(object(schema, hint: hints[schema.name]))
                entities.append(element(schema))
            }
            return try ManagedObjectModel(name: "StrataServer", naming: .verbatim, entities: entities)
        }

        private static func object(_ schema: ServerSchema, hint: Entity?) -> Entity {
            Entity(schema.entityName) {
                Attribute(schema.keyField, .string).unique()
                // The key once more, for comparisons and orders of numbers.
                if schema.hasNumberedKeys { Attribute(KeyNumber.field, .integer64).unique() }
                Attribute("createddate", .integer64, default: .value(0))
                Attribute("lastmoddate", .integer64, default: .value(0)).indexed()
                Attribute("sm_owner", .string).optional().indexed()
                Attribute("sm_sequence", .integer64, default: .value(0)).indexed()
                // The number of the change that made it, and that of the deletion that it came back from; older servers do not
                // say.
                Attribute("sm_created", .integer64).optional()
                Attribute("sm_deleted", .integer64).optional()
                // A scrypt hash; only accounts have them.
                Attribute("sm_password", .string).optional()
                Attribute("sm_temporary", .string).optional()
                Attribute("sm_temporary_until", .integer64).optional()
                // Another name to log in with than the primary key.
                if schema.isUser { Attribute("sm_login", .string).optional().indexed() }
                // The roles of an account as a JSON array.
                Attribute("sm_roles", .string).optional()
                for field in schema.fields { attribute(field, hint: hint) }
                for index in hint?.indexes ?? [] { index }
                for field in schema.fields where field.kind == .geoPoint { Index(field.name, kind: .spatial) }
                Relationship(
                    "sm_elements", to: schema.elementEntityName, .toMany, inverse: "owner", deleteRule: .cascade)
            }
        }

        private static func attribute(_ field: SchemaField, hint: Entity?) -> Attribute {
            var attribute = Attribute(field.name, type(of: field.kind)).optional()
            attribute.isIndexed = field.kind == .reference
            if let hint = hint?.attributes.first(where: { $0.name == field.name }) {
                attribute.isIndexed = hint.isIndexed
                attribute.isUnique = hint.isUnique
                attribute.rules = hint.rules
            }
            return attribute
        }

        private static func type(of kind: SchemaField.Kind) -> AttributeType {
            switch kind {
            case .string, .reference, .list, .references, .json: .string
            case .integer: .integer64
            case .number: .double
            case .boolean: .boolean
            case .geoPoint: .geoPoint
            }
        }

        /// The elements of collections, to be found by: text or number, and of which field.
        private static func element(_ schema: ServerSchema) -> Entity {
            Entity(schema.elementEntityName) {
                Attribute("field", .string)
                Attribute("text", .string).optional()
                Attribute("number", .double).optional()
                Relationship("owner", to: schema.entityName, .optionalToOne, inverse: "sm_elements")
                Index("field", "text")
                Index("field", "number")
            }
        }

        /// What the server keeps besides objects. They come first, so that their tables have their names whatever
        /// schemas are called.
        private static let serverEntities: [Entity] = [
            Entity("ServerSession") {
                // SHA-256 of the tokens: who reads the file cannot use them. The MAC key is needed as it is.
                Attribute("token", .string).unique()
                Attribute("refresh", .string).optional().unique()
                // The refresh token that the session was made for.
                Attribute("spent", .string).optional().indexed()
                Attribute("mackey", .string)
                Attribute("schema", .string)
                Attribute("user", .string)
                // The end of the access token, and that of the refresh token.
                Attribute("expires", .integer64)
                Attribute("ends", .integer64).optional().indexed()
                Index("schema", "user")
            },
            Entity("ServerLink") {
                Attribute("provider", .string)
                Attribute("identifier", .string)
                Attribute("schema", .string)
                Attribute("user", .string)
                // What the provider gave to act for the user, such as a token.
                Attribute("credential", .string)
                Index(["provider", "identifier", "schema"], kind: .unique, location: nil)
                Index("schema", "user")
            },
            Entity("ServerAnswer") {
                Attribute("key", .string).unique()
                Attribute("fingerprint", .string)
                Attribute("status", .integer32)
                // A JSON object; files of older servers do not have it.
                Attribute("headers", .string).optional()
                Attribute("body", .string)
                Attribute("created", .integer64).indexed()
            },
            Entity("ServerTombstone") {
                Attribute("schema", .string)
                Attribute("identifier", .string)
                Attribute("owner", .string).optional()
                Attribute("sequence", .integer64).indexed()
                // What the object had in sm_created and sm_deleted.
                Attribute("created", .integer64).optional()
                Attribute("earlier", .integer64).optional()
                // When it was made, in milliseconds since 1970; files of older servers do not say.
                Attribute("deleted", .integer64).optional().indexed()
                // What the object held, as JSON, for dialects that take deletions back.
                Attribute("content", .string).optional()
                Index("schema", "identifier")
                Index("schema", "sequence")
            },
            Entity("ServerHorizon") {
                Attribute("schema", .string).unique()
                // The number of the last deletion whose mark is gone.
                Attribute("sequence", .integer64)
            },
            Entity("ServerPeriod") {
                Attribute("name", .string).unique()
                Attribute("number", .integer64).indexed()
                // The number of the last change before it.
                Attribute("start", .integer64)
            },
            Entity("ServerFile") {
                Attribute("digest", .string)
                Attribute("filename", .string)
                Attribute("type", .string)
                Attribute("size", .integer64)
                // How many fields hold the URL.
                Attribute("uses", .integer64, default: .value(0))
                Index(["digest", "filename"], kind: .unique, location: nil)
            },
            Entity("ServerPushToken") {
                Attribute("token", .string)
                Attribute("type", .string)
                Attribute("user", .string).indexed()
                Attribute("registered", .integer64)
                Index(["type", "token"], kind: .unique, location: nil)
            },
            Entity("ServerPushMessage") {
                Attribute("audience", .string)
                Attribute("payload", .string)
                Attribute("created", .integer64).indexed()
            },
        ]
    }
#endif
