import PlainJSONStore
import StrataRemoteTesting
import Testing

/// A store of somebody else's does what every store must.
struct PlainJSONConformanceTests {
    @Test("A remote store over plain JSON passes the conformance suite")
    func suite() async {
        let report = await ConformanceSuite.standard.run(PlainJSONSubject())
        #expect(report.failures.isEmpty, "\(report)")
    }
}
