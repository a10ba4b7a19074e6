import { hasReason } from '../api/api-error.ts'

/** What the server has; undefined when there is no such thing, or when it may not be read, which is noted. */
export async function ifAllowed<T>(what: string, notSeen: string[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (hasReason(error, 'Forbidden')) notSeen.push(`${what}: ${error.message}`)
    else if (!hasReason(error, 'NotFound')) throw error
    return undefined
  }
}
