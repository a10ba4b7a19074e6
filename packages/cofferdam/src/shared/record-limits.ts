import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { ObjectProblem } from './object-problem.ts'
import { recordNotes } from './record-notes.ts'

/** All annotations of an object share 256 KiB: with these and the answers of the domains ours fit at any time. */
const mostProblems = 20
const mostProblemBytes = 16 * 1024
const mostExplanationBytes = 4 * 1024
/** What others may keep beside ours: of annotations, of labels, of data and of binary data. */
const mostForeignBytes = 64 * 1024

export const shortExplanation = (text: string): string => shortText(text, mostExplanationBytes)

/** The text, or as much of it as fits into so many bytes. */
export function shortText(text: string, mostBytes: number): string {
  if (bytesOf(text) <= mostBytes) return text
  let left = mostBytes - bytesOf(mark)
  let end = 0
  for (const character of text) {
    left -= bytesOf(character)
    if (left < 0) break
    end += character.length
  }
  return `${text.slice(0, end)}${mark}`
}

const mark = '…'

/** The problems as one line, `; ` between them; of very many the first, and how many more there are. */
export function problemsText(problems: readonly ObjectProblem[]): string {
  const shown: string[] = []
  let left = mostProblemBytes
  for (const { object, problem } of problems.slice(0, mostProblems)) {
    const text = shortText(`${object}: ${problem}`.replaceAll('; ', ', '), mostExplanationBytes)
    left -= bytesOf(text) + 2
    if (left < 0) break
    shown.push(text)
  }
  const more = problems.length - shown.length
  return more === 0 ? shown.join('; ') : [...shown, `${more} more objects with problems`].join('; ')
}

/** The part of a ConfigMap that is not ours and may stay: what is too much leaves no room for the record itself. */
export interface ForeignPart {
  readonly annotations: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly binaryData: Readonly<Record<string, string>> | undefined
  readonly data: Readonly<Record<string, string>>
  /** What is removed: `annotation example.com/note`. */
  readonly removed: readonly string[]
}

/**
 * Keeps what others put on the record as long as all of ours fits beside it; else the largest of theirs go first.
 *
 * Guarantees: with what is kept, the record never exceeds what the API server takes.
 */
export function foreignPartOf(
  configMap: ConfigMap | undefined,
  /** Which keys of the data are ours: all, where nothing else is said. */
  isOwnKey: (key: string) => boolean = () => true,
): ForeignPart {
  const ours = new Set<string>(Object.values(recordNotes))
  const notes = Object.entries(configMap?.metadata.annotations ?? {}).filter(([key]) => !ours.has(key))
  const annotations = fitting(notes)
  const labels = fitting(Object.entries(configMap?.metadata.labels ?? {}))
  const binaries = fitting(Object.entries(configMap?.binaryData ?? {}))
  const data = fitting(Object.entries(configMap?.data ?? {}).filter(([key]) => !isOwnKey(key)))
  return {
    annotations: Object.fromEntries(annotations.kept),
    labels: configMap?.metadata.labels && Object.fromEntries(labels.kept),
    binaryData: configMap?.binaryData && Object.fromEntries(binaries.kept),
    data: Object.fromEntries(data.kept),
    removed: [
      ...annotations.removed.map((key) => `annotation ${key}`),
      ...labels.removed.map((key) => `label ${key}`),
      ...binaries.removed.map((key) => `binaryData ${key}`),
      ...data.removed.map((key) => `data ${key}`),
    ],
  }
}

/** Entries of others that had to be removed, for the record and for an event. */
export function crowdingProblems(
  configMap: ConfigMap | undefined,
  isOwnKey?: (key: string) => boolean,
): ObjectProblem[] {
  const { removed } = foreignPartOf(configMap, isOwnKey)
  if (removed.length === 0 || configMap === undefined) return []
  const more = removed.length > 3 ? ` and ${removed.length - 3} more` : ''
  return [
    {
      object: `configmap/${configMap.metadata.name}`,
      problem: `${removed.slice(0, 3).join(', ')}${more} left no room for the record and was removed; find out who wrote it, and take the right to write this ConfigMap away from others`,
    },
  ]
}

function fitting(entries: readonly (readonly [string, string])[]) {
  const sized = entries.map(([key, value]) => ({ key, value, bytes: bytesOf(key) + bytesOf(value) }))
  const removed = new Set<string>()
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { key, bytes } of [...sized].sort((a, b) => b.bytes - a.bytes || (a.key < b.key ? -1 : 1))) {
    if (total <= mostForeignBytes) break
    removed.add(key)
    total -= bytes
  }
  return { kept: entries.filter(([key]) => !removed.has(key)), removed: [...removed] }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
