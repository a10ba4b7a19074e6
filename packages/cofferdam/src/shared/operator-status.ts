export interface OperatorStatus {
  /** Whether one leads, by its lease; undefined where the lease may not be read. */
  readonly isRunning?: boolean
  /** Who holds the lease, or held it last. */
  readonly leader?: string
  readonly since?: string
  readonly renewedAt?: string
}
