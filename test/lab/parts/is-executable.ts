import { access, constants, stat } from 'node:fs/promises'

/** A folder may have the same right, and is no program. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
