import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { Option } from 'commander'
import {
  type HandOverDirection,
  type HandOverPlan,
  planHandOver,
} from '../../capabilities/ceph-drain/domain/hand-over.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { UpdatesChoice } from '../../safety/ceph-ownership.ts'
import { type CliCommand, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import type { Connect } from '../connect.ts'
import { parseWaitFlag } from '../parse-duration-flag.ts'
import { type HandOverQuestion, observeHandOver } from './hand-over-observe.ts'
import type { HandOverOutcome, HandOverResult } from './hand-over-result.ts'
import { parseHandOverSubject } from './hand-over-subject.ts'
import { renderHandOver } from './hand-over-text.ts'
import { watchProtection } from './watch-protection.ts'

interface HandOverFlags {
  readonly updates?: UpdatesChoice
  readonly withoutSuccessor?: boolean
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly timeout: number
  readonly leaseNamespace: string
}

const codes: Record<HandOverOutcome, ExitCode> = {
  planned: exitCodes.done,
  done: exitCodes.done,
  blocked: exitCodes.blocked,
  unprotected: exitCodes.error,
  'timed-out': exitCodes.timedOut,
  interrupted: exitCodes.timedOut,
}

const pollEveryMs = 1_000
/** Both sides have to leave it as it is for so long. */
const settledMs = 5_000

export interface HandOverPorts {
  readonly connect: Connect
  readonly clock: Clock
}

export function createAdoptCommand(ports: HandOverPorts): CliCommand<HandOverFlags, HandOverResult> {
  return {
    ...handOverCommand('adopt', ports),
    summary: 'hand the budgets of a Ceph cluster from Rook to Cofferdam',
    description:
      "Checks whether the operator can manage the budgets of a CephCluster, then switches Rook's handling off and Cofferdam's on with one patch, and waits until every budget is taken over. Rook's budgets are taken over in place, also in the middle of a drain. Every change of a budget is judged meanwhile: an OSD that had a budget and has none is reported, with exit code 1. Can be interrupted and repeated at any time. Exit code 3: a check failed, and nothing is changed; 4: timed out or interrupted, and the operator goes on.",
    examples: [
      { line: 'cofferdam adopt cephcluster/rook-ceph/rook-ceph --dry-run', says: 'show the checks and the plan' },
      { line: 'cofferdam adopt cephcluster/rook-ceph/rook-ceph', says: 'hand the budgets over, and wait' },
    ],
    configure(command) {
      configureCommon(command)
        .addOption(
          new Option('--updates <what>', 'what Cofferdam does with OSD updates').choices(['off', 'plan', 'pace']),
        )
        .option('--force', 'go on although Ceph does not answer the operator')
    },
  }
}

export function createReleaseCommand(ports: HandOverPorts): CliCommand<HandOverFlags, HandOverResult> {
  return {
    ...handOverCommand('release', ports),
    summary: 'hand the budgets of a Ceph cluster back to Rook',
    description:
      "Switches Cofferdam's handling of the budgets off and Rook's on with one patch, and waits until nothing of Cofferdam's is left: budgets stay in place without its label, a recorded drain goes on under Rook, other flags are unset. Every change of a budget is judged meanwhile: an OSD that had a budget and has none is reported, with exit code 1. Refused while no Rook runs, unless --without-successor says that all budgets are to go. Can be interrupted and repeated at any time. Exit code 3: a check failed, and nothing is changed; 4: timed out or interrupted, and the operator goes on.",
    examples: [
      { line: 'cofferdam release cephcluster/rook-ceph/rook-ceph', says: 'hand the budgets back to Rook' },
      {
        line: 'cofferdam release cephcluster/rook-ceph/rook-ceph --without-successor',
        says: "remove Cofferdam's budgets; OSDs have none then",
      },
    ],
    configure(command) {
      configureCommon(command).option('--without-successor', 'remove the budgets, where no Rook takes them')
    },
  }
}

type Configured = Parameters<NonNullable<CliCommand['configure']>>[0]

function configureCommon(command: Configured): Configured {
  return command
    .argument('<cluster>', 'cephcluster/NAMESPACE/NAME')
    .option('--dry-run', 'show the checks and what would be changed; change nothing')
    .option('--timeout <duration>', 'how long to wait', parseWaitFlag, 300_000)
    .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
}

function handOverCommand(direction: HandOverDirection, ports: HandOverPorts) {
  return {
    name: direction,
    async run(invocation: Invocation<HandOverFlags>): Promise<HandOverResult> {
      const { args, flags, signal } = invocation
      const subject = parseHandOverSubject(args)
      const link = await ports.connect(flags)
      try {
        const wants = {
          ...(flags.updates === undefined ? {} : { updates: flags.updates }),
          isWithoutSuccessor: flags.withoutSuccessor === true,
          isForced: flags.force === true,
        }
        const { clock } = ports
        const { leaseNamespace } = flags
        return await handOver(invocation, { api: link.api, clock, signal, leaseNamespace, direction, subject, wants })
      } finally {
        await link.close()
      }
    },
    render: renderHandOver,
    exitCode: ({ outcome }: HandOverResult) => codes[outcome],
  }
}

async function handOver(
  { flags, terminal, signal }: Invocation<HandOverFlags>,
  question: HandOverQuestion,
): Promise<HandOverResult> {
  const { api, clock, direction, subject } = question
  const object = `cephcluster/${subject.namespace}/${subject.name}`
  const seen = await observeHandOver(question)
  const first = planHandOver(seen)
  const result = (outcome: HandOverOutcome, { checks, changes, pending }: HandOverPlan): HandOverResult => ({
    object,
    direction,
    to: direction === 'adopt' ? 'Cofferdam' : question.wants.isWithoutSuccessor ? 'no operator' : 'Rook',
    outcome,
    checks,
    changes,
    pending,
  })
  if (first.checks.some(({ state }) => state === 'blocked')) return result('blocked', first)
  if (flags.dryRun === true) return result('planned', first)
  const watch = watchProtection({ api, clock, namespace: subject.namespace })
  const { plan, ended } = await follow()
  await watch.stop()
  const { moments, interruptions, judged } = watch
  const outcome = moments.length > 0 && !question.wants.isWithoutSuccessor ? 'unprotected' : ended
  const changes = first.changes
  return { ...result(outcome, { ...plan, changes }), protection: { changesSeen: judged, moments, interruptions } }

  async function follow(): Promise<{ readonly plan: HandOverPlan; readonly ended: HandOverOutcome }> {
    const deadline = clock.now() + flags.timeout
    let plan = first
    let doneSinceMs: number | undefined
    let shown = ''
    try {
      for (;;) {
        if (plan.patch !== undefined) {
          for (const change of plan.changes) terminal.note(`${object}: ${change}`)
          const patch = { type: 'merge', body: plan.patch } as const
          await api.patch(cephClusters, subject, patch, { fieldManager: 'cofferdam', signal })
        }
        const isDone = plan.patch === undefined && plan.pending.length === 0
        doneSinceMs = isDone ? (doneSinceMs ?? clock.now()) : undefined
        if (doneSinceMs !== undefined && clock.now() - doneSinceMs >= settledMs) return { plan, ended: 'done' }
        if (signal.aborted) return { plan, ended: 'interrupted' }
        if (clock.now() >= deadline) return { plan, ended: 'timed-out' }
        const missing = plan.pending[0] ?? 'waiting until both operators leave it as it is'
        if (missing !== shown) terminal.progress(missing)
        shown = missing
        await sleep(clock, pollEveryMs, signal)
        if (signal.aborted) return { plan, ended: 'interrupted' }
        plan = planHandOver(await observeHandOver({ ...question, missingRights: seen.missingRights }))
      }
    } finally {
      terminal.progress(undefined)
    }
  }
}
