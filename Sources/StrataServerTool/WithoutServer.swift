#if !Server
    import Foundation

    // Without the trait, the packages that the server needs are not resolved.
    @main
    enum WithoutServer {
        static func main() {
            FileHandle.standardError.write(
                Data("strata-server is built with the trait Server: swift run --traits Server strata-server\n".utf8))
            exit(64)
        }
    }
#endif
