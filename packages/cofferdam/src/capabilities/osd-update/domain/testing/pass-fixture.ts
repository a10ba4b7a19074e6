import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { buildOsdDeployment } from '../build-osd-deployment.ts'
import type { UpdatePassSnapshot } from '../pass-snapshot.ts'
import type { OsdUpdateSnapshot } from '../snapshot.ts'
import type { UpdateStep } from '../steps.ts'
import { storedOf } from '../stored-update.ts'
import { type UpdateFixture, updateSnapshot } from './update-fixture.ts'

export interface PassFixture extends Partial<Omit<UpdatePassSnapshot, 'seen'>> {
  readonly world?: UpdateFixture
  /** What of `world` is different. */
  readonly seen?: Partial<OsdUpdateSnapshot>
}

export const cephCluster = (image = 'ceph:new'): CephCluster => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-1', generation: 1 },
  spec: { cephVersion: { image } },
})

export function osdDeployment(id: number, image = 'ceph:old'): Deployment {
  const { metadata, ...made } = buildOsdDeployment(cephCluster(image), {
    id,
    node: 'node-a',
    location: { host: 'node-a' },
  })
  return { ...made, metadata: { ...metadata, labels: { ...metadata.labels, 'ceph-version': '19.2.3-0' } } }
}

export const osdPod = (id: number): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'rook-ceph', name: `osd-${id}`, uid: `pod-${id}` },
  spec: { containers: [] },
})

/** Osd 0 to 5 run the old image, Ceph was asked for its map, there is no ledger and no record. */
export function passSnapshot({ world = {}, seen = {}, ...given }: PassFixture = {}): UpdatePassSnapshot {
  const ids = [0, 1, 2, 3, 4, 5]
  const snapshot = { ...updateSnapshot(world), ...seen }
  return {
    seen: snapshot,
    cluster: cephCluster(),
    deployments: new Map(ids.map((id) => [id, osdDeployment(id)])),
    oldPods: new Map(ids.map((id) => [id, [osdPod(id)]])),
    removable: [],
    problems: [],
    stored: storedOf(undefined, 1),
    isClaimHeld: false,
    isStorageHeld: true,
    ...given,
    heard: { hasMap: true, ...given.heard },
  }
}

/** `ask map`, `write record`, `evict` ... */
export function wordsOf(steps: readonly UpdateStep[]): string[] {
  return steps.map((step) =>
    step.do === 'evict' ? step.do : `${step.do} ${String((step as unknown as Record<string, unknown>)[step.do])}`,
  )
}
