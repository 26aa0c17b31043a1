#if Server
    import Foundation
    import Yams

    /// A place in a configuration file.
    struct ConfigurationNode {
        let node: Node
        let path: String
        let name: String

        func error(_ reason: String) -> ServerSetupError {
            let place = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
            return ServerSetupError("\(path)\(place): \(name.isEmpty ? "the file" : name) \(reason)")
        }

        func unknown() -> ServerSetupError { error("is not known; see Documentation/Server.md") }

        /// The members, each once. Their order in the file has no meaning.
        func members() throws(ServerSetupError) -> [(String, ConfigurationNode)] {
            guard let mapping = node.mapping else { throw error("takes names with values") }
            var members: [(String, ConfigurationNode)] = []
            for (key, value) in mapping {
                guard let text = key.scalar?.string else { throw error("has a name that is not text") }
                guard !members.contains(where: { $0.0 == text }) else { throw error("has \(text) twice") }
                members.append(
                    (text, ConfigurationNode(node: value, path: path, name: name.isEmpty ? text : "\(name).\(text)")))
            }
            return members
        }

        /// The elements of a list; a single value is a list of one.
        func elements() -> [ConfigurationNode] {
            guard let sequence = node.sequence else { return [self] }
            return sequence.enumerated().map {
                ConfigurationNode(node: $0.element, path: path, name: "\(name)[\($0.offset)]")
            }
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

        func seconds(_ range: ClosedRange<Int>) throws(ServerSetupError) -> Double { Double(try whole(range)) }

        func choice(_ names: [String]) throws(ServerSetupError) -> String {
            guard let text = node.scalar?.string, names.contains(text) else {
                throw error("takes \(names.joined(separator: ", "))")
            }
            return text
        }

        /// The name of a schema or field.
        func schemaName() throws(ServerSetupError) -> String {
            let text = try text()
            if let fault = ServerSchema.fault(ofName: text) { throw error(fault) }
            return text
        }

        func networks() throws(ServerSetupError) -> [ClientNetwork] {
            var networks: [ClientNetwork] = []
            for element in elements() {
                guard let network = ClientNetwork(try element.text()) else {
                    throw element.error("takes an address, or a range such as 10.0.0.0/8")
                }
                networks.append(network)
            }
            return networks
        }
    }
#endif
