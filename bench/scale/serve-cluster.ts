import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, pods, serviceAccounts } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { buildToolboxAccess } from '@cofferdam/product/deploy/access-manifests.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { recordNotes } from '@cofferdam/product/shared/record-notes.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { startHttpFace } from '@cofferdam/simulator/api-server/http/http-face.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { createToolboxExec } from '@cofferdam/simulator/cluster-file/ceph-toolbox.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { createSimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { playHour } from './day.ts'
import { type ClusterSize, fillCluster, placesOf, zoneOf } from './fill-cluster.ts'

/** What the server was asked for, but for leases: those are renewed whatever happens. */
export interface Traffic {
  readonly calls: number
  /** As method and path, in order. */
  readonly writes: readonly string[]
  /** That it sent. */
  readonly bytes: number
}

export type Question =
  | { readonly ask: 'traffic' }
  | { readonly ask: 'verdict' }
  | { readonly ask: 'drain'; readonly node: string }
  | { readonly ask: 'phase'; readonly node: string }
  | { readonly ask: 'hour'; readonly hour: number }

/** In a process of its own: the API server with all objects, and Ceph behind its toolbox. Tells its parent where it is, then answers. */
export async function serveCluster(size: ClusterSize): Promise<void> {
  const random = seededRandom(1)
  const server = new ApiServer({ clock: realClock, random })
  const api = server.as(clusterAdmin)
  const ceph = describeCeph(size)
  await fillCluster(api, size, ceph)
  const simulated = createSimulatedCeph({ api, clock: realClock, random }, buildCephDescription(ceph))
  const { namespace } = ceph
  await installOperator(server, { ceph: [namespace], longhorn: ['longhorn-system'] })
  for (const manifest of buildToolboxAccess({ namespace }) as readonly unknown[] as readonly KubeObject[])
    await api.create(typeOfObject(server.catalogue, manifest) as ResourceType, manifest)
  const { status } = (await api.createSubresource(serviceAccounts, operatorAccount, 'token', {
    spec: { expirationSeconds: 86_400 },
  })) as { status: { token: string } }
  endPodsThatGo(server)
  const traffic = countTraffic()
  const { port } = await startHttpFace({
    server,
    clock: realClock,
    port: 0,
    // Caches of Go list a kind in one answer, all kinds at once.
    slowReaders: { longestStallMs: 600_000, mostBytes: 8 * 1024 ** 3 },
    exec: createToolboxExec((asked) => (asked === namespace ? simulated.commands : undefined)),
  })
  process.send?.({ url: `http://127.0.0.1:${port}`, token: status.token })
  process.on('message', (question: Question) => void answer(question).then((said) => process.send?.(said)))
  process.on('disconnect', () => process.exit())

  async function answer(question: Question): Promise<unknown> {
    switch (question.ask) {
      case 'traffic':
        return traffic()
      case 'verdict': {
        const { items } = await api.list(configMaps, { namespace })
        return items.some(({ metadata: { annotations: notes = {} } }) => hasHeardCeph(notes))
      }
      case 'drain':
        await api.create(nodeDisruptions, {
          apiVersion: 'cofferdam.io/v1alpha1',
          kind: 'NodeDisruption',
          metadata: { name: `of-${question.node}` },
          spec: { nodeName: question.node, requester: 'bench', reason: 'maintenance' },
        } as NodeDisruption)
        return true
      case 'phase':
        return (await api.get(nodeDisruptions, { name: `of-${question.node}` })).status?.phase ?? 'none'
      case 'hour':
        return playHour(api, size, question.hour)
    }
  }
}

/** What is decided while Ceph is silent is no verdict on it. */
function hasHeardCeph(notes: Readonly<Record<string, string>>): boolean {
  return notes[recordNotes.reason] !== undefined && notes[recordNotes.silentSince] === undefined
}

function describeCeph(size: ClusterSize) {
  const { ofOsds } = placesOf(size)
  const file = {
    name: 'large',
    zones: ['a', 'b', 'c'].map((name) => ({ name })),
    nodes: ofOsds.map((name, at) => ({ name, zone: zoneOf(at), roles: ['worker'] })),
    ceph: {
      osds: { perNode: size.osds / ofOsds.length, nodes: ofOsds },
      mons: 3,
      mgrs: 2,
      pools: Array.from({ length: 4 }, (_, at) => ({
        name: `pool-${at}`,
        failureDomain: 'zone',
        replicated: { size: 3, minSize: 2 },
        pgs: 2_048,
      })),
    },
  }
  const { ceph } = parseClusterFile(JSON.stringify(file), 'the benchmark')
  if (ceph === undefined) throw new Error('the benchmark has no Ceph')
  return ceph
}

/** The kubelet's part: a pod that is to go is gone at once. */
function endPodsThatGo(server: ApiServer): void {
  const api = server.as(clusterAdmin)
  server.observe('pods', ({ type, object }) => {
    const { namespace = '', name, deletionTimestamp } = object.metadata
    if (type === 'DELETED' || deletionTimestamp === undefined) return
    setImmediate(() => void api.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 }).catch(() => undefined))
  })
}

function countTraffic(): () => Traffic {
  let [calls, bytesOfClosed] = [0, 0]
  const writes: string[] = []
  const sockets = new Set<Socket>()
  subscribe('http.server.request.start', (message) => {
    const { request, socket } = message as { request: IncomingMessage; socket: Socket }
    if (!sockets.has(socket)) {
      sockets.add(socket)
      socket.on('close', () => {
        sockets.delete(socket)
        bytesOfClosed += socket.bytesWritten
      })
    }
    if (request.url?.includes('/leases') || request.url?.includes('/events')) return
    calls += 1
    if (request.method !== 'GET') writes.push(`${request.method} ${request.url}`)
  })
  return () => ({
    calls,
    writes,
    bytes: bytesOfClosed + [...sockets].reduce((sum, each) => sum + each.bytesWritten, 0),
  })
}
