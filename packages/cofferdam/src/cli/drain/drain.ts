import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  type DisruptionAnswer,
  explainDisruption,
  isOver,
} from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { planWaves, waveNeedsOf } from '../../capabilities/drain-lock/view/plan-waves.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { chooseNodes, isControlPlane, parseNodeNames } from '../choose-nodes.ts'
import type { CliCommand, Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { type AskedOfNodes, addDrainFlags, askedBy, type DrainFlags, refuseFlags } from './drain-flags.ts'
import { type Followed, followDisruptions } from './drain-follow.ts'
import {
  type AskedDrain,
  askServer,
  findRefusals,
  plannedDrain,
  type Rehearsal,
  type RehearsePlace,
  rehearseWithStorage,
} from './drain-rehearse.ts'
import { findUnderWay, type MadeRequest, makeRequest, refuseToJoin } from './drain-request.ts'
import {
  type DrainAnswer,
  type DrainBatch,
  type DrainResult,
  drainExitCode,
  drainOutcome,
  isDrainSettled,
  nextSteps,
} from './drain-result.ts'
import { renderDrain, wavesText } from './drain-text.ts'
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
      'Creates a NodeDisruption for each node and shows its progress: pods annotated cofferdam.io/skip-drain stay for a short reboot, all others are evicted, and no application loses more than its budget allows, however many drains run. Nodes that can be away together go together, all others are queued, and follow when the nodes before them have been rebooted and are back. Pods that no controller creates again and pods with emptyDir data are evicted only with --force and --delete-emptydir-data. A request that is already in progress for a node and covers what is asked is followed instead of creating a second one. Exit code 0: every node is drained; 1: a request in progress does not cover what is asked; 3: blocked, refused or rejected; 4: timed out, and the request continues.',
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
        line: 'cofferdam drain worker-a1 --break-glass --reason "fire in rack 7" --for 30m',
        says: 'do not wait for the locks of others',
      },
    ],

    configure: addDrainFlags,

    async run(invocation) {
      const { args, flags, signal } = invocation
      refuseFlags(flags)
      const names = parseNodeNames(args, flags)
      const asked = askedBy(flags, { requester: ports.requester, nowMs: ports.clock.now() })
      const link = await ports.connect(flags)
      try {
        const chosen = await chooseNodes(names, flags, { api: link.api, signal })
        const drains = await askedDrains(chosen.nodes, asked, { api: link.api, signal })
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

interface NodeDrain extends AskedDrain {
  readonly isControlPlane: boolean
}

/** @throws CofferdamError REQUEST_DIFFERS before anything is changed, of any of the nodes */
async function askedDrains(
  nodes: readonly Node[],
  asked: AskedOfNodes,
  place: Pick<RehearsePlace, 'api' | 'signal'>,
): Promise<readonly NodeDrain[]> {
  const underWay = await findUnderWay(place)
  const drains = nodes.map((node): NodeDrain => {
    const nodeName = node.metadata.name
    return { wanted: { ...asked, nodeName }, standing: underWay.get(nodeName), isControlPlane: isControlPlane(node) }
  })
  for (const { wanted, standing } of drains) if (standing !== undefined) refuseToJoin(standing, wanted)
  return drains
}

function placeOf({ flags, signal, link, ports }: DrainContext): RehearsePlace {
  return { api: link.api, clock: ports.clock, signal, leaseNamespace: flags.leaseNamespace }
}

/** Rehearses the request that is under way, where there is one. */
async function rehearseAll(drains: readonly NodeDrain[], context: DrainContext): Promise<DrainBatch> {
  const place = placeOf(context)
  const observedAt = timestamp(place.clock)
  const rehearsed = await rehearseWithStorage(drains, place)
  const answers: DrainAnswer[] = []
  for (const rehearsal of rehearsed) {
    const planned = plannedDrain(rehearsal, observedAt)
    const isAsked = context.flags.dryRun === 'server'
    answers.push(isAsked ? { ...planned, server: await askServer(rehearsal, planned.plan, place) } : planned)
  }
  const waves = wavesOf(drains, rehearsed)
  const order = waves.flat()
  const inOrder = answers.toSorted((a, b) => order.indexOf(nodeOf(a)) - order.indexOf(nodeOf(b)))
  return { waves, drains: inOrder, notRequested: [], observedAt }
}

function nodeOf(answer: DrainAnswer): string {
  return 'plan' in answer ? answer.plan.node : answer.disruption.node
}

function wavesOf(drains: readonly NodeDrain[], rehearsed: readonly Rehearsal[]): DrainBatch['waves'] {
  return planWaves(
    rehearsed.map(({ snapshot }, index) => waveNeedsOf(snapshot, drains[index]?.isControlPlane === true)),
  )
}

async function drainAll(drains: readonly NodeDrain[], context: DrainContext): Promise<DrainBatch> {
  const place = placeOf(context)
  const refusals = await findRefusals(drains, place)
  const observedAt = timestamp(place.clock)
  if (refusals.length > 0) return { waves: [], drains: refusals, notRequested: [], observedAt }
  const waves = context.isOne ? drains.map(({ wanted }) => [wanted.nodeName]) : await findWaves(drains, context)
  announce(waves, context)
  const order = waves.flat()
  const inOrder = drains.toSorted((a, b) => order.indexOf(a.wanted.nodeName) - order.indexOf(b.wanted.nodeName))
  const { results, notRequested } = await new DrainRun(inOrder, context).end()
  return { waves, drains: results, notRequested, observedAt: timestamp(place.clock) }
}

/** Without the right to read what decides it, nodes are asked for as they were named; the operator queues them all the same. */
async function findWaves(drains: readonly NodeDrain[], context: DrainContext): Promise<DrainBatch['waves']> {
  try {
    return wavesOf(drains, await rehearseWithStorage(drains, placeOf(context)))
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error
    const needs = drains.map(({ wanted: { nodeName: node }, ...each }) => ({ ...each, node, claims: [], leaves: [] }))
    return planWaves(needs)
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

/**
 * Makes the requests and follows them. Nothing in the cluster keeps two nodes of the control plane from being away together, so
 * beside other nodes the next is asked for only when all others are drained and the one before is back.
 */
class DrainRun {
  readonly #context: DrainContext
  readonly #made = new Map<string, MadeRequest>()
  readonly #atOnce: readonly NodeDrain[]
  readonly #controlPlane: readonly string[]
  #oneByOne: readonly NodeDrain[]

  constructor(drains: readonly NodeDrain[], context: DrainContext) {
    const control = drains.filter((each) => each.isControlPlane)
    const held = drains.length === 1 ? [] : control.filter(({ standing }) => standing === undefined)
    this.#context = context
    this.#controlPlane = control.map(({ wanted }) => wanted.nodeName)
    this.#oneByOne = held
    this.#atOnce = drains.filter((each) => !held.includes(each))
  }

  async end(): Promise<{ readonly results: readonly DrainResult[]; readonly notRequested: readonly string[] }> {
    const { flags, terminal, signal, link, ports, isOne } = this.#context
    const { clock } = ports
    const requests: NodeDisruption[] = []
    for (const each of this.#atOnce) requests.push(await this.#make(each))
    await warnWithoutOperator(this.#context)
    if (!flags.wait) {
      requests.push(...((await this.#makeNext(requests)) ?? []))
      return this.#conclude(requests.map((each) => ({ answer: explainDisruption(each), ended: 'reached' })))
    }
    const startMs = clock.now()
    const isQueued = ({ phase }: DisruptionAnswer) => phase === 'Pending' || phase === 'Waiting'
    const followed = await followDisruptions(requests, {
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
      ...(this.#oneByOne.length === 0 ? {} : { makeMore: (seen) => this.#makeNext(seen) }),
      isPatient: flags.failIfBlocked !== true,
    })
    return this.#conclude(followed)
  }

  async #make({ wanted, standing }: NodeDrain): Promise<NodeDisruption> {
    const { terminal, link, signal } = this.#context
    const made = await makeRequest({ api: link.api, signal }, wanted, standing)
    this.#made.set(wanted.nodeName, made)
    const { metadata, spec } = made.disruption
    const state = made.isJoined ? 'is already in progress and is followed' : 'created'
    terminal.note(`NodeDisruption ${metadata.name} ${state}`)
    if (made.isJoined && spec.intent !== wanted.intent) {
      terminal.note(
        `${terminal.paint('yellow', 'warning:')} the request is for intent ${spec.intent}, and that does not change`,
      )
    }
    return made.disruption
  }

  /** `seen`: every request there is. */
  async #makeNext(seen: readonly NodeDisruption[]): Promise<readonly NodeDisruption[] | undefined> {
    const [next, ...rest] = this.#oneByOne
    if (next === undefined) return undefined
    const answers = seen.map(explainDisruption)
    const isOut = answers.some((each) => this.#controlPlane.includes(each.node) && !isOver(each))
    const isBusy = answers.some(
      (each) => this.#made.get(each.node)?.disruption.metadata.name === each.request && !isDrainSettled(each),
    )
    if (isOut || isBusy) return []
    this.#oneByOne = rest
    return [await this.#make(next)]
  }

  #conclude(followed: readonly Followed[]) {
    const { flags, ports } = this.#context
    const observedAt = timestamp(ports.clock)
    const results = followed.map((each): DrainResult => {
      const { answer } = each
      const outcome = flags.wait ? drainOutcome(each) : 'requested'
      const isJoined = this.#made.get(answer.node)?.isJoined === true
      return { outcome, isJoined, disruption: answer, observedAt, next: nextSteps(outcome, answer) }
    })
    return { results, notRequested: this.#oneByOne.map(({ wanted }) => wanted.nodeName) }
  }
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
