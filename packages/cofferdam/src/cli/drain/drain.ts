import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { Option } from 'commander'
import { readStorage } from '../../capabilities/ceph-drain/observe/read-storage.ts'
import { explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { planDisruption } from '../../capabilities/drain-lock/view/plan-disruption.ts'
import { readLonghorn } from '../../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { BreakGlass } from '../../ledger/rules/break-glass.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import { openReader } from '../../observe/reader.ts'
import type { CliCommand, Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { findObject } from '../explain/find-object.ts'
import { observeRehearsal } from '../observe/observe-rehearsal.ts'
import { parseDurationFlag, parseWaitFlag } from '../parse-duration-flag.ts'
import { followDisruption } from './drain-follow.ts'
import { renderPlan, renderRefusal } from './drain-plan-text.ts'
import { findRefusal } from './drain-refusal.ts'
import { asIfMade, findUnderWay, makeRequest, refuseToJoin, type WantedDisruption } from './drain-request.ts'
import {
  type DrainAnswer,
  drainExitCode,
  drainOutcome,
  isDrainSettled,
  nextSteps,
  type PlannedDrain,
} from './drain-result.ts'
import { renderDrain } from './drain-text.ts'

export interface DrainFlags {
  readonly intent: 'reboot' | 'remove' | 'replace'
  readonly reason?: string
  readonly as?: string
  readonly fallbackAfter?: number
  readonly deadline?: number
  readonly returnWithin?: number
  readonly skipDrain: boolean
  readonly force?: boolean
  readonly deleteEmptydirData?: boolean
  readonly breakGlass?: boolean
  readonly for?: number
  readonly timeout: number
  readonly wait: boolean
  readonly dryRun?: boolean
  readonly leaseNamespace: string
}

export interface DrainPorts {
  readonly connect: Connect
  readonly clock: Clock
  /** Who asks, where no flag says so. */
  readonly requester: () => string
}

/** How long the operator may take to pick up a request before it counts as absent. */
const pickUpMs = 15_000
const intents = { reboot: 'Reboot', remove: 'Remove', replace: 'Replace' } as const

export function createDrainCommand(ports: DrainPorts): CliCommand<DrainFlags, DrainAnswer> {
  return {
    name: 'drain',
    summary: 'drain a node, coordinated with all other drains',
    description:
      'Creates a NodeDisruption for a node and shows its progress: pods annotated cofferdam.io/skip-drain stay for a short reboot, all others are evicted, and no application loses more than its budget allows, however many drains run. Pods that no controller creates again and pods with emptyDir data are evicted only with --force and --delete-emptydir-data. A request that is already in progress for the node and covers what is asked is followed instead of creating a second one. Exit code 0: the node is drained; 1: a request in progress does not cover what is asked; 3: blocked, refused or rejected; 4: timed out, and the request continues.',
    examples: [
      { line: 'cofferdam drain worker-a1', says: 'drain it for a reboot' },
      {
        line: 'cofferdam drain worker-a1 --intent remove --reason "disk is failing"',
        says: 'drain it to remove it',
      },
      { line: 'cofferdam drain worker-a1 --timeout 0', says: 'try, and exit with 3 if it is blocked now' },
      { line: 'cofferdam drain worker-a1 --dry-run', says: 'show what would stay, be evicted and be waited for' },
      {
        line: 'cofferdam drain worker-a1 --break-glass --reason "fire in rack 7" --for 30m',
        says: 'do not wait for the locks of others',
      },
    ],

    configure(command) {
      command
        .argument('<node>', 'the node to drain')
        .addOption(
          new Option('--intent <what>', 'what happens to it after the drain')
            .choices(['reboot', 'remove', 'replace'])
            .default('reboot'),
        )
        .option('--reason <text>', 'why; shown to everyone who waits for it')
        .option('--as <name>', 'who asks; user@host by default')
        .option(
          '--fallback-after <duration>',
          'evict the pods that should stay too, if their locks are not acquired by then',
          parseDurationFlag,
        )
        .option('--deadline <duration>', 'abandon the request if it is not done by then', parseDurationFlag)
        .option(
          '--return-within <duration>',
          'how long a reboot may take; for so long the node is protected from remediation',
          parseDurationFlag,
        )
        .option('--no-skip-drain', 'evict the pods that ask to stay, too')
        .option('--force', 'evict pods that no controller creates again, too')
        .option('--delete-emptydir-data', 'evict pods with emptyDir volumes, too; that deletes their data')
        .option('--break-glass', 'override the locks of others; needs --reason and --for')
        .option('--for <duration>', 'how long the break-glass override lasts', parseDurationFlag)
        .option('--timeout <duration>', 'how long to wait; 0 exits at once if it is blocked', parseWaitFlag, 3_600_000)
        .option('--no-wait', 'create the request, and do not wait for it')
        .option('--dry-run', 'show what would stay, be evicted, be locked and be waited for; create nothing')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run(invocation) {
      const { args, flags, signal } = invocation
      const wanted = wantedBy(args[0] ?? '', flags, { requester: ports.requester, nowMs: ports.clock.now() })
      const link = await ports.connect(flags)
      try {
        await findObject(nodes, { name: wanted.nodeName }, { api: link.api, signal })
        if (flags.dryRun === true) return await rehearse(wanted, { ...invocation, ports, link })
        return await drain(wanted, { ...invocation, ports, link })
      } finally {
        await link.close()
      }
    },

    render(answer, paint) {
      if (!('plan' in answer)) return renderDrain(answer, paint)
      return answer.outcome === 'refused' ? renderRefusal(answer, paint) : renderPlan(answer, paint)
    },
    exitCode: drainExitCode,
  }
}

interface DrainContext extends Invocation<DrainFlags> {
  readonly ports: DrainPorts
  readonly link: ClusterLink
}

async function drain(wanted: WantedDisruption, context: DrainContext): Promise<DrainAnswer> {
  const { flags, terminal, signal, link, ports } = context
  const { clock } = ports
  const { api } = link
  const refusal = await findRefusal(wanted, { api, clock, signal })
  if (refusal !== undefined) return refusal
  const { disruption, isJoined } = await makeRequest({ api, signal }, wanted)
  const first = explainDisruption(disruption)
  const asked = isJoined ? 'is already in progress and is followed' : 'created'
  terminal.note(`NodeDisruption ${first.request} ${asked}`)
  if (isJoined && first.intent !== wanted.intent) {
    terminal.note(
      `${terminal.paint('yellow', 'warning:')} the request is for intent ${first.intent}, and that does not change`,
    )
  }
  await warnWithoutOperator(context)
  const common = { isJoined, observedAt: timestamp(clock) }
  if (!flags.wait) return { ...common, outcome: 'requested', disruption: first, next: nextSteps('requested', first) }

  const isImpatient = flags.timeout === 0
  const followed = await followDisruption(disruption, {
    api,
    clock,
    terminal,
    signal,
    timeoutMs: isImpatient ? pickUpMs : flags.timeout,
    isReached: (answer) => isDrainSettled(answer) || (isImpatient && (answer.isBlocked || answer.phase === 'Draining')),
  })
  const outcome = drainOutcome(followed)
  return {
    ...common,
    outcome,
    disruption: followed.answer,
    observedAt: timestamp(clock),
    next: nextSteps(outcome, followed.answer),
  }
}

/** Rehearses the request that is under way, where there is one. */
async function rehearse(wanted: WantedDisruption, context: DrainContext): Promise<PlannedDrain> {
  const { flags, signal, link, ports } = context
  const { api } = link
  const now = timestamp(ports.clock)
  const [budgets, [standing]] = await Promise.all([
    api.list(podDisruptionBudgets, { signal }),
    findUnderWay({ api, signal }, wanted.nodeName),
  ])
  if (standing !== undefined) refuseToJoin(standing, wanted)
  const read = await openReader({ api, clock: ports.clock, leaseNamespace: flags.leaseNamespace, signal })
  const [storage, longhorn] = await Promise.all([readStorage(read, budgets.items), readLonghorn(read)])
  const seen = { api, clock: ports.clock, signal, storage, budgets: budgets.items }
  const question = longhorn === undefined ? seen : { ...seen, longhorn }
  const snapshot = await observeRehearsal(standing ?? asIfMade(wanted), question, read.notSeen)
  return {
    outcome: 'planned',
    observedAt: now,
    ...(standing === undefined ? {} : { underWay: standing.metadata.name }),
    plan: planDisruption(snapshot),
    notSeen: [...new Set(read.notSeen)],
  }
}

async function warnWithoutOperator({ flags, terminal, signal, link, ports }: DrainContext): Promise<void> {
  const question = { api: link.api, leaseNamespace: flags.leaseNamespace, now: timestamp(ports.clock), signal }
  const { isRunning } = await observeOperator(question, [])
  if (isRunning !== false) return
  terminal.note(
    `${terminal.paint('yellow', 'warning:')} no operator is running, so the request waits: start it with cofferdam operator, or see kubectl -n ${flags.leaseNamespace} get pods`,
  )
}

function wantedBy(
  nodeName: string,
  flags: DrainFlags,
  { requester, nowMs }: { readonly requester: () => string; readonly nowMs: number },
): WantedDisruption {
  const { reason, as = requester(), fallbackAfter, deadline, returnWithin } = flags
  const breakGlass = brokenGlass(flags, { by: as, nowMs })
  return {
    nodeName: nodeName.replace(/^(node|nodes|no)\//, ''),
    intent: intents[flags.intent],
    requester: as,
    honourSkipDrain: flags.skipDrain,
    accepts: [
      ...(flags.force === true ? ['force' as const] : []),
      ...(flags.deleteEmptydirData === true ? ['deleteEmptyDirData' as const] : []),
    ],
    nowMs,
    ...(reason === undefined ? {} : { reason }),
    ...(fallbackAfter === undefined ? {} : { fallbackAfter: durationText(fallbackAfter) }),
    ...(deadline === undefined ? {} : { deadline: rfc3339(nowMs + deadline) }),
    ...(returnWithin === undefined ? {} : { returnWithin: durationText(returnWithin) }),
    ...(breakGlass === undefined ? {} : { breakGlass }),
  }
}

function brokenGlass(
  { breakGlass, reason = '', for: forMs }: DrainFlags,
  { by, nowMs }: { readonly by: string; readonly nowMs: number },
): BreakGlass | undefined {
  if (breakGlass !== true) {
    if (forMs === undefined) return undefined
    throw new CofferdamError('USAGE', '--for says how long the break-glass override lasts; use it with --break-glass')
  }
  if (reason.trim() === '') throw new CofferdamError('USAGE', '--break-glass needs a --reason: it is kept on record')
  if (forMs === undefined) {
    throw new CofferdamError('USAGE', '--break-glass must end: say when with --for', { hint: 'for instance --for 30m' })
  }
  return { by, reason: reason.trim(), untilMs: nowMs + forMs }
}
