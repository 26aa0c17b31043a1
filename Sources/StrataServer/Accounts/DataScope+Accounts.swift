#if Server
    import Strata

    // Accounts, as one transaction sees them.
    extension DataScope {
        /// The schema with the given name.
        /// - Throws: ``ServerError`` 404 if there is none.
        func schema(_ name: String) throws(ServerError) -> ServerSchema {
            guard let schema = catalogue[name] else { throw .noSchema(name) }
            return schema
        }

        /// The account that logs in with a name: its primary key, or the name that it took later. nil if there is none.
        func account(_ schema: ServerSchema, login: String) throws(ServerError) -> ManagedObject? {
            if let account = try object(schema, login) { return account }
            return try find(schema.entityName, ("sm_login", login))
        }

        /// Makes an account without a password: only its links let it in, or somebody with the private key sets one.
        func insertAccount(_ id: String, _ schema: ServerSchema) throws(ServerError) -> ManagedObject {
            guard (1...512).contains(id.utf8.count), !DialectRegistry.isReservedAccountName(id) else {
                throw .badRequest("A name has 1 to 512 bytes, and is not that of a request.")
            }
            guard try account(schema, login: id) == nil else {
                throw ServerError(409, .duplicateKey, "Duplicate key for schema \(schema.name): \"\(id)\"")
            }
            let object = try insert(schema.entityName)
            object[schema.keyField] = id
            register(object, id)
            let time = stamp()
            object["createddate"] = time
            object["lastmoddate"] = time
            object["sm_owner"] = schema.name + "/" + id
            let sequence = nextSequence(in: schema)
            object["sm_sequence"] = sequence
            object["sm_created"] = sequence
            return object
        }

        /// Gives an account another name to log in with. Its primary key stays.
        /// - Throws: ``ServerError`` 409 if another account has the name.
        func setLogin(_ name: String, of account: ManagedObject, _ schema: ServerSchema) throws(ServerError) {
            guard (1...512).contains(name.utf8.count) else { throw .badRequest("A name has 1 to 512 bytes.") }
            if let holder = try self.account(schema, login: name) {
                guard holder.objectID == account.objectID else {
                    throw ServerError(409, .duplicateKey, "Duplicate key for schema \(schema.name): \"\(name)\"")
                }
                // Its own primary key needs no second place.
                if account.text(schema.keyField) == name { account["sm_login"] = nil }
                return
            }
            account["sm_login"] = name
            register(account, name)
        }

        /// Sets a password that has been hashed. Who changes it may have lost the old one to somebody: all sessions end, but
        /// perhaps one.
        func setPassword(
            _ hash: String, of account: ManagedObject, _ schema: ServerSchema, keeping token: String?
        ) throws(ServerError) {
            account["sm_password"] = hash
            account["sm_temporary"] = nil
            account["sm_temporary_until"] = nil
            endsSessions()
            let id = account.text(schema.keyField) ?? ""
            for row in try all("ServerSession", ("schema", .string(schema.name)), ("user", .string(id)))
            where row.text("token") != token {
                context.delete(row)
            }
        }

        /// Ends the session of a token.
        func endSession(_ token: String) throws(ServerError) {
            endsSessions()
            if let session = try first("ServerSession", ("token", .string(token))) { context.delete(session) }
        }
    }
#endif
