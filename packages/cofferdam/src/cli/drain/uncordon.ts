import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  type DisruptionAnswer,
  explainDisruption,
  isOver,
} from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { closingOf, closingText, cordonWriterOf, isCordoned } from '../../shared/closed-node.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { Paint } from '../../shared/paint.ts'
import { addNodeFlags, chooseNodes, type NodeFlags, parseNodeNames } from '../choose-nodes.ts'
import { type CliCommand, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { durationOption, parseWaitFlag } from '../parse-duration-flag.ts'
import { type Followed, followDisruptions } from './drain-follow.ts'
import { obstaclesShown, obstacleText } from './drain-progress.ts'
import { findUnderWay } from './drain-request.ts'
import { noteWithoutOperator } from './note-without-operator.ts'

interface UncordonFlags extends NodeFlags {
  readonly force?: boolean
  /** 0: no limit. */
  readonly timeout: number
  readonly wait: boolean
  readonly leaseNamespace: string
}

/** `given-back`: nothing is held for the node any more. `under-way`: it was asked for, and not waited for to the end. */
export type UncordonOutcome = 'given-back' | 'not-cordoned' | 'under-way' | 'timed-out' | 'foreign-cordon'

export interface UncordonResult {
  readonly node: string
  readonly outcome: UncordonOutcome
  readonly explanation: string
  /** The request that was ended, as it was seen last. */
  readonly disruption?: DisruptionAnswer
  readonly wayOut?: string
  /** When the request was seen last, where it is not over. */
  readonly observedAt?: string
}

/** Of several nodes. */
export interface UncordonBatch {
  readonly nodes: readonly UncordonResult[]
}

const codes: Record<UncordonOutcome, ExitCode> = {
  'given-back': exitCodes.done,
  'not-cordoned': exitCodes.done,
  'under-way': exitCodes.done,
  'timed-out': exitCodes.timedOut,
  'foreign-cordon': exitCodes.blocked,
}

export function createUncordonCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
}): CliCommand<UncordonFlags, UncordonResult | UncordonBatch> {
  return {
    name: 'uncordon',
    summary: 'release nodes without a reboot, or cancel their drains',
    description:
      'Releases nodes: ends their requests and waits until nothing is held for them, saying what for. Before a node is drained this cancels the request; the operator then uncordons what it cordoned. Without a request it does what kubectl uncordon does. A node that another user had cordoned before is uncordoned with --force only. Exit code 3: another user cordoned it; 4: timed out, and it continues by itself.',
    examples: [
      { line: 'cofferdam uncordon worker-a1', says: 'cancel its drain' },
      { line: 'cofferdam uncordon -l topology.kubernetes.io/zone=zone-a', says: 'release the nodes of a zone' },
      { line: 'cofferdam uncordon worker-a1 --no-wait', says: 'do not wait until pods and storage have recovered' },
    ],

    configure(command) {
      addNodeFlags(command, 'release')
        .option('--force', 'uncordon it even if another user cordoned it')
        .addOption(
          durationOption('--timeout <duration>', 'how long to wait; 0 for no limit', {
            ms: 600_000,
            parse: parseWaitFlag,
          }),
        )
        .option('--no-wait', 'do not wait until nothing is held for it')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run(invocation) {
      const { args, flags, signal } = invocation
      const names = parseNodeNames(args, flags)
      const link = await ports.connect(flags)
      try {
        const chosen = await chooseNodes(names, flags, { api: link.api, signal })
        const context = { ...invocation, link, clock: ports.clock, isOne: chosen.isOne }
        const results = await uncordonAll(chosen.nodes, context)
        const [only] = results
        return chosen.isOne && only !== undefined ? only : { nodes: results }
      } finally {
        await link.close()
      }
    },

    render(answer, paint) {
      return 'nodes' in answer
        ? answer.nodes.map((each) => renderOne(each, paint)).join('\n')
        : renderOne(answer, paint)
    },
    exitCode(answer) {
      const all = ('nodes' in answer ? answer.nodes : [answer]).map(({ outcome }) => codes[outcome])
      if (all.includes(exitCodes.blocked)) return exitCodes.blocked
      return all.includes(exitCodes.timedOut) ? exitCodes.timedOut : exitCodes.done
    },
  }
}

const words: Record<UncordonOutcome, readonly ['green' | 'yellow' | 'red', string]> = {
  'given-back': ['green', 'released'],
  'not-cordoned': ['green', 'not cordoned'],
  'under-way': ['yellow', 'under way'],
  'timed-out': ['yellow', 'not done yet'],
  'foreign-cordon': ['red', 'still cordoned'],
}

function renderOne(result: UncordonResult, paint: Paint): string {
  const { node, outcome, explanation, disruption, wayOut, observedAt } = result
  const [colour, word] = words[outcome]
  const waits = outcome === 'timed-out' && disruption !== undefined ? obstaclesShown(disruption) : []
  return [
    `${paint('bold', `node/${node}`)}  ${paint(colour, word)}: ${explanation}`,
    ...(disruption === undefined ? [] : [`  request   nodedisruption/${disruption.request}`]),
    ...waits.map((each) => `  ${obstacleText(each, { paint, at: observedAt ?? '' })}`),
    ...(wayOut === undefined || waits.length > 0 ? [] : [`  way out   ${wayOut}`]),
  ].join('\n')
}

interface UncordonContext extends Invocation<UncordonFlags> {
  readonly link: ClusterLink
  readonly clock: Clock
  readonly isOne: boolean
}

/** Where the kind is not installed there is no request. */
async function underWay({ api }: ClusterLink, signal: AbortSignal): Promise<ReadonlyMap<string, NodeDisruption>> {
  try {
    return await findUnderWay({ api, signal })
  } catch (error) {
    if (hasCode(error, 'OBJECT_NOT_FOUND')) return new Map()
    throw error
  }
}

/** Ends all drains first, then waits for all of them together: one that takes long keeps no other node cordoned. */
async function uncordonAll(nodes: readonly Node[], context: UncordonContext): Promise<readonly UncordonResult[]> {
  const { flags, terminal, link, clock, signal, isOne } = context
  const requests = await underWay(link, signal)
  const done = new Map<string, UncordonResult>()
  const ending: NodeDisruption[] = []
  for (const node of nodes) {
    const { name } = node.metadata
    const request = requests.get(name)
    const begun = await (request === undefined ? uncordonPlain(node, context) : endDrain(node, request, context))
    if ('outcome' in begun) done.set(name, begun)
    else ending.push(begun)
  }
  if (ending.length > 0) {
    await noteWithoutOperator({ api: link.api, leaseNamespace: flags.leaseNamespace, clock, signal, terminal })
    const timeoutMs = flags.timeout
    const common = { api: link.api, clock, terminal, signal, timeoutMs, isOne, isReached: isOver, isAfter: true }
    for (const followed of await followDisruptions(ending, common)) {
      done.set(followed.answer.node, await released(followed, context))
    }
  }
  return nodes.flatMap(({ metadata }) => done.get(metadata.name) ?? [])
}

async function uncordonPlain(node: Node, context: UncordonContext): Promise<UncordonResult> {
  const { name } = node.metadata
  const others = closedByOthers(node)
  // What is lifted here is the cordon; a taint is taken away by the tool that set it.
  if (!isCordoned(node)) {
    const state = others === undefined ? 'It is schedulable' : `It is not cordoned, but ${others}`
    return { node: name, outcome: 'not-cordoned', explanation: `${state}, and it has no request.` }
  }
  const { manager } = cordonWriterOf(node)
  await uncordon(node, context)
  const by = manager === undefined ? '' : `, cordoned with ${manager},`
  const state = others === undefined ? 'takes new pods again' : `is uncordoned, but still ${others}`
  return { node: name, outcome: 'given-back', explanation: `It${by} ${state}.` }
}

/** Returns the request that is left to be waited for, or the answer where there is none. */
async function endDrain(
  node: Node,
  disruption: NodeDisruption,
  context: UncordonContext,
): Promise<UncordonResult | NodeDisruption> {
  const { flags, terminal, link, signal } = context
  const { name } = node.metadata
  const first = explainDisruption(disruption)
  const hasCordon = isCordoned(node)
  const isForeign =
    hasCordon && first.cordonedBy !== undefined && first.cordonedBy !== `nodedisruption/${first.request}`
  if (isForeign && flags.force !== true) {
    return {
      node: name,
      outcome: 'foreign-cordon',
      explanation: `It was cordoned by ${first.cordonedBy} before nodedisruption/${first.request} drained it.`,
      disruption: first,
      wayOut: `--force uncordons it anyway; kubectl delete nodedisruption ${first.request} ends the request and leaves the cordon`,
    }
  }
  // A cordon that is lifted earlier is set again: only for a node that is reported as drained does lifting it end the drain.
  const isDrained = first.phase === 'Drained' || first.phase === 'Recovering'
  let ending = disruption
  if (!isDrained) {
    terminal.note(`nodedisruption/${first.request} is ${first.phase}, and is cancelled`)
    const { uid } = disruption.metadata
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    ending = await link.api.delete(nodeDisruptions, { name: first.request }, { ...preconditions, signal })
  }
  if (hasCordon && (isDrained || isForeign)) {
    await uncordon(node, context)
    terminal.note(`node/${name} is uncordoned`)
  }
  if (!flags.wait) {
    return { node: name, outcome: 'under-way', explanation: 'It is being released.', disruption: first }
  }
  terminal.note(`waiting until nothing is held for ${name} by nodedisruption/${first.request}`)
  return ending
}

async function released({ answer, ended }: Followed, context: UncordonContext): Promise<UncordonResult> {
  const { node } = answer
  if (ended === 'reached' || ended === 'gone') {
    return { node, ...(await afterwards(node, context)), disruption: answer }
  }
  const [blocker] = obstaclesShown(answer)
  return {
    node,
    outcome: 'timed-out',
    explanation: `${answer.explanation} It continues by itself.`,
    disruption: answer,
    observedAt: timestamp(context.clock),
    ...(blocker === undefined ? {} : { wayOut: `${blocker.object} (${blocker.reason}): ${blocker.wayOut}` }),
  }
}

/** The operator lifts its own cordon only; another one stands, and whoever set it may want it. */
async function afterwards(
  name: string,
  { link, signal }: UncordonContext,
): Promise<Pick<UncordonResult, 'outcome' | 'explanation' | 'wayOut'>> {
  const node = await ifAllowed(`node ${name}`, [], () => link.api.get(nodes, { name }, { signal }))
  if (node === undefined || !isCordoned(node)) {
    const others = node === undefined ? undefined : closedByOthers(node)
    const state = others === undefined ? '' : ` It is still ${others}.`
    return { outcome: 'given-back', explanation: `Nothing is held for it.${state}` }
  }
  const { manager = 'another user' } = cordonWriterOf(node)
  const explanation = `Nothing is held for it; ${manager} cordoned it, and that stays.`
  return { outcome: 'foreign-cordon', explanation, wayOut: `cofferdam uncordon ${name}, once more, uncordons it` }
}

/** What keeps the node closed once it is not cordoned: `closed by taint karpenter.sh/disrupted (Karpenter)`. */
function closedByOthers(node: Node): string | undefined {
  const closing = closingOf(node)
  const isMore = closing?.taint !== undefined || closing?.unreadable !== undefined
  return isMore ? closingText({ ...closing, isCordoned: false }) : undefined
}

async function uncordon({ metadata: { name } }: Node, { link, signal }: UncordonContext): Promise<void> {
  const patch = { type: 'merge', body: { spec: { unschedulable: null } } } as const
  await link.api.patch(nodes, { name }, patch, { fieldManager: 'cofferdam', signal })
}
