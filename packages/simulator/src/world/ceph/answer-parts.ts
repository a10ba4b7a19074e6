import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'

/** What answers a command, by its prefix. */
export type CommandTable = Readonly<Record<string, (command: CephCommand) => CephAnswer>>

export const errno = { noEntry: 2, tryAgain: 11, exists: 17, invalid: 22, notSupported: 95 } as const

export function said(body: Json): CephAnswer {
  return { code: 0, out: JSON.stringify(body), err: '' }
}

export function failed(code: number, err: string): CephAnswer {
  return { code, out: '', err }
}

/** An argument that may be one text or several. */
export function texts(value: Json | undefined): string[] {
  if (value === undefined || value === null) return []
  return (Array.isArray(value) ? (value as readonly Json[]) : [value]).map((part) =>
    typeof part === 'string' ? part : JSON.stringify(part),
  )
}

/** `7` or `osd.7` */
export function parseOsd(text: string): number | undefined {
  const digits = /^(?:osd\.)?(\d+)$/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
