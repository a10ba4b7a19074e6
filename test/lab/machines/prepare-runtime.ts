import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { disksAnnotation } from '@cofferdam/product/capabilities/osd-update/domain/growth-places.ts'
import { prepareApp } from '@cofferdam/product/capabilities/osd-update/domain/growth-snapshot.ts'
import { type PrepareState, statusMapName } from '@cofferdam/product/capabilities/osd-update/domain/prepare-status.ts'
import { errorText } from '@cofferdam/product/operator/log.ts'
import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { obey } from '../ceph/create-pools.ts'
import type { LabCeph } from '../ceph/lab-ceph.ts'
import type { Journal } from '../processes/journal.ts'

export interface PrepareRuntimeOptions {
  readonly ceph: Pick<LabCeph, 'commands' | 'addOsd'>
  readonly api: Pick<KubeApi, 'get' | 'patch' | 'create'>
  readonly namespace: string
  readonly journal: Journal
}

/**
 * What Rook's program does in prepare Jobs: makes OSDs of the new disks of its node, in a real Ceph, and leaves what it found
 * in the ConfigMap of the node.
 *
 * Guarantees: a disk becomes one OSD, however often its node is prepared.
 */
export function prepareRuntime({ ceph, api, namespace, journal }: PrepareRuntimeOptions): ContainerRuntime {
  const osdOn = new Map<string, Promise<number>>()

  async function prepare(node: string, isWanted: () => boolean): Promise<void> {
    await tell(node, 'orchestrating')
    const { metadata } = await api.get(nodes, { name: node })
    const disks = (metadata.annotations?.[disksAnnotation] ?? '').split(',').filter((disk) => disk !== '')
    for (const disk of disks) {
      const place = `${node}/${disk}`
      const isNew = !osdOn.has(place)
      const making = osdOn.get(place) ?? ceph.addOsd(node)
      osdOn.set(place, making)
      making.catch(() => osdOn.delete(place))
      const id = await making
      if (isNew) journal.tell(`osd.${id}`, `is made on ${disk} of ${node}`)
    }
    const made = await Promise.all(disks.map((disk) => osdOn.get(`${node}/${disk}`) as Promise<number>))
    const osds = await found(node, disks, made)
    if (isWanted()) await tell(node, 'completed', osds)
  }

  /** As Rook tells of them: those that were there before as well. */
  async function found(node: string, disks: readonly string[], made: readonly number[]): Promise<object[]> {
    const names = JSON.parse(await obey(ceph.commands, { prefix: 'osd crush ls', node })) as readonly string[]
    const there = names.map((name) => Number(name.slice('osd.'.length)))
    const find = async (id: number) => JSON.parse(await obey(ceph.commands, { prefix: 'osd find', id })) as Found
    const [neighbour] = there
    if (neighbour === undefined) throw new Error(`CRUSH has no OSD on ${node} that would tell where it stands`)
    const { crush_location: around } = await find(neighbour)
    const location = Object.entries(around).map(([type, name]) => `${type}=${name}`)
    return Promise.all(
      [...new Set([...there, ...made])].map(async (id) => ({
        id,
        cluster: 'ceph',
        uuid: (await find(id)).osd_fsid,
        'device-class': 'ssd',
        'lv-path': `/dev/${disks[made.indexOf(id)] ?? `osd-${id}`}`,
        'lv-mode': 'raw',
        location: location.join(' '),
        store: 'bluestore',
        encrypted: false,
      })),
    )
  }

  async function tell(node: string, status: PrepareState, osds: readonly object[] = []): Promise<void> {
    const text = JSON.stringify({ osds, status, 'pvc-backed-osd': false, message: '' })
    const name = statusMapName(node)
    try {
      await api.patch(configMaps, { namespace, name }, { type: 'merge', body: { data: { status: text } } })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      const labels = { app: 'rook-ceph-osd', status: 'provisioning', node }
      const metadata = { name, namespace, labels }
      await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { status: text } })
    }
  }

  return {
    start(pod) {
      if (!isPrepare(pod, namespace)) return undefined
      const node = pod.spec.nodeName ?? ''
      let isWanted = true
      const ended = prepare(node, () => isWanted).then(
        () => 0,
        (error) => {
          journal.tell(pod.metadata.name, errorText(error))
          return 1
        },
      )
      return {
        ready: Promise.resolve(),
        ended,
        async stop() {
          isWanted = false
          await ended
        },
        kill() {
          isWanted = false
        },
      }
    },
  }
}

interface Found {
  readonly osd_fsid: string
  readonly crush_location: Readonly<Record<string, string>>
}

function isPrepare(pod: Pod, namespace: string): boolean {
  const owner = controllerOf(pod)
  return pod.metadata.namespace === namespace && owner?.kind === 'Job' && owner.name.startsWith(`${prepareApp}-`)
}
