export interface CoveredPod {
  readonly pod: string
  readonly node?: string
  readonly isHealthy: boolean
  readonly says: string
  readonly since?: string
}
