import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from '../../../image/parts/run.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { runKubectl } from '../control-plane/run-kubectl.ts'
import { startControlPlane } from '../control-plane/start-control-plane.ts'
import { findKubernetes } from '../parts/find-kubernetes.ts'
import { findNode } from '../parts/find-node.ts'
import { type Journal, openJournal } from '../processes/journal.ts'
import { type LabFolder, openLabFolder } from '../processes/lab-folder.ts'
import { type ProgramEnd, startProgram } from '../processes/run-program.ts'
import { packLayout, packPause } from './import-images.ts'
import { startKubeProxy } from './start-kube-proxy.ts'
import { type RealNode, startRealNode } from './start-real-node.ts'

/** Addresses that are for examples alone; the network of the lab leads nowhere else. */
const serverAddress = '192.0.2.1'
const places: Readonly<Record<string, { readonly address: string; readonly podSubnet: string }>> = {
  'node-a': { address: '192.0.2.11', podSubnet: '198.51.100.0/25' },
  'node-b': { address: '192.0.2.12', podSubnet: '198.51.100.128/25' },
}
/** As the API server has it. */
const serviceRange = '10.0.0.0/24'
const proxyUser = 'system:kube-proxy'
const userOf = (node: string) => `system:node:${node}`

/** A real Kubernetes with two real nodes. */
export interface RealLab {
  readonly plane: ControlPlane
  readonly journal: Journal
  readonly folder: LabFolder
  readonly nodes: readonly RealNode[]
  /** Waits until it holds; fails the story when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  /** Runs kubectl as an administrator; a refusal fails the story. */
  kubectl(...args: readonly string[]): Promise<ProgramEnd>
  /** The same for objects. */
  apply(...objects: readonly object[]): Promise<unknown>
  /** Runs our own command line as an administrator does. */
  cofferdam(...args: readonly string[]): Promise<ProgramEnd>
  close(): Promise<void>
}

export interface RealLabOptions {
  /** Layout of the operator's image. */
  readonly layout: string
  /** Process outside of the namespaces that ends with the run. */
  readonly owner: number
}

/** Opens the lab: both nodes Ready, with the operator's image, and no operator yet. */
export async function openRealLab(name: string, options: RealLabOptions): Promise<RealLab> {
  const folder = await openLabFolder(name)
  const journal = openJournal(join(folder.logs, 'journal.log'))
  // The folder stays until its namespaces end: volumes of pods that still run are mounted in it.
  const endings: (() => unknown)[] = []
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end()
  }
  try {
    const { plane, nodes } = await start({ folder, journal, endings, options })
    const lab = tools({ plane, nodes, folder, journal, close })
    for (const { name: node } of nodes) await lab.kubectl('wait', '--for=create', `node/${node}`, '--timeout=60s')
    await lab.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=60s')
    journal.tell('lab', 'all nodes are Ready')
    return lab
  } catch (error) {
    journal.tell('lab', `could not be opened: ${error instanceof Error ? error.message : String(error)}`)
    await close()
    throw error
  }
}

interface Opening {
  readonly folder: LabFolder
  readonly journal: Journal
  readonly endings: (() => unknown)[]
  readonly options: RealLabOptions
}

async function start({ folder, journal, endings, options }: Opening) {
  const say = (line: string) => journal.tell('lab', line)
  const [kubernetes, parts] = [await findKubernetes(say), await findNode(say)]
  await connect()
  const images = [
    await packPause(parts.pause, folder.path),
    await packLayout(options.layout, 'docker.io/library/cofferdam'),
  ]
  const users = Object.keys(places).map((node) => ({ name: userOf(node), groups: ['system:nodes'] }))
  const plane = await startControlPlane({
    parts: kubernetes,
    folder,
    journal,
    forRealNodes: { address: serverAddress, users: [...users, { name: proxyUser, groups: [] }] },
  })
  endings.push(() => plane.close())
  const [first = ''] = Object.keys(places)
  const proxy = { node: first, kubeconfig: await plane.kubeconfigFor(proxyUser), parts, folder, journal }
  const kubeProxy = await startKubeProxy(proxy)
  endings.push(() => kubeProxy.stop())
  const nodes: RealNode[] = []
  for (const [name, place] of Object.entries(places)) {
    const kubeconfig = await plane.kubeconfigFor(userOf(name))
    const node = await startRealNode({
      name,
      ...place,
      kubeconfig,
      images,
      parts,
      folder,
      journal,
      owner: options.owner,
    })
    endings.push(() => node.stop())
    nodes.push(node)
  }
  return { plane, nodes }
}

/** One bridge that has the addresses of the API server and of all nodes. */
async function connect(): Promise<void> {
  const ip = (...words: readonly string[]) => run('ip', words)
  await ip('link', 'add', 'lab', 'type', 'bridge')
  for (const address of [serverAddress, ...Object.values(places).map((place) => place.address)])
    await ip('address', 'add', `${address}/24`, 'dev', 'lab')
  await ip('link', 'set', 'lab', 'up')
  // The kernel asks for a way to a Service before kube-proxy's rules send the packet to a pod.
  await ip('route', 'add', serviceRange, 'dev', 'lab')
}

function tools(lab: Pick<RealLab, 'plane' | 'nodes' | 'folder' | 'journal' | 'close'>): RealLab {
  const { plane, journal } = lab
  const kubectlWith = async (input: string, ...args: readonly string[]) => {
    const end = await runKubectl(plane, args, { input, timeoutMs: 120_000 })
    if (args[0] !== 'get') journal.tell('kubectl', `${args.join(' ')}: exit code ${end.code}`)
    if (end.code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${end.stderr || end.stdout}`)
    return end
  }
  return {
    ...lab,
    async until(what, holds, withinSeconds = 60) {
      const began = performance.now()
      while (!(await holds())) {
        if (performance.now() - began > withinSeconds * 1_000) throw new Error(`not within ${withinSeconds} s: ${what}`)
        await pause(250)
      }
      journal.tell('scenario', `${what} (after ${((performance.now() - began) / 1_000).toFixed(1)} s)`)
    },
    kubectl: (...args) => kubectlWith('', ...args),
    apply: (...items) => kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-'),
    cofferdam: (...args) =>
      startProgram([process.execPath, 'bin/cofferdam.js', ...args, '--kubeconfig', plane.kubeconfig], {
        onLine: (line) => journal.tell('cofferdam', line),
      }).ended,
  }
}
