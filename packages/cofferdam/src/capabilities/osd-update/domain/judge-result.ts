import { failureDomainTypes } from '../../../safety/domain-type.ts'
import type { GrowthPlace } from './growth-places.ts'
import type { NewOsd } from './new-osd.ts'
import type { PrepareJob } from './prepare-job.ts'
import type { PrepareStatus } from './prepare-status.ts'

/** Who wrote the result: only that of our own Job, after it succeeded, is read. */
export function judgeOrigin(
  status: PrepareStatus,
  job: PrepareJob | undefined,
): 'ours' | 'awaited' | { readonly why: string } {
  if (job === undefined) return { why: 'no prepare Job of this operator gave it' }
  if (!job.isOurs) return { why: `Job ${job.name} is not owned by the CephCluster` }
  if (job.nonce === undefined || job.nonce !== status.nonce) return { why: `it is not the result of Job ${job.name}` }
  if (job.state === 'failed') return { why: `Job ${job.name} failed` }
  return job.state === 'succeeded' ? 'ours' : 'awaited'
}

/**
 * What is wrong with new OSDs that a place reports; undefined: nothing.
 *
 * A ConfigMap is easily edited, and what comes of it is a privileged pod: so Ceph has to know each OSD by the same UUID, and nothing
 * in it may be more than a name.
 */
export function whyRefused(
  fresh: readonly NewOsd[],
  { place, known }: { readonly place: GrowthPlace; readonly known: ReadonlyMap<number, string> },
): string | undefined {
  const most = place.claim !== undefined ? 1 : (place.mostOsds ?? mostOnOnePlace)
  if (fresh.length > most) return `it reports ${fresh.length} new OSDs, and at most ${most} can come of what was asked`
  for (const osd of fresh) {
    const why = whyOdd(osd, place) ?? whyUnknown(osd, known)
    if (why !== undefined) return `osd.${osd.id} ${why}`
  }
  return undefined
}

/** More disks than any machine holds. */
const mostOnOnePlace = 100

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
type TextField = 'deviceClass' | 'store' | 'blockPath' | 'mode' | 'topology'
const shapes: readonly (readonly [TextField, RegExp])[] = [
  ['deviceClass', /^[A-Za-z0-9][\w.-]{0,62}$/],
  ['store', /^[a-z][a-z0-9-]{0,30}$/],
  ['blockPath', /^\/(dev|mnt)\/(?!.*\.\.)[\w.+:/-]{1,255}$/],
  ['mode', /^(raw|lvm)$/],
  ['topology', /^[\w./-]{1,253}=[\w.-]{1,63}$/],
]
const bucketName = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/
const bucketTypes: readonly string[] = ['root', ...failureDomainTypes]

function whyOdd(osd: NewOsd, place: GrowthPlace): string | undefined {
  const { uuid, location } = osd
  if ((osd.pvc === undefined) !== (place.claim === undefined))
    return place.claim === undefined ? 'is said to be on a volume claim' : 'is said to be on no volume claim'
  if (uuid === undefined || !uuidPattern.test(uuid)) return `has ${JSON.stringify(uuid ?? '')} for a UUID`
  for (const [field, shape] of shapes) {
    const value = osd[field]
    if (value !== undefined && !shape.test(value)) return `has ${JSON.stringify(value)} for its ${field}`
  }
  for (const [type, name] of Object.entries(location)) {
    if (!bucketTypes.includes(type) || !bucketName.test(name)) return `is said to be in ${type}=${name}`
  }
  const host = location['host']
  if (place.claim === undefined && host !== undefined && crushName(host) !== crushName(place.name))
    return `is said to be on host ${host}, and the result is that of ${place.name}`
  return undefined
}

function whyUnknown({ id, uuid }: NewOsd, known: ReadonlyMap<number, string>): string | undefined {
  const own = known.get(id)
  if (own === undefined) return 'is not known to Ceph'
  return own === uuid ? undefined : `has UUID ${own} in Ceph, and ${uuid} in the result`
}

function crushName(name: string): string {
  return name.replaceAll('.', '-')
}
