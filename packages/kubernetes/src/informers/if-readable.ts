import { hasReason } from '../api/api-error.ts'

/** What a view of some namespaces has; undefined where the namespace that is asked for may not be read. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}
