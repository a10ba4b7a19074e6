import { randomBytes } from 'node:crypto'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildEvent } from '@cofferdam/kubernetes/runtime/build-event.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { PageActions } from '../../../dashboard/server/action-desk.ts'
import type { CliCommand } from '../../command.ts'
import { createDrainCommand } from '../../drain/drain.ts'
import { findOpenRequests } from '../../drain/drain-request.ts'
import { createUncordonCommand } from '../../drain/uncordon.ts'
import { createLockCommand } from '../../lock/lock.ts'
import { createUnlockCommand } from '../../lock/unlock.ts'
import { runProgram } from '../../program.ts'
import { createTerminal } from '../../terminal.ts'
import type { DemoAction } from './demo-action.ts'
import { offerForBudget, offerForCeph, offerForNode, offerForOsd } from './offer-actions.ts'

export interface PageActionPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  /** How this program is called, for the commands that are shown. */
  readonly calledAs: string
}

/** What the buttons on the page of the demo do: the commands that they show, and an Event for the timeline. */
export function createPageActions(ports: PageActionPorts): PageActions {
  const run = createRunner(ports)
  return {
    // A secret: not from the stream of chance that a seed repeats.
    token: randomBytes(24).toString('base64url'),
    async offer(object, signal) {
      const offered = await offerActions(object, ports, signal)
      return offered.map(({ id, label, commands }) => ({ id, label, commands }))
    },
    async perform({ object, action }, signal) {
      const chosen = (await offerActions(object, ports, signal)).find(({ id }) => id === action)
      if (chosen === undefined) throw new Error(`${action} is not possible for ${object} now`)
      await performAction(chosen, { ...ports, run, signal })
    },
  }
}

async function offerActions(object: string, ports: PageActionPorts, signal: AbortSignal): Promise<DemoAction[]> {
  const { api, calledAs } = ports
  const [kind, ...place] = object.split('/')
  const [namespace = '', name = ''] = place
  switch (kind) {
    case 'node': {
      const [node, bound, requests] = await Promise.all([
        api.get(nodes, { name: namespace }, { signal }),
        api.list(pods, { fieldSelector: `spec.nodeName=${namespace}`, signal }),
        findOpenRequests({ api, signal }),
      ])
      const ids = new Set(bound.items.flatMap(({ metadata }) => metadata.labels?.['ceph-osd-id'] ?? []))
      const daemons = ids.size === 0 ? [] : (await osdDeployments(ports, signal)).filter((osd) => ids.has(idOf(osd)))
      return offerForNode(node, { osds: daemons, hasRequest: requests.has(namespace), calledAs })
    }
    case 'osd':
      return (await osdDeployments(ports, signal))
        .filter((osd) => osd.metadata.namespace === namespace && idOf(osd) === name)
        .flatMap(offerForOsd)
    case 'cephcluster':
      return offerForCeph(await api.get(cephClusters, { namespace, name }, { signal }))
    case 'pdb':
      return offerForBudget(await api.get(podDisruptionBudgets, { namespace, name }, { signal }), calledAs)
    default:
      return []
  }
}

async function osdDeployments({ api }: PageActionPorts, signal: AbortSignal) {
  return (await api.list(deployments, { labelSelector: 'app=rook-ceph-osd', signal })).items
}

function idOf({ metadata }: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }): string {
  return metadata.labels?.['ceph-osd-id'] ?? ''
}

type Run = (argv: readonly string[], signal: AbortSignal) => Promise<void>

async function performAction(
  { steps, commands, about }: DemoAction,
  { api, clock, random, run, signal }: PageActionPorts & { readonly run: Run; readonly signal: AbortSignal },
): Promise<void> {
  for (const step of steps) {
    if (step.do === 'run') await run(step.argv, signal)
    else await api.patch(step.type, step.key, { type: 'merge', body: step.body }, { signal })
  }
  const text = { type: 'Normal', reason: 'FromPage', note: commands.join(' && ') } as const
  await api.create(events, buildEvent(about, text, { clock, random, component: 'cofferdam-demo' }), { signal })
}

/** Runs the command itself, so that a button does what the command line does. What it prints of a failure is thrown. */
function createRunner({ api, clock, random }: PageActionPorts): Run {
  const connect = async () => ({ api, server: '', close: async () => {} })
  const ports = { connect, clock, random, requester: () => 'page' }
  const commands = [
    createDrainCommand(ports),
    createUncordonCommand(ports),
    createLockCommand(ports),
    createUnlockCommand(ports),
  ] as unknown as CliCommand[]
  return async (argv, signal) => {
    const printed = { out: '', err: '' }
    const terminal = createTerminal({
      stdout: { write: (text) => (printed.out += text) },
      stderr: { write: (text) => (printed.err += text) },
      environment: {},
    })
    const code = await runProgram({ argv: [...argv], commands, version: '', terminal, signal, debug: false })
    if (code === 0) return
    const said = (printed.err.trim() || printed.out.trim()).split('\n', 1)[0]
    throw new Error(said || `it ended with exit code ${code}`)
  }
}
