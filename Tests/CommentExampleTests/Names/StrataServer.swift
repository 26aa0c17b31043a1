#if Server
    private let server: DataServer = absent()
#endif
