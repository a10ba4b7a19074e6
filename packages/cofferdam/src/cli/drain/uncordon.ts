import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { hasCode } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { isOver } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { closingOf, closingText, cordonWriterOf, isCordoned } from '../../shared/closed-node.ts'
import { groupedBy } from '../../shared/grouped-by.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { addNodeFlags, chooseNodes, type NodeFlags, parseNodeNames } from '../choose-nodes.ts'
import type { CliCommand, Invocation } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { durationOption, parseWaitFlag } from '../parse-duration-flag.ts'
import { type Followed, followDisruptions } from './drain-follow.ts'
import { obstaclesShown } from './drain-progress.ts'
import { findOpenRequests } from './drain-request.ts'
import { type EndedDrains, endDrains, uncordonNode } from './end-drains.ts'
import { noteWithoutOperator } from './note-without-operator.ts'
import {
  endedRequests,
  renderUncordon,
  type UncordonBatch,
  type UncordonResult,
  uncordonExitCode,
} from './uncordon-result.ts'

interface UncordonFlags extends NodeFlags {
  readonly force?: boolean
  /** 0: no limit. */
  readonly timeout: number
  readonly wait: boolean
  readonly leaseNamespace: string
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

    render: renderUncordon,
    exitCode: uncordonExitCode,
  }
}

interface UncordonContext extends Invocation<UncordonFlags> {
  readonly link: ClusterLink
  readonly clock: Clock
  readonly isOne: boolean
}

/** Where the kind is not installed there is no request. */
async function openRequests(
  { api }: ClusterLink,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly NodeDisruption[]>> {
  try {
    return await findOpenRequests({ api, signal })
  } catch (error) {
    if (hasCode(error, 'OBJECT_NOT_FOUND')) return new Map()
    throw error
  }
}

/** Ends all drains first, then waits for all of them together: one that takes long keeps no other node cordoned. */
async function uncordonAll(nodes: readonly Node[], context: UncordonContext): Promise<readonly UncordonResult[]> {
  const { flags, terminal, link, clock, signal, isOne } = context
  const requests = await openRequests(link, signal)
  const done = new Map<string, UncordonResult>()
  const ending = new Map<string, EndedDrains>()
  for (const node of nodes) {
    const { name } = node.metadata
    const open = requests.get(name) ?? []
    const begun = await (open.length === 0 ? uncordonPlain(node, context) : endDrains(node, open, context))
    if ('outcome' in begun) done.set(name, begun)
    else ending.set(name, begun)
  }
  if (ending.size > 0) {
    await noteWithoutOperator({ api: link.api, leaseNamespace: flags.leaseNamespace, clock, signal, terminal })
    const timeoutMs = flags.timeout
    const common = { api: link.api, clock, terminal, signal, timeoutMs, isOne, isReached: isOver, isAfter: true }
    const all = [...ending.values()].flatMap(({ requests: ended }) => ended)
    const followed = groupedBy(await followDisruptions(all, common), ({ answer }) => answer.node)
    for (const [name, { asked }] of ending) {
      done.set(name, { ...(await released(name, followed.get(name) ?? [], context)), ...asked })
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
  await uncordonNode(node, context)
  const by = manager === undefined ? '' : `, cordoned with ${manager},`
  const state = others === undefined ? 'takes new pods again' : `is uncordoned, but still ${others}`
  return { node: name, outcome: 'given-back', explanation: `It${by} ${state}.` }
}

/** A node is released when all of its requests have ended. */
async function released(
  node: string,
  followed: readonly Followed[],
  context: UncordonContext,
): Promise<UncordonResult> {
  const late = followed.find(({ ended }) => ended !== 'reached' && ended !== 'gone')
  const answers = followed.map(({ answer }) => answer)
  if (late === undefined) return { node, ...(await afterwards(node, context)), ...endedRequests(answers) }
  const { answer } = late
  const [blocker] = obstaclesShown(answer)
  return {
    node,
    outcome: 'timed-out',
    explanation: `${answer.explanation} It continues by itself.`,
    ...endedRequests([answer, ...answers.filter((each) => each !== answer)]),
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
