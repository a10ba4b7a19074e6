export interface LinkedSignal {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Lets go of the sources: a long-lived one would otherwise keep every request it was ever linked to. */
  unlink(): void
}

/** A signal that fires with the first of its sources, or when `abort` is called. */
export function linkSignals(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController()
  const present = sources.filter((source) => source !== undefined)
  const follow = (event: Event) => controller.abort((event.target as AbortSignal).reason)
  for (const source of present) {
    if (source.aborted) controller.abort(source.reason)
    else source.addEventListener('abort', follow, { once: true })
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink() {
      for (const source of present) source.removeEventListener('abort', follow)
    },
  }
}
