import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type CephFile, cephFiles } from '../../ceph/saved/ceph-files.ts'
import { type PlanSource, parseCephAnswers } from '../../ceph/saved/parse-ceph-answers.ts'

const saveAgain = 'Save all five again, one right after the other, while no OSD goes down or comes up.'

/** Reads the map of a cluster from what five commands printed: `parseCephAnswers` says what it rests on. */
export async function readCephFiles(directory: string): Promise<PlanSource> {
  const answers = new Map<CephFile, unknown>()
  for (const [file, text] of await readTexts(directory)) answers.set(file, parseText(directory, file, text))
  const { source, refusal } = parseCephAnswers((file) => answers.get(file))
  if (source !== undefined) return source
  const { file, says, isOfAnotherMoment } = refusal
  throw unusable(file, says, isOfAnotherMoment ? saveAgain : saveHint(directory, file))
}

/** One after the other, so that the same folder gives the same message. */
async function readTexts(directory: string): Promise<ReadonlyMap<CephFile, string>> {
  const texts = new Map<CephFile, string>()
  const missing: CephFile[] = []
  for (const file of Object.keys(cephFiles) as CephFile[]) {
    const path = join(directory, file)
    try {
      // Some editors and shells put a byte order mark first.
      texts.set(file, (await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') missing.push(file)
      else {
        const options = { facts: { file: path }, hint: saveHint(directory, file), cause: error }
        throw new CofferdamError('FILE_UNREADABLE', `${path} cannot be read: ${message}`, options)
      }
    }
  }
  if (missing.length === 0) return texts
  const makers = missing.map((file) => `${file} (${cephFiles[file]} -f json makes it)`)
  const folder = (await isFolder(directory)) ? directory : `${directory}, which is no folder,`
  throw new CofferdamError('FILE_UNREADABLE', `${folder} has no ${makers.join(', no ')}`, {
    facts: { file: join(directory, missing[0] ?? '') },
    hint: missing.map((file) => saveHint(directory, file)).join(' && '),
  })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

function parseText(directory: string, file: CephFile, text: string): unknown {
  const command = `${cephFiles[file]} -f json`
  if (text.trim() === '') throw unusable(file, `${file} is empty; ${command} makes it`, saveHint(directory, file))
  try {
    return JSON.parse(text) as unknown
  } catch {
    const message = `${file} is not JSON, or only a part of it (${text.length} characters); ${command} makes it`
    throw unusable(file, message, saveHint(directory, file))
  }
}

function saveHint(directory: string, file: CephFile): string {
  return `${cephFiles[file]} -f json > ${join(directory, file)}`
}

function unusable(file: CephFile, message: string, hint: string): CofferdamError {
  return new CofferdamError('CEPH_ANSWER_UNUSABLE', message, { facts: { file }, hint })
}
