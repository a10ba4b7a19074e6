export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string }

export interface HealthCheck {
  readonly name: string
  /** Alive: restarting would help. Ready: may be sent work. */
  readonly kind: 'alive' | 'ready'
  check(): Verdict
}

export interface HealthReport {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly why?: string }[]
}

/** The answer of all checks of one kind. A check that throws has failed; it does not hide the others. */
export function reportHealth(checks: readonly HealthCheck[], kind: HealthCheck['kind']): HealthReport {
  const results = checks.filter((check) => check.kind === kind).map(runCheck)
  return { ok: results.every((result) => result.ok), checks: results }
}

function runCheck({ name, check }: HealthCheck): HealthReport['checks'][number] {
  try {
    const verdict = check()
    return verdict.ok ? { name, ok: true } : { name, ok: false, why: verdict.why }
  } catch (error) {
    return { name, ok: false, why: error instanceof Error ? error.message : String(error) }
  }
}
