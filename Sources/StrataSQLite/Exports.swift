@_exported import StrataStore
