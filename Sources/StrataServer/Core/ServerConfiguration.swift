#if Server
    import Foundation
    import Yams

    /// All that a server program is told: where to listen, where its data is, how it behaves. The YAML form, with all
    /// that may stand in it:
    ///
    ///     listen: {host: 127.0.0.1, port: 8080}
    ///     data: server-data
    ///     model: Models/App.strata.yaml
    ///     development: true
    ///     baseURL: https://data.example.org
    ///     tls: {certificate: chain.pem, key: key.pem}
    ///     keys: {public: 7c1f…, private: 9a00…}
    ///     users: {schema: user, key: username, password: password, email: email}
    ///     tokens: {lifetime: 3600, signatureWindow: 300, requireTLS: true, temporaryPasswordLifetime: 86400}
    ///     durability: full
    ///     access:
    ///       standard: {read: loggedIn, create: loggedIn, update: owner, delete: owner}
    ///       accounts: {update: owner, delete: owner}
    ///       schemas: {note: {read: owner}}
    ///       methods: {report: loggedIn}
    ///     limits: {bodySize: 1000000, jsonDepth: 32, requestsPerSecond: 50, requestBurst: 200, connections: 1000,
    ///              requestTimeout: 30, answerTimeout: 30, idleTimeout: 60, answerObjects: 100000,
    ///              answerSize: 33554432, requestObjects: 10000, memory: 536870912}
    public struct ServerConfiguration: Sendable {
        /// The address to listen at.
        public var host = "127.0.0.1"
        /// The port to listen at; 0 takes a free one.
        public var port = 8080
        /// The folder of the data.
        public var data = "strata-data"
        /// The path of the model file; nil for none.
        public var model: String?
        /// The certificate; nil for plain HTTP.
        public var tls: HTTPService.TLSFiles?
        /// How the server behaves.
        public var options = ServerOptions()

        /// The defaults.
        public init() {}

        /// Reads a configuration from YAML.
        /// - Parameters:
        ///   - yaml: The text.
        ///   - path: The path for messages.
        /// - Throws: ``ServerSetupError`` with line and column of what is not understood.
        public init(yaml: String, path: String) throws(ServerSetupError) {
            let node: Node?
            do {
                node = try Yams.compose(yaml: yaml)
            } catch {
                throw ServerSetupError("\(path): \(error)")
            }
            guard let node else { return }
            try read(ConfigurationNode(node: node, path: path, name: ""))
        }

        private mutating func read(_ root: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try root.members() {
                switch name {
                case "listen":
                    for (name, node) in try node.members() {
                        switch name {
                        case "host": host = try node.text()
                        case "port": port = try node.whole(0...65_535)
                        default: throw node.unknown()
                        }
                    }
                case "data": data = try node.text()
                case "model": model = try node.text()
                case "development": options.isDevelopment = try node.flag()
                case "baseURL": options.baseURL = try node.text()
                case "tls": tls = try Self.tls(node)
                case "keys": try readKeys(node)
                case "users": try readUsers(node)
                case "tokens": try readTokens(node)
                case "durability":
                    options.survivesPowerFailure = try node.choice(["full", "normal"]) == "full"
                case "access": try readAccess(node)
                case "limits": try readLimits(node)
                default: throw node.unknown()
                }
            }
        }

        private static func tls(_ node: ConfigurationNode) throws(ServerSetupError) -> HTTPService.TLSFiles {
            var files = HTTPService.TLSFiles(certificateChain: "", privateKey: "")
            for (name, node) in try node.members() {
                switch name {
                case "certificate": files.certificateChain = try node.text()
                case "key": files.privateKey = try node.text()
                default: throw node.unknown()
                }
            }
            guard !files.certificateChain.isEmpty, !files.privateKey.isEmpty else {
                throw node.error("takes certificate and key")
            }
            return files
        }

        private mutating func readKeys(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "public": options.publicKey = try node.text()
                case "private": options.privateKey = try node.text()
                default: throw node.unknown()
                }
            }
        }

        private mutating func readUsers(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                let text = try node.text()
                if let fault = ServerSchema.fault(ofName: text) { throw node.error(fault) }
                switch name {
                case "schema": options.userSchema = text
                case "key": options.userKeyField = text
                case "password": options.passwordField = text
                case "email": options.emailField = text
                default: throw node.unknown()
                }
            }
        }

        private mutating func readTokens(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "lifetime": options.tokenLifetime = try node.whole(1...31_536_000)
                case "signatureWindow": options.signatureWindow = try node.whole(1...86_400)
                case "requireTLS": options.requiresTLSForTokens = try node.flag()
                case "temporaryPasswordLifetime": options.temporaryPasswordLifetime = try node.whole(60...31_536_000)
                default: throw node.unknown()
                }
            }
        }

        private mutating func readAccess(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "standard": options.access.standard = try Self.rule(node, over: options.access.standard)
                case "accounts": options.access.accounts = try Self.rule(node, over: options.access.accounts)
                case "schemas":
                    for (schema, node) in try node.members() {
                        let base = schema == options.userSchema ? options.access.accounts : options.access.standard
                        options.access.schemas[schema.lowercased()] = try Self.rule(node, over: base)
                    }
                case "methods":
                    for (method, node) in try node.members() { options.access.methods[method] = try Self.level(node) }
                default: throw node.unknown()
                }
            }
        }

        /// What a rule does not name is as in the general one, if that stands before it.
        private static func rule(
            _ node: ConfigurationNode, over base: AccessRules.Rule
        ) throws(ServerSetupError) -> AccessRules.Rule {
            var rule = base
            for (name, node) in try node.members() {
                guard let operation = AccessRules.Operation(rawValue: name) else { throw node.unknown() }
                rule.levels[operation] = try level(node)
            }
            return rule
        }

        private static func level(_ node: ConfigurationNode) throws(ServerSetupError) -> AccessRules.Level {
            let names = AccessRules.Level.allCases.map(\.rawValue)
            return AccessRules.Level(rawValue: try node.choice(names)) ?? .nobody
        }

        private mutating func readLimits(_ node: ConfigurationNode) throws(ServerSetupError) {
            for (name, node) in try node.members() {
                switch name {
                case "bodySize": options.limits.bodySize = try node.whole(1...(1 << 31))
                case "jsonDepth": options.limits.jsonDepth = try node.whole(1...ServerLimits.largestJSONDepth)
                case "answerObjects": options.limits.answerObjects = try node.whole(1...10_000_000)
                case "requestObjects": options.limits.requestObjects = try node.whole(1...1_000_000)
                case "conditions": options.limits.conditions = try node.whole(1...30_000)
                case "requestsPerSecond": options.limits.requestsPerSecond = try node.whole(0...1_000_000)
                case "requestBurst": options.limits.requestBurst = try node.whole(1...1_000_000)
                case "connections": options.limits.connections = try node.whole(1...1_000_000)
                case "requestTimeout": options.limits.requestTimeout = Double(try node.whole(1...3_600))
                case "answerTimeout": options.limits.answerTimeout = Double(try node.whole(1...3_600))
                case "answerSize": options.limits.answerSize = try node.whole(1...(1 << 31))
                case "memory": options.limits.memory = try node.whole((1 << 20)...(1 << 40))
                case "idleTimeout": options.limits.idleTimeout = Double(try node.whole(1...86_400))
                case "rememberedSignatures": options.limits.rememberedSignatures = try node.whole(1...100_000_000)
                default: throw node.unknown()
                }
            }
        }
    }

    /// A place in a configuration file.
    private struct ConfigurationNode {
        let node: Node
        let path: String
        let name: String

        func error(_ reason: String) -> ServerSetupError {
            let place = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
            return ServerSetupError("\(path)\(place): \(name.isEmpty ? "the file" : name) \(reason)")
        }

        func unknown() -> ServerSetupError { error("is not known; see Documentation/Server.md") }

        func members() throws(ServerSetupError) -> [(String, ConfigurationNode)] {
            guard let mapping = node.mapping else { throw error("takes names with values") }
            var members: [(String, ConfigurationNode)] = []
            for (key, value) in mapping {
                guard let text = key.scalar?.string else { throw error("has a name that is not text") }
                members.append(
                    (text, ConfigurationNode(node: value, path: path, name: name.isEmpty ? text : "\(name).\(text)")))
            }
            return members
        }

        func text() throws(ServerSetupError) -> String {
            guard let text = node.scalar?.string, !text.isEmpty else { throw error("takes a text") }
            return text
        }

        func flag() throws(ServerSetupError) -> Bool { try choice(["true", "false"]) == "true" }

        func whole(_ range: ClosedRange<Int>) throws(ServerSetupError) -> Int {
            guard let number = node.scalar.flatMap({ Int($0.string) }), range.contains(number) else {
                throw error("takes a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }

        func choice(_ names: [String]) throws(ServerSetupError) -> String {
            guard let text = node.scalar?.string, names.contains(text) else {
                throw error("takes \(names.joined(separator: ", "))")
            }
            return text
        }
    }
#endif
