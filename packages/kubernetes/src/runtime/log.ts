interface LogLine {
  (facts: object, text: string): void
  (text: string): void
}

/** Where a program says what it does. */
export interface Log {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}

/** For whoever reports in another way. */
export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
