import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { requestToFollow } from '../../capabilities/drain-lock/domain/covers-request.ts'
import { parseHostNode } from '../../capabilities/drain-lock/observe/objects.ts'
import { type DisruptionAnswer, explainDisruption } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { planWaves } from '../../capabilities/drain-lock/view/plan-waves.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { chooseNodes, parseNodeNames } from '../choose-nodes.ts'
import type { CliCommand, Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { drainByPlan } from './drain-by-plan.ts'
import { type AskedOfNodes, addDrainFlags, askedBy, type DrainFlags, refuseFlags } from './drain-flags.ts'
import { type Followed, followDisruptions } from './drain-follow.ts'
import {
  askServer,
  findRefusals,
  plannedDrain,
  type Rehearsal,
  type RehearsePlace,
  rehearseWithStorage,
} from './drain-rehearse.ts'
import { type AskedDrain, findOpenRequests, type MadeRequest, refuseToJoin } from './drain-request.ts'
import {
  type DrainAnswer,
  type DrainBatch,
  type DrainResult,
  drainExitCode,
  drainOutcome,
  isDrainSettled,
  nextSteps,
  protectionOf,
} from './drain-result.ts'
import { renderDrain, wavesText } from './drain-text.ts'
import { makeRequestInOwnName } from './make-request-in-own-name.ts'
import { noteWithoutOperator } from './note-without-operator.ts'

export interface DrainPorts {
  readonly connect: Connect
  readonly clock: Clock
  /** Who asks, where no flag says so. */
  readonly requester: () => string
}

/** How long the operator may take to pick up a request before it counts as absent. */
const pickUpMs = 15_000

export function createDrainCommand(ports: DrainPorts): CliCommand<DrainFlags, DrainAnswer | DrainBatch> {
  return {
    name: 'drain',
    summary: 'drain nodes, coordinated with all other drains',
    description:
      'Creates a NodeDisruption for each node and shows its progress: pods annotated cofferdam.io/skip-drain stay for a short reboot, all others are evicted, and no application loses more than its budget allows, however many drains run. Nodes that can be away together go together, all others are queued, and follow when the nodes before them have been rebooted and are back. Pods that no controller creates again and pods with emptyDir data are evicted only with --force and --delete-emptydir-data. A request that is already in progress for a node and covers what is asked is followed instead of creating a second one; where the former one is ending, the new one waits for its end. Exit code 0: every node is drained; 1: a request in progress does not cover what is asked; 3: blocked, refused or rejected; 4: timed out, and the request continues.',
    examples: [
      { line: 'cofferdam drain worker-a1', says: 'drain it for a reboot' },
      {
        line: 'cofferdam drain -l topology.kubernetes.io/zone=zone-a --timeout 0',
        says: 'drain the nodes of a zone, and wait as long as it takes',
      },
      {
        line: 'cofferdam drain worker-a1 --intent remove --reason "disk is failing"',
        says: 'drain it to remove it',
      },
      { line: 'cofferdam drain worker-a1 --fail-if-blocked', says: 'try, and exit with 3 if it is blocked now' },
      {
        line: 'cofferdam drain --all --dry-run',
        says: 'show the waves, and what would stay, be evicted and be waited for',
      },
      {
        line: 'cofferdam drain --plan plan.json --timeout 0',
        says: 'carry out a plan, wave by wave; the same command continues it',
      },
      {
        line: 'cofferdam drain worker-a1 --break-glass --reason "fire in rack 7" --for 30m',
        says: 'do not wait for the locks of others',
      },
    ],

    configure: addDrainFlags,

    async run(invocation) {
      const { args, flags, signal } = invocation
      refuseFlags(flags)
      if (flags.plan !== undefined) return drainByPlan(flags.plan, invocation, ports)
      const names = parseNodeNames(args, flags)
      const asked = askedBy(flags, { requester: ports.requester, nowMs: ports.clock.now() })
      const link = await ports.connect(flags)
      try {
        // Read before the nodes: what has happened to a node since shows that its request has ended.
        const open = await findOpenRequests({ api: link.api, signal })
        const chosen = await chooseNodes(names, flags, { api: link.api, signal })
        const drains = askedDrains(chosen.nodes, asked, open)
        const context = { ...invocation, ports, link, isOne: chosen.isOne }
        const batch = await (flags.dryRun === 'none' ? drainAll(drains, context) : rehearseAll(drains, context))
        const [only] = batch.drains
        return chosen.isOne && only !== undefined ? only : batch
      } finally {
        await link.close()
      }
    },

    render: renderDrain,
    exitCode: drainExitCode,
  }
}

interface DrainContext extends Invocation<DrainFlags> {
  readonly ports: DrainPorts
  readonly link: ClusterLink
  /** Whether exactly one node was named. */
  readonly isOne: boolean
}

/** @throws CofferdamError REQUEST_DIFFERS before anything is changed, of any of the nodes */
function askedDrains(
  nodes: readonly Node[],
  asked: AskedOfNodes,
  open: ReadonlyMap<string, readonly NodeDisruption[]>,
): readonly AskedDrain[] {
  const drains = nodes.map((each): AskedDrain => {
    const node = parseHostNode(each)
    return {
      wanted: { ...asked, nodeName: node.name },
      node,
      ...requestToFollow(open.get(node.name) ?? [], node, asked),
    }
  })
  for (const { wanted, standing } of drains) if (standing !== undefined) refuseToJoin(standing, wanted)
  return drains
}

function placeOf({ flags, signal, link, ports }: DrainContext): RehearsePlace {
  return { api: link.api, clock: ports.clock, signal, leaseNamespace: flags.leaseNamespace }
}

/** Rehearses the request that is under way, where there is one. */
async function rehearseAll(drains: readonly AskedDrain[], context: DrainContext): Promise<DrainBatch> {
  const place = placeOf(context)
  const observedAt = timestamp(place.clock)
  const rehearsed = await rehearseWithStorage(drains, place)
  const answers: DrainAnswer[] = []
  for (const rehearsal of rehearsed) {
    const planned = plannedDrain(rehearsal, observedAt)
    const isAsked = context.flags.dryRun === 'server'
    answers.push(isAsked ? { ...planned, server: await askServer(rehearsal, planned.plan, place) } : planned)
  }
  const waves = wavesOf(rehearsed)
  const order = waves.flat()
  const inOrder = answers.toSorted((a, b) => order.indexOf(nodeOf(a)) - order.indexOf(nodeOf(b)))
  return { waves, drains: inOrder, observedAt }
}

function nodeOf(answer: DrainAnswer): string {
  return 'plan' in answer ? answer.plan.node : answer.disruption.node
}

function wavesOf(rehearsed: readonly Rehearsal[]): DrainBatch['waves'] {
  return planWaves(rehearsed.map(({ needs }) => needs)).waves
}

async function drainAll(drains: readonly AskedDrain[], context: DrainContext): Promise<DrainBatch> {
  const place = placeOf(context)
  const refusals = await findRefusals(drains, place)
  const observedAt = timestamp(place.clock)
  if (refusals.length > 0) return { waves: [], drains: refusals, observedAt }
  const waves = context.isOne ? drains.map(({ wanted }) => [wanted.nodeName]) : await findWaves(drains, context)
  announce(waves, context)
  const order = waves.flat()
  const inOrder = drains.toSorted((a, b) => order.indexOf(a.wanted.nodeName) - order.indexOf(b.wanted.nodeName))
  const results = await drainInOrder(inOrder, context)
  return { waves, drains: results, observedAt: timestamp(place.clock) }
}

/** Without the right to read what decides it, nodes are asked for as they were named; the operator queues them all the same. */
async function findWaves(drains: readonly AskedDrain[], context: DrainContext): Promise<DrainBatch['waves']> {
  try {
    return wavesOf(await rehearseWithStorage(drains, placeOf(context)))
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error
    return [drains.map(({ wanted }) => wanted.nodeName)]
  }
}

function announce(waves: DrainBatch['waves'], { flags, terminal, isOne }: DrainContext): void {
  if (flags.gracePeriod === 0) {
    terminal.note(
      `${terminal.paint('yellow', 'warning:')} with --grace-period 0 pods are removed from the API before their containers have ended: one of a StatefulSet can run twice`,
    )
  }
  if (isOne) return
  for (const line of wavesText(waves)) terminal.note(line)
  if (waves.length < 2) return
  const gone = { reboot: 'rebooted', remove: 'removed', replace: 'replaced' }[flags.intent]
  const back = flags.intent === 'reboot' ? 'rebooted and are back' : gone
  terminal.note(
    `All are requested in this order. A wave starts when the nodes it conflicts with have been ${back}: nodes must be ${gone} as soon as they are reported as drained.`,
  )
}

/** Makes all requests, and follows them. */
async function drainInOrder(drains: readonly AskedDrain[], context: DrainContext): Promise<readonly DrainResult[]> {
  const { flags, terminal, signal, link, ports, isOne } = context
  const { clock } = ports
  const made = new Map<string, MadeRequest>()
  for (const each of drains) made.set(each.wanted.nodeName, await make(each, context))
  const requests = [...made.values()].map(({ disruption }) => disruption)
  await warnWithoutOperator(context)
  const startMs = clock.now()
  const isQueued = ({ phase }: DisruptionAnswer) => phase === 'Pending' || phase === 'Waiting'
  const followed = flags.wait
    ? await followDisruptions(requests, {
        api: link.api,
        clock,
        terminal,
        signal,
        timeoutMs: flags.timeout,
        isOne,
        isReached: (answer) =>
          isDrainSettled(answer) || (flags.failIfBlocked === true && isQueued(answer) && answer.isBlocked),
        isOverdue: ({ phase }) =>
          flags.failIfBlocked === true && phase === 'Pending' && clock.now() - startMs >= pickUpMs,
      })
    : requests.map((each): Followed => ({ answer: explainDisruption(each), ended: 'reached' }))
  const observedAt = timestamp(clock)
  const remediationWaitsMs = flags.wait ? await findRemediationWait(context) : undefined
  return followed.map((each): DrainResult => {
    const { answer } = each
    const outcome = flags.wait ? drainOutcome(each) : 'requested'
    const isJoined = made.get(answer.node)?.isJoined === true
    const protection = protectionOf(outcome, answer, remediationWaitsMs)
    return { outcome, isJoined, disruption: answer, observedAt, ...protection, next: nextSteps(outcome, answer) }
  })
}

/** A drain that is done stays done where this cannot be read. */
async function findRemediationWait({ link, signal }: DrainContext): Promise<number | undefined> {
  try {
    return (await observeSettings({ api: link.api, signal })).remediationWaitsMs
  } catch (error) {
    if (error instanceof CofferdamError) return undefined
    throw error
  }
}

async function make(asked: AskedDrain, { terminal, link, flags, signal }: DrainContext): Promise<MadeRequest> {
  const { wanted, behind } = asked
  const isNamed = flags.requester !== undefined
  const made = await makeRequestInOwnName({ api: link.api, signal }, asked, { isNamed })
  const { metadata, spec } = made.disruption
  const state = made.isJoined ? 'is already in progress and is followed' : 'created'
  terminal.note(`NodeDisruption ${metadata.name} ${state}`)
  for (const { request, state: ending } of behind) {
    terminal.note(
      `nodedisruption/${request} ${ending}: ${wanted.nodeName} is drained again when nothing is held for it`,
    )
  }
  if (made.isJoined && spec.intent !== wanted.intent) {
    terminal.note(
      `${terminal.paint('yellow', 'warning:')} the request is for intent ${spec.intent}, and that does not change`,
    )
  }
  return made
}

async function warnWithoutOperator({ flags, terminal, signal, link, ports }: DrainContext): Promise<void> {
  await noteWithoutOperator({
    api: link.api,
    leaseNamespace: flags.leaseNamespace,
    clock: ports.clock,
    signal,
    terminal,
  })
}
