#if Postgres
    import Foundation
    import StrataCPostgres

    /// How connections are made.
    struct PostgresSettings: Sendable {
        /// A URL `postgres://user@host/database?…`, or `key=value` pairs as libpq takes them.
        var address: String
        var connectTimeout: Double = 10
        var applicationName = "strata"
        var preparesStatements = true
        /// After how long without an answer a connection counts as lost; nil for never. The server is given a second more than
        /// that, so that it can say first that it has stopped the statement.
        var answerTimeout: Duration?
        /// Run when a connection has been made.
        var startStatements: [String] = []
        var onNotice: (@Sendable (String) -> Void)?

        init(address: String) { self.address = address }

        /// What libpq is told, by its keywords. What the address does not say comes from the usual places: environment
        /// variables, the service file, the password file.
        func parameters() throws(PostgresError) -> [(key: String, value: String)] {
            let given = try options()
            let environment = ProcessInfo.processInfo.environment
            var result = [("dbname", address)]
            if given["client_encoding"] == nil { result.append(("client_encoding", "UTF8")) }
            if given["connect_timeout"] == nil, environment["PGCONNECT_TIMEOUT"] == nil {
                result.append(("connect_timeout", String(max(2, Int(min(connectTimeout, 86_400).rounded(.up))))))
            }
            if given["application_name"] == nil, environment["PGAPPNAME"] == nil {
                result.append(("application_name", applicationName))
            }
            let hasService = given["service"] != nil || environment["PGSERVICE"] != nil
            let isStated = given["sslmode"] != nil || environment["PGSSLMODE"] != nil
            let hosts = given["host"] ?? given["hostaddr"] ?? environment["PGHOST"] ?? environment["PGHOSTADDR"] ?? ""
            if !isStated, !hasService, Self.isNetwork(hosts) {
                result.append(("sslmode", "verify-full"))
                // From version 16 on, libpq can use the certificates of the system.
                if PQlibVersion() >= 160_000, given["sslrootcert"] == nil, environment["PGSSLROOTCERT"] == nil {
                    result.append(("sslrootcert", "system"))
                }
            }
            return result
        }

        /// What the address says, by libpq's keywords.
        private func options() throws(PostgresError) -> [String: String] {
            var message: UnsafeMutablePointer<CChar>?
            guard let list = PQconninfoParse(address, &message) else {
                let text = message.map { String(cString: $0).trimmed } ?? "it is not a connection string"
                PQfreemem(message)
                throw PostgresError(sqlState: "08001", message: text)
            }
            defer { PQconninfoFree(list) }
            return Self.values(of: list)
        }

        private static func values(of list: UnsafePointer<PQconninfoOption>) -> [String: String] {
            var result: [String: String] = [:]
            var option = list
            while let keyword = option.pointee.keyword {
                if let value = option.pointee.val { result[String(cString: keyword)] = String(cString: value) }
                option += 1
            }
            return result
        }

        /// Whether at least one host of a list is not the folder of a Unix socket.
        static func isNetwork(_ hosts: String) -> Bool {
            hosts.split(separator: ",").contains { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
        }

        /// Refuses a connection over a network whose kind of encryption nobody has chosen: a service file named the host, and
        /// not `sslmode`, so that libpq took what it could get.
        func checkSecurity(of handle: OpaquePointer) throws(PostgresError) {
            guard let list = PQconninfo(handle) else { return }
            defer { PQconninfoFree(list) }
            let options = Self.values(of: list)
            guard options["sslmode"] == "prefer", Self.isNetwork(options["host"] ?? options["hostaddr"] ?? ""),
                try self.options()["sslmode"] == nil, ProcessInfo.processInfo.environment["PGSSLMODE"] == nil
            else { return }
            throw PostgresError(
                sqlState: "28000",
                message: "the service does not say how the connection is encrypted; add sslmode=verify-full to it")
        }

        /// The address without its password, for messages.
        var publicAddress: String {
            guard let given = try? options() else { return "postgres" }
            let host = given["host"].map { $0.hasPrefix("/") ? "" : $0 } ?? ""
            let port = given["port"].map { ":\($0)" } ?? ""
            return "postgres://\(host)\(port)/\(given["dbname"] ?? "")"
        }
    }
#endif
