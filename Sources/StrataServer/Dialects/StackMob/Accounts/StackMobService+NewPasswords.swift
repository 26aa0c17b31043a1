#if Server
    import Strata

    extension StackMobService {
        /// How many different passwords a request may bring: hashing is the most expensive work of a server.
        private static let passwordsPerRequest = 1
        private static let passwordsWithPrivateKey = 100

        /// The hashes of all passwords that the bodies of new accounts hold, by password. A password is hashed only for
        /// an account that may be kept.
        func hashes(
            of bodies: [JSONObject], schema: String, relations: RelationTree, _ call: Call
        ) async throws(ServerError) -> [String: String] {
            var found: [NewPassword] = []
            for body in bodies { collect(body, schema, relations, into: &found) }
            guard !found.isEmpty else { return [:] }
            for password in Set(found.map(\.password)) { try server.hasher.check(password) }
            let maximum = call.principal.hasPrivateKey ? Self.passwordsWithPrivateKey : Self.passwordsPerRequest
            guard Set(found.map(\.password)).count <= maximum else {
                throw .badRequest("The accounts of a request have one password; send several requests.")
            }
            for name in Set(found.map(\.schema)) { try server.precheck(.create, name, call.caller) }
            let candidates = found
            let wanted = try await call.database.read { (scope) throws(ServerError) -> Set<String> in
                var wanted: Set<String> = []
                for candidate in candidates {
                    guard let schema = scope.catalogue[candidate.schema],
                        try scope.object(schema, candidate.id) == nil
                    else { continue }
                    wanted.insert(candidate.password)
                }
                return wanted
            }
            var hashes: [String: String] = [:]
            for password in Set(found.map(\.password)) {
                // One that is not kept needs no hash, but a place: what refuses the account says why.
                hashes[password] =
                    wanted.contains(password) ? try await server.hasher.hash(password, for: call.request.client) : ""
            }
            return hashes
        }

        private struct NewPassword: Sendable {
            var schema: String
            var id: String
            var password: String
        }

        private func collect(
            _ body: JSONObject, _ schema: String, _ relations: RelationTree, into found: inout [NewPassword]
        ) {
            if let accounts = options.accounts(schema), let password = body[accounts.passwordField]?.string {
                found.append(
                    NewPassword(schema: schema, id: body[accounts.keyField]?.string ?? "", password: password))
            }
            for (name, next) in relations.fields {
                for value in body[name].map({ $0.elements ?? [$0] }) ?? [] {
                    if let members = value.members { collect(members, next.schema, next.next, into: &found) }
                }
            }
        }
    }
#endif
