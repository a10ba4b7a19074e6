import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephAnswer, CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'

export type CephTrouble = 'hangs' | 'truncates' | 'garbles' | 'fails'

/** What goes wrong with commands to Ceph, until when, and with how many of them. */
export interface CephHazards {
  trouble: { readonly kind: CephTrouble; readonly untilMs: number; readonly rate: number } | undefined
}

const garbage = [
  '',
  'null',
  '[]',
  '{}',
  '{"pg_map":{"pg_stats":"none"}}',
  'Error ENOTSUP: ',
  '\u0000\u0000',
  '{"osds":[{}]}',
]
const failures = [1, 2, 11, 13, 16, 22, 110]
const patienceMs = 15_000

/** The way to Ceph while these hazards are in force. */
export function hazardCommands(
  commands: CephCommands,
  { clock, random, hazards, isCut }: { clock: Clock; random: Random; hazards: CephHazards; isCut: () => boolean },
): CephCommands {
  const { followLog } = commands
  const cut = () => new CofferdamError('CEPH_UNREACHABLE', 'the process is dead, or can start no other')
  return {
    async run(command, options) {
      if (isCut()) throw cut()
      const { trouble } = hazards
      const isHit = trouble !== undefined && clock.now() < trouble.untilMs && random.next() < trouble.rate
      if (isHit && trouble.kind === 'hangs') {
        await sleep(clock, options?.timeoutMs ?? patienceMs, options?.signal)
        throw new CofferdamError('CEPH_UNREACHABLE', `no answer to ${command.prefix} in time`)
      }
      const answer = await commands.run(command, options)
      if (isCut()) throw cut()
      return isHit ? spoilt(answer, trouble.kind, random) : answer
    },
    ...(followLog && {
      followLog: (follow) =>
        isCut()
          ? Promise.reject(cut())
          : followLog({
              ...follow,
              onLine(line) {
                if (!isCut()) follow.onLine(line)
              },
            }),
    }),
  }
}

function spoilt(answer: CephAnswer, kind: CephTrouble, random: Random): CephAnswer {
  const { bytes: _, ...rest } = answer
  if (kind === 'truncates') return { ...rest, out: answer.out.slice(0, Math.floor(answer.out.length * random.next())) }
  if (kind === 'garbles') return { ...rest, out: garbage[Math.floor(random.next() * garbage.length)] as string }
  return { code: failures[Math.floor(random.next() * failures.length)] as number, out: '', err: 'Error' }
}
