import StrataStore

/// Reports the parts of a migration, and ends it between two of them if it has been cancelled.
package final class MigrationReporter {
    private let options: MigrationOptions
    private let total: Int
    private var done = 0

    package init(_ layout: StoreLayout, _ options: MigrationOptions) {
        self.options = options
        total = layout.tables.count + layout.pairTables.count + 2
    }

    /// Says what is done next.
    /// - Throws: ``StoreError/cancelled``.
    package func begin(_ text: String) throws(StoreError) {
        options.onProgress?(MigrationProgress(text: text, completed: min(done, total), total: total))
        done += 1
        if options.cancellation?.isCancelled == true { throw .cancelled }
    }

    /// Says that everything is done.
    package func end() {
        options.onProgress?(MigrationProgress(text: "done", completed: total, total: total))
    }
}
