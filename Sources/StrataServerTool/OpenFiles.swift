#if Server
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// How many files the process may have open, connections among them. A server that takes more connections than that
    /// could no longer open its own files.
    enum OpenFiles {
        /// What the server opens besides connections: its database, files of binary fields, threads' own.
        static let others = 200

        /// Asks the system for a number of open files.
        /// - Returns: How many it allows, as many as were asked for or fewer.
        static func allow(_ wanted: Int) -> Int {
            var limit = rlimit()
            #if canImport(Glibc)
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            #else
                let resource = RLIMIT_NOFILE
            #endif
            guard getrlimit(resource, &limit) == 0 else { return wanted }
            if limit.rlim_cur < rlim_t(wanted) {
                limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
                _ = setrlimit(resource, &limit)
                guard getrlimit(resource, &limit) == 0 else { return wanted }
            }
            return limit.rlim_cur > rlim_t(wanted) ? wanted : Int(limit.rlim_cur)
        }
    }
#endif
