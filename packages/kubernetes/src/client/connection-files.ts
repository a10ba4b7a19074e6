import { readFile } from 'node:fs/promises'
import { CofferdamError } from '../errors.ts'
import { type Clock, type Moment, momentOf, passedMs } from '../runtime/clock.ts'
import type { Material } from './cluster-connection.ts'

const explanations: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  EISDIR: 'is a folder',
  ENOTDIR: 'lies below something that is no folder',
}

/** The text of a file. A missing one gives undefined, unless it is said what it is for: then that is an error. */
export async function readText(path: string, purpose: string): Promise<string>
export async function readText(path: string, purpose: string | undefined): Promise<string | undefined>
export async function readText(path: string, purpose: string | undefined): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    if (code === 'ENOENT' && purpose === undefined) return undefined
    const subject = purpose === undefined ? '' : `${purpose}: `
    throw new CofferdamError(
      'FILE_UNREADABLE',
      `${subject}${path} ${explanations[code] ?? `cannot be read (${code})`}`,
      {
        facts: { file: path },
        hint:
          code === 'ENOENT' ? 'correct the path, or put the file there' : 'look at the owner and the mode of the file',
      },
    )
  }
}

export interface ReloadingText {
  current(): Promise<string>
  /** Something went wrong that a newer file would explain: read the disk before the next use. */
  recheck(): void
}

/**
 * A text that may come from a file, read again at most every `checkEveryMs`.
 *
 * The whole file is read rather than its timestamps compared: mounted secrets change by swapping a link, and these
 * files are small. A file that was readable once and is not now keeps its last text, since rotation may be under way.
 */
export function reloadingText(material: Material, clock: Clock, checkEveryMs = 10_000): ReloadingText {
  if ('text' in material) return { current: () => Promise.resolve(material.text), recheck: () => {} }
  let checkedAt: Moment | undefined
  let text: string | undefined
  let reading: Promise<string> | undefined

  const read = async () => {
    try {
      text = await readText(material.path, material.origin)
    } catch (error) {
      if (text === undefined) throw error
    } finally {
      reading = undefined
    }
    checkedAt = momentOf(clock)
    return text
  }

  return {
    current() {
      const isRecent = checkedAt !== undefined && passedMs(clock, checkedAt) < checkEveryMs
      if (text !== undefined && isRecent) return Promise.resolve(text)
      reading ??= read()
      return reading
    },
    recheck() {
      checkedAt = undefined
    },
  }
}
