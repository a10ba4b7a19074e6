import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { namespace, openUpdateFixture, type UpdateFixture, type UpdateFixtureOptions } from './osd-update-fixture.ts'
import { isOsd, osdOf } from './osd-update-oracle.ts'

export const label = 'ceph.rook.io/do-not-reconcile'

export interface PacedFixture extends UpdateFixture {
  /** `0: cofferdam-pace`, of OSDs that have the label. */
  labels(): string[]
  allHeld(): string[]
  /** Nothing is restarting, and nobody holds the storage. */
  isOver(): boolean
  setLabel(osd: number, value: string | null): Promise<void>
  scaleRook(replicas: number): Promise<void>
  /** OSDs that Rook may change. */
  open(): number[]
}

/** Rook's operator updates OSDs, and Cofferdam is to pace it. No operator of Cofferdam runs yet. */
export async function openPacedFixture(options: UpdateFixtureOptions = {}): Promise<PacedFixture> {
  const fixture = await openUpdateFixture({
    isBesideRook: true,
    rookUpdates: true,
    ...options,
    annotations: { 'cofferdam.io/updates': 'pace', 'cofferdam.io/update-max-in-parallel': '4', ...options.annotations },
  })
  const osds = () =>
    [...fixture.views.of(deployments).values()]
      .filter((one) => isOsd(one, namespace))
      .sort((a, b) => osdOf(a) - osdOf(b))
  const merge = (name: string, body: object) =>
    fixture.api.patch(deployments, { namespace, name }, { type: 'merge', body: body as never })
  return {
    ...fixture,
    labels: () =>
      osds().flatMap((one) =>
        one.metadata.labels?.[label] === undefined ? [] : [`${osdOf(one)}: ${one.metadata.labels[label]}`],
      ),
    allHeld: () => fixture.osdIds().map((osd) => `${osd}: cofferdam-pace`),
    isOver: () => fixture.oracle.onTheWay().length === 0 && fixture.holders().length === 0,
    async setLabel(osd, value) {
      await merge(`rook-ceph-osd-${osd}`, { metadata: { labels: { [label]: value } } })
    },
    async scaleRook(replicas) {
      await merge('rook-ceph-operator', { spec: { replicas } })
    },
    open: () =>
      osds()
        .filter((one) => one.metadata.labels?.[label] === undefined)
        .map(osdOf),
  }
}
