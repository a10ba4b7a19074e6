import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'

/** What is gone needs no flag. */
export async function collectFailure(failures: unknown[], write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!hasReason(error, 'NotFound')) failures.push(error)
  }
}
