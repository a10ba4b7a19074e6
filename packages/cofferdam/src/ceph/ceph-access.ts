/** With which configuration and as whom Ceph is asked. What is left out is found by Ceph's own defaults. */
export interface CephAccess {
  /** The path of `ceph.conf`. */
  readonly conf?: string
  /** `client.admin` */
  readonly name?: string
  /** The path of the keyring. */
  readonly keyring?: string
  /** The path of a file that holds the key alone, as Secrets carry it. */
  readonly keyFile?: string
  /** Where monitors listen, `10.0.0.1:3300,10.0.0.2:3300`, where no `ceph.conf` says so. */
  readonly monHost?: string
}

/** The limits that hold where a command names none. */
export interface CephLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

export const defaultLimits: CephLimits = { timeoutMs: 15_000, maxBytes: 256 * 1024 * 1024 }
