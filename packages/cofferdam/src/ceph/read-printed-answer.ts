import type { CephAnswer } from './ceph-commands.ts'
import { cephUnreachable } from './ceph-unreachable.ts'

const timedOut = 110

/**
 * What the `ceph` program printed, as Ceph's answer.
 *
 * The program ends with Ceph's errno and then names it on standard error (`Error EBUSY: ...`). Any other failure is the
 * program's own: no connection, no key, no configuration.
 */
export function readPrintedAnswer(prefix: string, printed: CephAnswer): CephAnswer {
  if (printed.code === 0) return printed
  if (printed.code !== timedOut && /^Error (E[A-Z0-9]+|Unknown): ?/m.test(printed.err)) return printed
  throw cephUnreachable(prefix, `the command line ended with ${printed.code}: ${lastLine(printed.err)}`, {
    hint: 'run the same command by hand where Cofferdam runs',
  })
}

function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return (lines.at(-1) ?? 'it said nothing').trim().slice(0, 500)
}
