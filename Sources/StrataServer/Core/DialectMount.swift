#if Server
    /// Where a server speaks a dialect, and to whom.
    public struct DialectMount: Sendable, Hashable {
        /// The dialect.
        public var kind: Kind
        /// What paths begin with, such as `/v2`; `/` for all.
        public var path: String {
            didSet { segments = path.split(separator: "/") }
        }
        /// The names that clients reach the server under; empty for all. A port is not part of a name.
        public var hosts: [String]
        /// The application that clients must name, where the dialect has that; nil takes any.
        public var applicationID: String?
        /// The key that clients must name; nil takes any. It is in every app and no secret. A dialect that signs requests has
        /// ``ServerOptions/publicKey``.
        public var clientKey: String?
        /// The key whose holder stands above all access rules, where the dialect has one; nil refuses it. A dialect that signs
        /// requests has ``ServerOptions/privateKey``.
        public var masterKey: String?
        /// Whether the dialect has the production database even where there is development. Clients of a dialect that signs
        /// requests say that with each of them.
        public var usesProduction = false
        /// The classes whose changes clients may follow by live queries, where the dialect has them; nil for all that they
        /// may read.
        public var liveClasses: Set<String>?
        /// The parts of the path, which are compared with those of every request.
        private(set) var segments: [Substring]

        /// Describes where a dialect is spoken.
        public init(
            _ kind: Kind, path: String = "/", hosts: [String] = [], applicationID: String? = nil,
            clientKey: String? = nil, masterKey: String? = nil
        ) {
            self.kind = kind
            self.path = path
            segments = path.split(separator: "/")
            self.hosts = hosts
            self.applicationID = applicationID
            self.clientKey = clientKey
            self.masterKey = masterKey
        }

        /// Whether two mounts would be asked for the same requests.
        func collides(with other: DialectMount) -> Bool {
            guard segments == other.segments else { return false }
            if hosts.isEmpty || other.hosts.isEmpty { return hosts.isEmpty && other.hosts.isEmpty }
            return !Set(hosts.map { $0.lowercased() }).isDisjoint(with: other.hosts.map { $0.lowercased() })
        }
    }

    extension [DialectMount] {
        /// The mount that answers what clients of a mount ask for at the root of its host; nil if the dialect has no such requests.
        func owner(ofRootOf mount: DialectMount) -> DialectMount? {
            guard let root = mount.kind.root else { return nil }
            let headers = mount.hosts.first.map { [("Host", $0)] } ?? []
            return self.mount(for: ServerRequest("GET", "/\(root)", headers: headers), [root])?.mount
        }

        /// The mount that a request is for: of those whose host and path fit, one that names the host before one that does
        /// not, then the longest path. nil if none fits.
        /// - Returns: The mount, and how many parts of the path are its own.
        func mount(for request: ServerRequest, _ segments: [String]) -> (mount: DialectMount, depth: Int)? {
            var best: (mount: DialectMount, depth: Int, rank: (Int, Int))?
            for mount in self {
                var path = mount.segments
                var length = path.count
                if path.count > segments.count || !zip(path, segments).allSatisfy({ $0 == $1 }) {
                    guard let root = mount.kind.root, segments.first == root else { continue }
                    (path, length) = ([], 1)
                }
                if !mount.hosts.isEmpty {
                    guard let host = request.header("Host").flatMap({ HostAndPort($0) })?.host.lowercased(),
                        mount.hosts.contains(where: { $0.lowercased() == host })
                    else { continue }
                }
                let rank = (mount.hosts.isEmpty ? 0 : 1, length)
                if let best, best.rank >= rank { continue }
                best = (mount, path.count, rank)
            }
            return best.map { ($0.mount, $0.depth) }
        }
    }
#endif
