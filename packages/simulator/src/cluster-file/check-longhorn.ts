import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import { defaultSettings } from '../world/longhorn/longhorn-description.ts'
import type { Problem } from './expand-nodes.ts'
import { defaultStorageClass, type WrittenLonghorn, type WrittenVolume } from './longhorn-schema.ts'
import { notANode } from './not-a-node.ts'
import { roundedSize } from './size-text.ts'

export function checkMode({ manage, wantedPolicy, rebootPolicy }: WrittenLonghorn, problems: Problem[]): void {
  if (manage !== 'observe') return
  const says = 'is for manage: guide and manage: hold; with observe nothing puts it in force: set drainPolicy'
  if (wantedPolicy !== undefined) problems.push({ path: 'longhorn.wantedPolicy', says })
  if (rebootPolicy !== undefined) problems.push({ path: 'longhorn.rebootPolicy', says })
}

export function checkSettings({ settings }: WrittenLonghorn, problems: Problem[]): void {
  const known = Object.keys(defaultSettings)
  for (const name of Object.keys(settings)) {
    const path = `longhorn.settings.${name}`
    if (name === 'node-drain-policy') problems.push({ path, says: 'is written as longhorn.drainPolicy' })
    else if (!known.includes(name)) {
      const near = closestName(name, known)
      const advice = near === undefined ? `; known: ${known.join(', ')}` : `; did you mean "${near}"?`
      problems.push({ path, says: `the simulated Longhorn has no such setting${advice}` })
    }
  }
}

export function checkClasses({ storageClasses, volumes }: WrittenLonghorn, problems: Problem[]): void {
  const known = [...new Set([defaultStorageClass, ...storageClasses.map(({ name }) => name)])]
  for (const [index, { name }] of storageClasses.entries()) {
    const first = storageClasses.findIndex((other) => other.name === name)
    if (first === index) continue
    const says = `"${name}" is already the name of longhorn.storageClasses[${first}]`
    problems.push({ path: `longhorn.storageClasses[${index}].name`, says })
  }
  for (const [index, { storageClass }] of volumes.entries()) {
    if (storageClass === undefined || known.includes(storageClass)) continue
    const near = closestName(storageClass, known)
    const advice = near === undefined ? 'add it to longhorn.storageClasses' : `did you mean "${near}"?`
    const path = `longhorn.volumes[${index}].storageClass`
    problems.push({ path, says: `there is no class "${storageClass}"; ${advice}` })
  }
}

export function checkVolumes(longhorn: WrittenLonghorn, hosts: readonly string[], problems: Problem[]): void {
  const { volumes } = longhorn
  for (const [index, volume] of volumes.entries()) {
    const path = `longhorn.volumes[${index}]`
    const first = volumes.findIndex((other) => other.name === volume.name)
    if (first !== index) {
      const says = `"${volume.name}" is already the name of longhorn.volumes[${first}]`
      problems.push({ path: `${path}.name`, says })
    }
    if (volume.dataLocality === 'strict-local' && volume.replicas !== 1) {
      const says = `a strict-local volume has one replica, not ${volume.replicas}; write replicas: 1`
      problems.push({ path: `${path}.dataLocality`, says })
    }
    checkCopies(longhorn, volume, { path, hosts, problems })
    checkPlaces(volume, { path, hosts, problems })
  }
}

interface VolumePlace {
  readonly path: string
  readonly hosts: readonly string[]
  readonly problems: Problem[]
}

function checkCopies(
  { settings }: WrittenLonghorn,
  { replicas }: WrittenVolume,
  { path, hosts, problems }: VolumePlace,
): void {
  if (replicas <= hosts.length || hosts.length === 0 || String(settings[softAffinity]) === 'true') return
  const there = hosts.length === 1 ? 'there is one' : `there are ${hosts.length}`
  const says = `${replicas} replicas need a node with Longhorn each, and ${there}; use fewer, or write ${softAffinity}: true under longhorn.settings`
  problems.push({ path: `${path}.replicas`, says })
}

function checkPlaces(volume: WrittenVolume, { path, hosts, problems }: VolumePlace): void {
  const { attachedBy, attachedTo, placedOn, replicas } = volume
  if (attachedBy !== undefined && attachedTo !== undefined) {
    problems.push({ path, says: 'has both attachedBy and attachedTo; keep one of them' })
  }
  if (attachedTo !== undefined && !hosts.includes(attachedTo)) {
    problems.push({ path: `${path}.attachedTo`, says: notANode(attachedTo, hosts, 'a node with Longhorn') })
  }
  if (placedOn.length > replicas) {
    const says = `names ${placedOn.length} nodes for ${replicas === 1 ? 'one replica' : `${replicas} replicas`}`
    problems.push({ path: `${path}.placedOn`, says })
  }
  for (const [at, node] of placedOn.entries()) {
    if (hosts.includes(node)) continue
    problems.push({ path: `${path}.placedOn[${at}]`, says: notANode(node, hosts, 'a node with Longhorn') })
  }
}

const softAffinity = 'replica-soft-anti-affinity'

/** What Longhorn's scheduler asks of a disk: room for the whole size, and enough left free beside what is written. */
export function checkRoom(longhorn: WrittenLonghorn, hostCount: number, problems: Problem[]): void {
  const { disks, volumes } = longhorn
  if (hostCount === 0) return
  const overProvisioning = percent(longhorn, 'storage-over-provisioning-percentage')
  const spare = percent(longhorn, 'storage-minimal-available-percentage')
  const room = { promised: disks.size * overProvisioning, written: disks.size * (1 - spare) }
  const isTooBig = ({ size, filled }: WrittenVolume) => size > room.promised || size * filled >= room.written
  for (const [index, volume] of volumes.entries()) {
    if (!isTooBig(volume)) continue
    const path = `longhorn.volumes[${index}].size`
    problems.push({ path, says: `${roundedSize(volume.size)} do not fit on a disk ${limits(room)}; ${advice}` })
  }
  const diskCount = hostCount * disks.perNode
  const sum = (of: (volume: WrittenVolume) => number) =>
    volumes.reduce((total, volume) => total + of(volume) * volume.replicas, 0)
  const promised = sum(({ size }) => size)
  const written = sum(({ size, filled }) => size * filled)
  if (volumes.some(isTooBig) || (promised <= room.promised * diskCount && written < room.written * diskCount)) return
  const all = `all replicas together have ${roundedSize(promised)}, of which ${roundedSize(written)} are written`
  const says = `${all}; that does not fit on ${diskCount} disks, each ${limits(room)}; ${advice}`
  problems.push({ path: 'longhorn.volumes', says })
}

const advice = 'make longhorn.disks.size greater, or volumes smaller'

function limits({ promised, written }: { readonly promised: number; readonly written: number }): string {
  return `with room for volumes of ${roundedSize(promised)} and ${roundedSize(written)} of data`
}

/** As a share; what is not a number counts as Longhorn's default, as the simulation takes it. */
function percent({ settings }: WrittenLonghorn, name: string): number {
  const value = Number(settings[name] ?? defaultSettings[name])
  return (Number.isFinite(value) ? value : Number(defaultSettings[name])) / 100
}
