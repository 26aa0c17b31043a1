#if Server
    /// Bounds that keep a server's memory and time its own.
    public struct ServerLimits: Sendable, Hashable {
        /// Bounds of single requests.
        public var requests = Requests()
        /// Bounds of connections.
        public var connections = Connections()
        /// Bounds of answers.
        public var answers = Answers()
        /// Bounds of web sockets.
        public var sockets = Sockets()
        /// What the bodies and answers of all requests may take together, in bytes. A body counts as it comes in, and
        /// eight times while it is worked on, for what it is read into.
        public var memory = 512 * 1024 * 1024
        /// What the bodies and answers of one address may take of ``memory``, in percent.
        public var memoryShare = 25
        /// How many signatures are remembered to know replays by.
        public var rememberedSignatures = 1_000_000
        /// How many of those one session may have.
        public var signaturesPerSession = 100_000

        /// The defaults.
        public init() {}

        /// Bounds of single requests.
        public struct Requests: Sendable, Hashable {
            /// The maximum body, in bytes.
            public var bodySize = 10 * 1024 * 1024
            /// The deepest nesting of JSON.
            public var jsonDepth = 32
            /// The maximum number of objects created together, changed or deleted, values in an array, or requests of a
            /// batch.
            public var objects = 10_000
            /// The maximum number of conditions of a query and of elements of an `[in]`.
            public var conditions = 1_000
            /// How many requests a client may send in a second on average; 0 for any number. Each request of a batch
            /// counts.
            public var perSecond = 0
            /// How many requests a client may send together before the average counts.
            public var burst = 200
            /// How long a request may take to come in, and to be answered, in seconds.
            public var timeout = 30.0
        }

        /// Bounds of connections.
        public struct Connections: Sendable, Hashable {
            /// The maximum number of open connections.
            public var count = 4_096
            /// The maximum number of open connections of one address that is not a trusted proxy.
            public var perAddress = 512
            /// How long a connection may stay idle, in seconds.
            public var idleTimeout = 60.0
        }

        /// Bounds of answers.
        public struct Answers: Sendable, Hashable {
            /// The maximum number of objects in one answer; more are cut as by a range.
            public var objects = 100_000
            /// The maximum answer to a query, in bytes of its objects; more are cut as by a range.
            public var size = 32 * 1024 * 1024
            /// How long a client may take to read 64 KiB, in seconds.
            public var timeout = 30.0
            /// How many bytes a second a client must read on average, once ``timeout`` has passed.
            public var rate = 64 * 1024
        }

        /// Bounds of web sockets, by which live queries come.
        public struct Sockets: Sendable, Hashable {
            /// The maximum number of open web sockets of one address. Each is one of its connections, too.
            public var perAddress = 256
            /// The maximum size of a message that a client sends, in bytes.
            public var messageSize = 128 * 1024
            /// How many bytes may wait for a client to read them. Who takes longer than ``Answers/timeout`` to read half of them
            /// is disconnected.
            public var unsentSize = 256 * 1024
            /// After how many seconds the server asks whether a client is still connected. After as many more without an answer the
            /// connection is closed.
            public var pingInterval = 30.0
            /// The maximum number of subscriptions of one web socket.
            public var subscriptions = 100
            /// The maximum number of objects that a subscription with conditions may match: the server remembers them, to tell
            /// objects that change from objects that begin to match.
            public var matches = 100_000
        }

        /// What the depth of JSON may be at most: an answer has more levels around what a body brought.
        static let largestJSONDepth = JSONValue.maximumDepth - 20
    }
#endif
