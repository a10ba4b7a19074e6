export interface PodPlace {
  readonly namespace: string
  readonly pod: string
  readonly container?: string
}

/** Runs a program in a container, as `kubectl exec` does, and collects what it prints. */
export type ExecInPod = (
  place: PodPlace,
  argv: readonly string[],
  options: {
    readonly signal: AbortSignal
    readonly maxBytes: number
    /** Takes what it prints as it comes; then nothing of it is collected. */
    readonly onOut?: (chunk: Uint8Array) => void
  },
) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>
