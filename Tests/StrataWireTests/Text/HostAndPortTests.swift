import StrataWire
import Testing

@Suite struct HostAndPortTests {
    @Test(
        "Hosts with and without a port are read",
        arguments: [
            ("example.com", "example.com", nil), ("example.com:8080", "example.com", 8080),
            ("EXAMPLE.com", "EXAMPLE.com", nil),
            ("127.0.0.1:80", "127.0.0.1", 80), ("localhost:", "localhost", nil), ("localhost:0", "localhost", 0),
            ("localhost:65535", "localhost", 65535), ("localhost:00080", "localhost", 80), ("[::1]", "[::1]", nil),
            ("[::1]:8443", "[::1]", 8443), ("[2001:DB8::192.0.2.1]:1", "[2001:DB8::192.0.2.1]", 1),
            ("[::1]:", "[::1]", nil),
            ("my_host-1.example", "my_host-1.example", nil), ("m%C3%BCller.example:81", "m%C3%BCller.example", 81),
        ] as [(String, String, UInt16?)]) func isRead(text: String, host: String, port: UInt16?) throws
    {
        let address = try #require(HostAndPort(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(HostAndPort(address.description) == address)
    }

    @Test(
        "Text that is not a host with a port is refused",
        arguments: [
            "", ":80", "a:b", "a:80:90", "::1", "::1:80", "a:65536", "a:-1", "a:+1", "a:1 ", "a: 1", " a", "a b",
            "[::1",
            "::1]",
            "[::1]80", "[::1]:x", "[]", "[a]", "[1:2]", "[::1%25eth0]", "[::g]", "user@host", "a/b", "a?b", "a#b",
            "a\\b",
            "a[1]", "ä.de",
            "a\n", "a:８０",
        ]) func isRefused(text: String)
    {
        #expect(HostAndPort(text) == nil)
    }

    @Test func schemesHaveAStandardPort() {
        #expect(HostAndPort.standardPort(of: "https") == 443)
        #expect(HostAndPort.standardPort(of: "HTTPS") == 443)
        #expect(HostAndPort.standardPort(of: "http") == 80)
    }
}
