/** Since when Ceph has not called it safe to stop what was to be stopped, for one generation of a cluster. */
export class CephRefusals {
  readonly #since = new Map<string, { readonly generation: number; readonly sinceMs: number }>()

  forget(key: string): void {
    this.#since.delete(key)
  }

  sinceMs(key: string, generation: number): number | undefined {
    const refusal = this.#since.get(key)
    return refusal?.generation === generation ? refusal.sinceMs : undefined
  }

  note(key: string, answer: { readonly isYes: boolean; readonly generation: number; readonly nowMs: number }): void {
    const { isYes, generation, nowMs } = answer
    if (isYes) this.#since.delete(key)
    else if (this.sinceMs(key, generation) === undefined) this.#since.set(key, { generation, sinceMs: nowMs })
  }
}
