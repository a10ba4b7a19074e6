import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { HandOverDirection } from '../../shared/hand-over.ts'
import { type CliCommand, type ExitCode, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import { durationOption, parseWaitFlag } from '../parse-duration-flag.ts'
import { handOverKinds as kinds } from './hand-over-kinds.ts'
import { handOverNow } from './hand-over-now.ts'
import type { HandOverOutcome, HandOverResult } from './hand-over-result.ts'
import { parseHandOverSubject, refuseOtherFlags } from './hand-over-subject.ts'
import { renderHandOver } from './hand-over-text.ts'

/** Those of the kinds come to these. */
interface HandOverFlags {
  readonly dryRun?: boolean
  readonly timeout: number
  readonly leaseNamespace: string
}

interface Ports {
  readonly connect: Connect
  readonly clock: Clock
}

const codes: Record<HandOverOutcome, ExitCode> = {
  planned: exitCodes.done,
  done: exitCodes.done,
  blocked: exitCodes.blocked,
  unprotected: exitCodes.error,
  'timed-out': exitCodes.timedOut,
  interrupted: exitCodes.timedOut,
}

export function createAdoptCommand(ports: Ports): CliCommand<HandOverFlags, HandOverResult> {
  return handOverCommand('adopt', 'hand the budgets of a Ceph cluster or the drains of Longhorn to Cofferdam', ports)
}

export function createReleaseCommand(ports: Ports): CliCommand<HandOverFlags, HandOverResult> {
  return handOverCommand(
    'release',
    'hand the budgets of a Ceph cluster back to Rook, or the drains of Longhorn to Longhorn',
    ports,
  )
}

const always =
  'Every change of a budget is judged meanwhile: what had a budget and has none is reported, with exit code 1. Can be interrupted and repeated at any time. Exit code 3: a check failed, and nothing is changed; 4: timed out or interrupted, and the operator goes on.'

function handOverCommand(
  direction: HandOverDirection,
  summary: string,
  ports: Ports,
): CliCommand<HandOverFlags, HandOverResult> {
  const forms = kinds.map(({ form }) => form)
  const words = kinds.map(({ commands }) => commands[direction])
  return {
    name: direction,
    summary,
    description: [...words.map(({ description }, at) => `${forms[at]}: ${description}`), always].join('\n\n'),
    examples: words.flatMap(({ examples }) => examples),
    configure(command) {
      // Not required by commander, whose message would name no kind.
      command
        .argument('[subject]', forms.join(' or '))
        .option('--dry-run', 'show the checks and what would be changed; change nothing')
        .addOption(
          durationOption('--timeout <duration>', 'how long to wait; 0 for no limit', {
            ms: 300_000,
            parse: parseWaitFlag,
          }),
        )
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
      for (const option of words.flatMap(({ options }) => options)) command.addOption(option)
    },
    async run(invocation) {
      const { args, signal } = invocation
      const flags: HandOverFlags & Readonly<Record<string, unknown>> = { ...invocation.flags }
      const subject = parseHandOverSubject(args, { kinds, direction })
      refuseOtherFlags(subject, { kinds, direction, flags })
      const open = subject.kind.prepare({ direction, names: subject.names, flags })
      const link = await ports.connect(invocation.flags)
      try {
        const { leaseNamespace } = flags
        const around = { api: link.api, clock: ports.clock, signal, leaseNamespace }
        const { terminal } = invocation
        const isDry = flags.dryRun === true
        return await handOverNow(open(around), { ...around, direction, terminal, isDry, timeoutMs: flags.timeout })
      } finally {
        await link.close()
      }
    },
    render: renderHandOver,
    exitCode: ({ outcome }) => codes[outcome],
  }
}
