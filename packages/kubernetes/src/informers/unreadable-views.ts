import { ApiError } from '../api/api-error.ts'

/** A view that the API server does not let be read, or that it does not know. */
export interface UnreadableView {
  /** Under which it was opened. */
  readonly view: string
  /** Who opened it; empty where several share it. */
  readonly users: readonly string[]
  readonly error: Error
}

export interface UnreadableViewPorts {
  /** An interruption that the next attempt may well end. */
  readonly onError: (error: unknown) => void
  /** Called once, when it is found. */
  readonly onUnreadable?: (found: UnreadableView) => void
  /** Called when it can be read after all. */
  readonly onReadable?: (found: Omit<UnreadableView, 'error'>) => void
}

/** What is reported of one view: a right or a kind that is missing is missing at every attempt, and is said once. */
export function reportUnreadable(ports: UnreadableViewPorts, found: Omit<UnreadableView, 'error'>) {
  let last: string | undefined
  return {
    onError(error: unknown): void {
      if (ports.onUnreadable === undefined || !isLasting(error)) {
        ports.onError(error)
        return
      }
      const isNew = last !== error.message
      last = error.message
      if (isNew) ports.onUnreadable({ ...found, error })
    },
    onHeard(): void {
      if (last === undefined) return
      last = undefined
      ports.onReadable?.(found)
    },
  }
}

function isLasting(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 401 || error.code === 403 || error.code === 404)
}
