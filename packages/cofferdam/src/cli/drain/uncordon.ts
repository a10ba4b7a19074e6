import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  type DisruptionAnswer,
  explainDisruption,
  isOver,
} from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { closingOf, closingText, cordonWriterOf, isCordoned } from '../../shared/closed-node.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { type CliCommand, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { findObject } from '../explain/find-object.ts'
import { parseWaitFlag } from '../parse-duration-flag.ts'
import { followDisruption } from './drain-follow.ts'
import { findUnderWay } from './drain-request.ts'

interface UncordonFlags {
  readonly force?: boolean
  readonly timeout: number
  readonly wait: boolean
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
}): CliCommand<UncordonFlags, UncordonResult> {
  return {
    name: 'uncordon',
    summary: 'release a node without a reboot, or cancel its drain',
    description:
      'Releases a node: ends its request and waits until nothing is held for it. Before the node is drained this cancels the request; the operator then uncordons what it cordoned. Without a request it does what kubectl uncordon does. A node that another user had cordoned before is uncordoned with --force only. Exit code 3: another user cordoned it; 4: timed out.',
    examples: [
      { line: 'cofferdam uncordon worker-a1', says: 'cancel its drain' },
      { line: 'cofferdam uncordon worker-a1 --no-wait', says: 'do not wait until pods and storage have recovered' },
    ],

    configure(command) {
      command
        .argument('<node>', 'the node to release')
        .option('--force', 'uncordon it even if another user cordoned it')
        .option('--timeout <duration>', 'how long to wait', parseWaitFlag, 600_000)
        .option('--no-wait', 'do not wait until nothing is held for it')
    },

    async run(invocation) {
      const { args, flags, signal } = invocation
      const link = await ports.connect(flags)
      try {
        const name = (args[0] ?? '').replace(/^(node|nodes|no)\//, '')
        const node = await findObject(nodes, { name }, { api: link.api, signal })
        const disruption = await underWay(link, name, signal)
        const context = { ...invocation, link, clock: ports.clock }
        return await (disruption === undefined ? uncordonPlain(node, context) : endDrain(node, disruption, context))
      } finally {
        await link.close()
      }
    },

    render({ node, outcome, explanation, disruption, wayOut }, paint) {
      const [colour, word] = {
        'given-back': ['green', 'released'],
        'not-cordoned': ['green', 'not cordoned'],
        'under-way': ['yellow', 'under way'],
        'timed-out': ['yellow', 'not done yet'],
        'foreign-cordon': ['red', 'still cordoned'],
      }[outcome] as ['green' | 'yellow' | 'red', string]
      return [
        `${paint('bold', `node/${node}`)}  ${paint(colour, word)}: ${explanation}`,
        ...(disruption === undefined ? [] : [`  request   nodedisruption/${disruption.request}`]),
        ...(wayOut === undefined ? [] : [`  way out   ${wayOut}`]),
      ].join('\n')
    },
    exitCode: ({ outcome }) => codes[outcome],
  }
}

interface UncordonContext extends Invocation<UncordonFlags> {
  readonly link: ClusterLink
  readonly clock: Clock
}

/** Where the kind is not installed there is no request. */
async function underWay({ api }: ClusterLink, name: string, signal: AbortSignal): Promise<NodeDisruption | undefined> {
  try {
    return (await findUnderWay({ api, signal }, name))[0]
  } catch (error) {
    if (hasCode(error, 'OBJECT_NOT_FOUND')) return undefined
    throw error
  }
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

async function endDrain(node: Node, disruption: NodeDisruption, context: UncordonContext): Promise<UncordonResult> {
  const { flags, terminal, link, clock, signal } = context
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
  if (!isDrained) {
    terminal.note(`nodedisruption/${first.request} is ${first.phase}, and is cancelled`)
    const { uid } = disruption.metadata
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    await link.api.delete(nodeDisruptions, { name: first.request }, { ...preconditions, signal })
  }
  if (hasCordon && (isDrained || isForeign)) await uncordon(node, context)
  if (!flags.wait) {
    return { node: name, outcome: 'under-way', explanation: 'It is being released.', disruption: first }
  }
  const { answer, ended } = await followDisruption(disruption, {
    api: link.api,
    clock,
    terminal,
    signal,
    timeoutMs: flags.timeout,
    isReached: isOver,
  })
  if (ended === 'reached' || ended === 'gone') {
    return { node: name, ...(await afterwards(name, context)), disruption: answer }
  }
  const [blocker] = answer.blockedBy
  return {
    node: name,
    outcome: 'timed-out',
    explanation: `${answer.explanation} It continues by itself.`,
    disruption: answer,
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
