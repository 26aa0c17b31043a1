import Foundation
import StrataWire
import Testing

@Suite struct StackMobFileTests {
    @Test func filesAreReadAsTheyAreWritten() throws {
        let file = StackMobFile(
            name: "smile 😀 base64.txt", contentType: "text/plain; charset=utf-8", data: Data(0...255))
        #expect(
            file.fieldValue.hasPrefix(
                "Content-Type: text/plain; charset=utf-8\nContent-Disposition: attachment; filename=smile 😀 base64.txt\n"
                    + "Content-Transfer-Encoding: base64\n\nAAEC"))
        #expect(try StackMobFile(fieldValue: file.fieldValue) == file)
        let empty = StackMobFile(name: "", contentType: "a/b", data: Data())
        #expect(try StackMobFile(fieldValue: empty.fieldValue) == empty)
    }

    @Test func aLineBreakInANameDoesNotBeginAnotherHeader() throws {
        let file = StackMobFile(
            name: "a\nContent-Transfer-Encoding: none\r\n\n.txt", contentType: "text/html\n\nx", data: Data([1]))
        let read = try StackMobFile(fieldValue: file.fieldValue)
        #expect(read.name == "aContent-Transfer-Encoding: none.txt")
        #expect(read.contentType == "text/htmlx")
        #expect(read.data == Data([1]))
    }

    @Test(arguments: [
        "Content-Type: a/b\r\nContent-Disposition: attachment; filename=n\r\nContent-Transfer-Encoding: base64\r\n\r\naGVs\r\nbG8=\r\n",
        "Content-Type:a/b\ncontent-transfer-encoding: BASE64\nCONTENT-DISPOSITION: filename=n\n\naGVsbG8=",
    ]) func headersMayBeSpeltDifferently(text: String) throws {
        #expect(
            try StackMobFile(fieldValue: text) == StackMobFile(name: "n", contentType: "a/b", data: Data("hello".utf8)))
    }

    @Test func whatHeadersDoNotTellHasAStandIn() throws {
        let file = try StackMobFile(fieldValue: "Content-Type: \nContent-Transfer-Encoding: base64\n\n")
        #expect(file == StackMobFile(name: "", contentType: "application/octet-stream", data: Data()))
    }

    @Test(arguments: [
        "", "http://example.com/x.png", "content-type: a/b\nContent-Transfer-Encoding: base64\n\naGVsbG8=",
        "Content-Type: a/b\n\naGVsbG8=", "Content-Type: a/b\nContent-Transfer-Encoding: 8bit\n\naGVsbG8=",
        "Content-Type: a/b\nnot a header\nContent-Transfer-Encoding: base64\n\naGVsbG8=", "a base64 b base64 c",
    ]) func otherTextsAreNotFiles(text: String) {
        #expect(throws: StackMobFile.Fault.noHeaders) { try StackMobFile(fieldValue: text) }
    }

    @Test(arguments: ["%", "aGVsbG8", "aGVsbG8=x", "a G V s"]) func brokenContentIsAnError(content: String) {
        #expect(throws: StackMobFile.Fault.noBase64) {
            try StackMobFile(fieldValue: "Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + content)
        }
    }

    @Test func addressesAreToldFromFiles() {
        #expect(StackMobFile.isAddress("http://example.com/x.png"))
        #expect(!StackMobFile.isAddress(StackMobFile(name: "a", contentType: "b", data: Data()).fieldValue))
    }
}
