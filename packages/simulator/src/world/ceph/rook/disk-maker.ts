import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephControls, SimulatedCeph } from '../simulated-ceph.ts'

export interface OsdDevice {
  /** `sdb` */
  readonly name: string
  /** The OSD that is on it already. */
  readonly osd?: number
  /** Default `ssd`. */
  readonly deviceClass?: string
  /** In TiB. Default 1. */
  readonly size?: number
}

/** As Rook writes what it knows of one OSD. */
export type PreparedOsd = JsonObject

export interface DiskMaker {
  addDevice(place: string, device: OsdDevice): void
  /** Makes OSDs of the disks of a place that are none yet, and returns all that are there. A volume has no node. */
  prepare(place: string, on: { readonly node: Node | undefined }): Promise<readonly PreparedOsd[]>
}

/** Labels of nodes that Rook makes CRUSH buckets of, from the widest to the nearest. */
const bucketLabels: readonly (readonly [string, string])[] = [
  ['topology.kubernetes.io/region', 'region'],
  ['topology.kubernetes.io/zone', 'zone'],
  ...['datacenter', 'room', 'pod', 'pdu', 'row', 'rack', 'chassis'].map((type): [string, string] => [
    `topology.rook.io/${type}`,
    type,
  ]),
]

/** `sdc,sdd` on a node puts such disks in, for whoever has only kubectl at hand. */
const disksWish = 'cofferdam.io/disks'

/** ENOENT */
const notThere = 2

/** The disks of all places, and which OSD is on which: as on real ones, that stays however often they are inspected. */
export function createDiskMaker(
  ceph: Pick<SimulatedCeph, 'commands'> & { readonly controls: Pick<CephControls, 'addOsd'> },
  devices: Readonly<Record<string, readonly OsdDevice[]>>,
): DiskMaker {
  const byPlace = new Map(Object.entries(devices).map(([place, list]) => [place, [...list]]))
  return {
    addDevice(place, device) {
      const held = byPlace.get(place) ?? []
      if (held.some(({ name }) => name === device.name)) {
        throw new RangeError(`${place} has a device ${device.name} already`)
      }
      byPlace.set(place, [...held, device])
    },
    async prepare(place, { node }) {
      // Ceph has to be there to give ids out.
      await ceph.commands.run({ prefix: 'status' })
      const around = node === undefined ? {} : bucketsOf(node)
      const host = crushName(node?.metadata.labels?.['kubernetes.io/hostname'] ?? place)
      const location = ['root=default', ...Object.entries({ ...around, host }).map(([type, name]) => `${type}=${name}`)]
      for (const name of wishedDisks(node)) {
        const held = byPlace.get(place) ?? []
        if (!held.some((device) => device.name === name)) byPlace.set(place, [...held, { name }])
      }
      const prepared: PreparedOsd[] = []
      for (const [at, device] of (byPlace.get(place) ?? []).entries()) {
        const { name, deviceClass = 'ssd', size = 1 } = device
        const id = device.osd ?? ceph.controls.addOsd({ node: host, deviceClass, weight: size, location: around })
        byPlace.get(place)?.splice(at, 1, { ...device, osd: id })
        const found = await ceph.commands.run({ prefix: 'osd find', id })
        // The OSD was removed for good: its disk is neither one nor empty until somebody wipes it.
        if (found.code === notThere) continue
        if (found.code !== 0) throw new Error(found.err)
        prepared.push({
          id,
          cluster: 'ceph',
          uuid: (JSON.parse(found.out) as { osd_fsid: string }).osd_fsid,
          'device-part-uuid': '',
          'device-class': deviceClass,
          'lv-path': `/dev/${name}`,
          'lv-mode': 'raw',
          location: location.join(' '),
          store: 'bluestore',
          encrypted: false,
        })
      }
      return prepared
    },
  }
}

function wishedDisks(node: Node | undefined): string[] {
  const names = (node?.metadata.annotations?.[disksWish] ?? '').split(',').map((name) => name.trim())
  const odd = names.find((name) => !/^[a-z0-9]*$/.test(name))
  if (odd !== undefined) throw new Error(`${disksWish} names "${odd}", which is no disk; sdc,sdd would be two`)
  return names.filter((name) => name !== '')
}

function bucketsOf({ metadata }: Node): Record<string, string> {
  const { labels = {} } = metadata
  return Object.fromEntries(
    bucketLabels.flatMap(([label, type]) => {
      const name = labels[label]
      return name === undefined ? [] : [[type, crushName(name)]]
    }),
  )
}

/** Dots have a meaning of their own in the names of CRUSH. */
function crushName(name: string): string {
  return name.replaceAll('.', '-')
}
