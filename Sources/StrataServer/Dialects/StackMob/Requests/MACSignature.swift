#if Server
    import StrataWire

    extension MACAuthorization {
        /// Whether the signature is that of a request.
        func isValid(for request: ServerRequest, key: String) -> Bool {
            isValid(
                for: MACTarget.candidates(
                    method: request.method, target: request.target, authority: request.header("Host") ?? "",
                    scheme: request.scheme), key: key)
        }
    }
#endif
