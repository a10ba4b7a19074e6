import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { configMaps, deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { osdImage } from '@cofferdam/product/capabilities/osd-update/domain/osd-deployment.ts'
import { updateStartedAnnotation } from '@cofferdam/product/capabilities/osd-update/domain/update-mark.ts'
import { updateRecordName } from '@cofferdam/product/capabilities/osd-update/domain/update-record.ts'
import type { OsdUpdatePlan } from '@cofferdam/product/cli/plan/plan-osd-update-text.ts'
import { recordNotes } from '@cofferdam/product/shared/record-notes.ts'
import { isActive } from '@cofferdam/simulator/world/pod-facts.ts'
import { obey } from '../ceph/create-pools.ts'
import type { Lab } from '../lab.ts'

const cluster = 'rook-ceph'

/** What is told of an update, in the words of the operator. */
export interface ToldUpdate {
  readonly reason: string | undefined
  readonly explanation: string
}

/** What a story of OSD updates does and sees, as an administrator would. */
export function updateScenario(lab: Lab) {
  const { namespace } = lab
  const osdDeployments = () =>
    [...lab.views.of(deployments).values()]
      .filter(({ metadata }) => metadata.labels?.['app'] === 'rook-ceph-osd')
      .sort((a, b) => osdOf(a) - osdOf(b))
  const change = (patch: object) =>
    lab.kubectl('patch', 'cephcluster', cluster, '-n', namespace, '--type=merge', '-p', JSON.stringify(patch))

  async function told(): Promise<ToldUpdate> {
    try {
      const { metadata } = await lab.api.get(configMaps, { namespace, name: updateRecordName({ name: cluster }) })
      const notes = metadata.annotations ?? {}
      return { reason: notes[recordNotes.reason], explanation: notes[recordNotes.explanation] ?? '' }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return { reason: undefined, explanation: '' }
      throw error
    }
  }

  /** Annotations with the prefix left out; undefined takes one away. */
  const annotate = (notes: Readonly<Record<string, string | undefined>>) =>
    change({
      metadata: {
        annotations: Object.fromEntries(
          Object.entries(notes).map(([note, value]) => [`cofferdam.io/${note}`, value ?? null]),
        ),
      },
    })

  const osdsOf = (image: string) => osdDeployments().filter((deployment) => osdImage(deployment) === image)

  return {
    told,
    annotate,
    /** Rook's service account is there wherever Rook was, and its program is in an image of its own. */
    async allowGrowth(): Promise<void> {
      await lab.kubectl('create', 'serviceaccount', 'rook-ceph-osd', '-n', namespace)
      await lab.growWith('registry.example/rook/ceph:v1.18.8')
    },
    /** Mons are not updated in the lab. */
    wantImage: (image: string) =>
      change({
        metadata: { annotations: { 'cofferdam.io/update-mons-first': 'false' } },
        spec: { cephVersion: { image } },
      }),
    /** Ids of OSDs whose Deployments have this image. */
    osdsWith: (image: string) => osdsOf(image).map(osdOf),
    async isThrough(image: string): Promise<boolean> {
      return osdsOf(image).length === osdDeployments().length && (await told()).reason === 'OsdsUpToDate'
    },
    async plan(): Promise<OsdUpdatePlan & { readonly text: string }> {
      const { conf = '', name = '', keyring = '' } = lab.ceph.operator
      const ceph = ['--ceph-conf', conf, '--ceph-name', name, '--ceph-keyring', keyring]
      const ask = (...more: string[]) => lab.cofferdam('plan', 'osd-update', '-n', namespace, ...ceph, ...more).ended
      const [json, text] = [await ask('-o', 'json'), await ask()]
      return { ...(JSON.parse(json.stdout) as OsdUpdatePlan), text: text.stdout }
    },
    /** Of every OSD: when it came up last, as Ceph's map says, and the pod that it has. */
    async lives(): Promise<
      ReadonlyMap<number, { readonly upFrom: number; readonly pod: string; readonly isUp: boolean }>
    > {
      const { osds } = JSON.parse(await obey(lab.ceph.commands, { prefix: 'osd dump' })) as {
        osds: readonly { osd: number; up: number; up_from: number }[]
      }
      const podOf = (osd: number) =>
        [...lab.views.of(pods).values()].find(
          (pod) => isActive(pod) && pod.metadata.labels?.['ceph-osd-id'] === String(osd),
        )
      return new Map(
        osds.map(({ osd, up, up_from: upFrom }) => [
          osd,
          { upFrom, isUp: up === 1, pod: podOf(osd)?.metadata.uid ?? '' },
        ]),
      )
    },
    /** Where CRUSH has an OSD, how many placement groups it serves, and when its Deployment was made. */
    async placeOf(osd: number): Promise<{ host?: string; rack?: string; groups: number; createdMs: number }> {
      const found = JSON.parse(await obey(lab.ceph.commands, { prefix: 'osd find', id: osd })) as {
        crush_location: { host?: string; rack?: string }
      }
      const listed = await obey(lab.ceph.commands, { prefix: 'pg ls-by-osd', osd })
      const { pg_stats: groups } = JSON.parse(listed) as { pg_stats: readonly unknown[] }
      const made = osdDeployments().find((deployment) => osdOf(deployment) === osd)
      const createdMs = Date.parse(made?.metadata.creationTimestamp ?? '')
      return { ...found.crush_location, groups: groups.length, createdMs }
    },
    /** When the last OSDs began that were updated. */
    lastStartMs: () => Math.max(...osdDeployments().map((deployment) => Date.parse(markOf(deployment) ?? '') || 0)),
    /** Collects which OSDs were begun together from now on. */
    watchWaves(): { readonly waves: () => number[][]; readonly stop: () => void } {
      const before = new Map(osdDeployments().map((one) => [osdOf(one), markOf(one)]))
      const waves = new Map<string, number[]>()
      const stop = lab.views.of(deployments).subscribe(({ after }) => {
        const mark = after && markOf(after)
        if (after === undefined || mark === undefined || before.get(osdOf(after)) === mark) return
        before.set(osdOf(after), mark)
        waves.set(mark, [...(waves.get(mark) ?? []), osdOf(after)])
      })
      return {
        stop,
        waves: () => [...waves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, osds]) => osds.sort((a, b) => a - b)),
      }
    },
    /** Sets of OSDs that Ceph was asked about, as its managers have noted it. */
    questions(): number[][] {
      return ['a', 'b'].flatMap((mgr) => {
        const lines = readFileSync(join(lab.folder.logs, `mgr.${mgr}.log`), 'utf8').split('\n')
        return lines.flatMap((line) => {
          const [, ids] = /osd ok-to-stop", "ids": (\[[^\]]*\])/.exec(line) ?? []
          return ids === undefined ? [] : [(JSON.parse(ids) as string[]).map(Number)]
        })
      })
    },
    /** How often each reason was told in an event about the cluster. */
    async events(): Promise<Map<string, string>> {
      const { stdout } = await lab.kubectl('get', 'events', '-n', namespace, '-o', 'json')
      const { items } = JSON.parse(stdout) as {
        items: readonly { reason: string; message: string; involvedObject: { kind: string } }[]
      }
      const about = items.filter(({ involvedObject }) => involvedObject.kind === 'CephCluster')
      return new Map(about.map(({ reason, message }) => [reason, message]))
    },
  }
}

function osdOf({ metadata }: Deployment): number {
  return Number(metadata.labels?.['ceph-osd-id'] ?? Number.NaN)
}

function markOf({ metadata }: Deployment): string | undefined {
  return metadata.annotations?.[updateStartedAnnotation]
}
