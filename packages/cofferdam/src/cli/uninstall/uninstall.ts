import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { capabilities, type OperatorCapability } from '../../operator/capabilities.ts'
import type { Trace } from '../../shared/trace.ts'
import { decideUninstall } from '../../uninstall/decide-uninstall.ts'
import type { UninstallSnapshot } from '../../uninstall/snapshot.ts'
import { cephClusterHandOver } from '../adopt/ceph-cluster.ts'
import type { HandOver, HandOverPorts } from '../adopt/hand-over-kind.ts'
import { handOverNow } from '../adopt/hand-over-now.ts'
import type { HandOverResult } from '../adopt/hand-over-result.ts'
import { longhornHandOver } from '../adopt/longhorn.ts'
import { type CliCommand, type ExitCode, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import { durationOption, parseWaitFlag } from '../parse-duration-flag.ts'
import { renderData } from '../render-data.ts'
import type { Terminal } from '../terminal.ts'
import { endRequests } from './end-requests.ts'
import { definitionTraces, policyOfAdministrators, policyTraces } from './installed-objects.ts'
import { stopOperator } from './stop-operator.ts'
import { type Removed, type Swept, sweepTraces } from './sweep.ts'
import { observeUninstall, type UninstallQuestion } from './uninstall-observe.ts'
import { isBlocked, type UninstallOutcome, type UninstallResult } from './uninstall-result.ts'
import { buildUninstallRole } from './uninstall-role.ts'
import { renderUninstall } from './uninstall-text.ts'

interface UninstallFlags {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly printRole?: boolean
  readonly evenNow?: boolean
  readonly withoutSuccessor?: boolean
  readonly timeout: number
  readonly leaseNamespace: string
}

interface Ports {
  readonly connect: Connect
  readonly clock: Clock
  /** For tests of a capability that is not in the list. */
  readonly capabilities?: readonly OperatorCapability[]
}

const codes: Record<UninstallOutcome, ExitCode> = {
  planned: exitCodes.done,
  done: exitCodes.done,
  blocked: exitCodes.blocked,
  unprotected: exitCodes.error,
  'timed-out': exitCodes.timedOut,
}

const rest =
  'helm uninstall cofferdam -n cofferdam-system, or kubectl delete -k deploy/ --ignore-not-found, removes the Deployment and the Roles'

/** What `--print-role` prints. */
interface PrintedRole {
  readonly role: JsonObject
}

export function createUninstallCommand(ports: Ports): CliCommand<UninstallFlags, UninstallResult | PrintedRole> {
  const { connect, clock, capabilities: list = capabilities } = ports
  const own = list.flatMap(({ traces }) => traces)
  return {
    name: 'uninstall',
    summary: 'hand everything back, and remove all that Cofferdam has written in the cluster',
    description:
      'Shows what loses protection and what is removed; with --yes it does so. Budgets go back to Rook, drains to Longhorn, while the operator still runs. Then the operator is stopped, and labels, annotations, conditions, finalizers, budgets, webhooks and records of Cofferdam are removed, at last its kinds. Refused while something is in the middle: a drain, an update, noout, a lock. Can be interrupted and repeated at any time. Needs the rights of a cluster administrator, or those that --print-role prints. Exit code 1: an OSD had no budget meanwhile; 3: a check failed, and nothing is changed; 4: timed out.',
    examples: [
      { line: 'cofferdam uninstall', says: 'show what is lost and what is removed' },
      { line: 'cofferdam uninstall --yes', says: 'do so' },
      {
        line: 'cofferdam uninstall --print-role | kubectl apply -f -',
        says: 'a ClusterRole for a user who is to do so',
      },
    ],
    configure(command) {
      command
        .option('--dry-run', 'show it, also where --yes is given; change nothing')
        .option('--yes', 'do it')
        .option('--print-role', 'print a ClusterRole with the rights that it needs, and do nothing')
        .option('--even-now', 'also in the middle of a drain, an update or a lock: they end unfinished')
        .option('--without-successor', 'also where no Rook takes the budgets of a Ceph cluster')
        .addOption(
          durationOption('--timeout <duration>', 'how long to wait for each step; 0 for no limit', {
            ms: 300_000,
            parse: parseWaitFlag,
          }),
        )
        .option('--lease-namespace <name>', 'where the operator runs', operatorAccount.namespace)
    },
    async run({ flags, terminal, signal }) {
      if (flags.printRole === true) return { role: buildUninstallRole(own) }
      const { leaseNamespace, timeout: timeoutMs } = flags
      const link = await connect(flags)
      try {
        const { api } = link
        const wants = { isEvenNow: flags.evenNow === true, isWithoutSuccessor: flags.withoutSuccessor === true }
        const question = { api, clock, signal, leaseNamespace, traces: own, wants }
        const isDry = flags.yes !== true || flags.dryRun === true
        return await uninstall(question, { terminal, timeoutMs, isDry })
      } finally {
        await link.close()
      }
    },
    render: (result, paint, isWide) =>
      'role' in result ? renderData(result.role, 'yaml').trimEnd() : renderUninstall(result, paint, isWide),
    data: (result) => ('role' in result ? result.role : result),
    exitCode: (result) => ('role' in result ? exitCodes.done : codes[result.outcome]),
  }
}

interface How {
  readonly terminal: Terminal
  readonly timeoutMs: number
  readonly isDry: boolean
}

async function uninstall(question: UninstallQuestion, how: How): Promise<UninstallResult> {
  const { snapshot, traces } = await observeUninstall(question)
  const decision = decideUninstall(snapshot)
  const nothing = { ...decision, released: [], removed: traces, notes: [] }
  if (isBlocked(decision)) return { ...nothing, outcome: 'blocked', says: 'a check failed; nothing is changed.' }
  if (how.isDry) {
    const next = 'cofferdam uninstall --yes, with the same flags, does it'
    return { ...nothing, outcome: 'planned', says: 'nothing is changed.', next }
  }
  return { ...decision, ...(await perform(question, snapshot, how)) }
}

type Performed = Omit<UninstallResult, 'checks' | 'losses'>

/** Protection changes hands while both sides run; only then does the operator stop, and its marks go. */
async function perform(question: UninstallQuestion, snapshot: UninstallSnapshot, how: How): Promise<Performed> {
  const { api, clock, signal, leaseNamespace } = question
  const { terminal, timeoutMs } = how
  const deadlineMs = () => (timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs)
  const progress = (text: string | undefined) => terminal.progress(text)
  const notDone = (says: string, released: readonly HandOverResult[]): Performed => ({
    outcome: 'timed-out',
    says,
    released,
    removed: [],
    notes: [],
    next: 'cofferdam uninstall --yes, with the same flags, continues',
  })
  if (snapshot.isOperatorRunning === true && snapshot.requests.length > 0) {
    await endRequests({ api, clock, signal, deadlineMs: deadlineMs(), progress }, snapshot.requests)
  }
  const released: HandOverResult[] = []
  for (const handOver of releasesOf(snapshot, { api, clock, signal, leaseNamespace })) {
    const around = { api, clock, signal, leaseNamespace, terminal, timeoutMs }
    const result = await handOverNow(handOver, { ...around, direction: 'release', isDry: false })
    released.push(result)
    if (result.outcome === 'blocked') {
      const failed = result.checks.find(({ state }) => state === 'blocked')
      return notDone(`${result.object} cannot be released: ${failed?.says}.`, released)
    }
    if (result.outcome !== 'done' && result.outcome !== 'unprotected') {
      return notDone(`${result.object} is not released yet: ${result.pending[0] ?? 'it is still changed'}.`, released)
    }
  }
  const running = await stopOperator({ api, clock, signal, leaseNamespace, deadlineMs: deadlineMs(), progress })
  if (running !== undefined) return notDone(`${running} still runs; stop it.`, released)
  // What was handed back is Rook's now, whatever was there before.
  const { sweep } = await observeUninstall(question)
  const { removed, left } = await sweepAll({ ...sweep, clock, deadlineMs: deadlineMs() }, question.traces)
  if (left.length > 0) {
    const names = left.slice(0, 3).map(({ object, what }) => `${object} (${what})`)
    return { ...notDone(`${left.length} things are still there: ${names.join(', ')}.`, released), removed }
  }
  const hasGap = released.some(({ outcome }) => outcome === 'unprotected')
  return {
    outcome: hasGap ? 'unprotected' : 'done',
    says: hasGap ? 'nothing of Cofferdam is left; see the gap.' : 'nothing of Cofferdam is left on any object.',
    released,
    removed,
    notes: notesOf(snapshot),
    next: rest,
  }
}

/** Policies first, since they refuse what follows; kinds last, since their objects go with them. */
async function sweepAll(ports: Parameters<typeof sweepTraces>[0], traces: readonly Trace[]): Promise<Swept> {
  const { api, signal } = ports
  const removed: Removed[] = []
  const kinds = async () => {
    const others = await ifAllowed('', [], () => api.list(machineDisruptionBudgets, { signal }))
    const used = (others?.items ?? []).length > 0 ? machineDisruptionBudgets : undefined
    return definitionTraces.filter(
      ({ place }) => !(used && typeof place === 'object' && place.name === `${used.plural}.${used.group}`),
    )
  }
  for (const part of [async () => policyTraces, async () => [...traces, policyOfAdministrators], kinds]) {
    const swept = await sweepTraces(ports, await part())
    removed.push(...swept.removed)
    if (swept.left.length > 0) return { removed, left: swept.left }
  }
  return { removed, left: [] }
}

function releasesOf({ ceph, longhorn, wants }: UninstallSnapshot, ports: HandOverPorts): HandOver[] {
  const direction = 'release' as const
  return [
    ...ceph.map(({ namespace, name, rookRuns }) => {
      const flags = { withoutSuccessor: !rookRuns && wants.isWithoutSuccessor }
      return cephClusterHandOver.prepare({ direction, names: [namespace, name], flags })(ports)
    }),
    ...longhorn.map(({ namespace }) => longhornHandOver.prepare({ direction, names: [namespace], flags: {} })(ports)),
  ]
}

function notesOf({ ceph }: UninstallSnapshot): string[] {
  return ceph
    .filter(({ rookRuns }) => !rookRuns)
    .map(
      ({ namespace, name }) =>
        `cephcluster/${namespace}/${name}: spec.disruptionManagement.managePodBudgets is false; set it to true before Rook runs again`,
    )
}
